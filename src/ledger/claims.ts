import type { Claims, FileStore } from '../pipeline/file/ports.ts';

/**
 * Claims in memory: one process holds the SQLite ledger exclusively, so its memory knows every worker there is, and a crash frees
 * them all.
 *
 * @param load reads a row
 */
export function createClaims(load: FileStore['load']): Claims {
  const claimed = new Set<string>();
  return {
    claim: async (id) => {
      if (claimed.has(id)) return null;
      claimed.add(id);
      let isHeld = true;
      const release = async (): Promise<void> => {
        if (isHeld) claimed.delete(id);
        isHeld = false;
      };
      try {
        const facts = await load(id);
        if (facts !== null) return { facts, renew: async () => isHeld, release };
      } catch (error) {
        await release();
        throw error;
      }
      await release();
      return null;
    },
  };
}

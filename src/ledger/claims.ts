import type { Facts } from '../pipeline/file/facts.ts';
import type { Claims } from '../pipeline/file/ports.ts';

/** Claims of one process, kept in memory. */
export interface LocalClaims extends Claims {
  /** Frees every file. From then on no claim can be renewed. */
  clear(): void;
}

/**
 * Creates claims for a ledger that one process opens exclusively. Memory is enough, because a crash frees all claims
 * together with the ledger's lock. Claims do not expire: `renew` returns false only after `release` or `clear`, and
 * only `clear` loses claims.
 *
 * @param load reads the row; if it throws, `claim` throws the same error and the file stays free
 */
export function createClaims(load: (id: string) => Promise<Facts | null>): LocalClaims {
  const holders = new Map<string, symbol>();
  /** One signal for all claims, because they are lost together. */
  const end = new AbortController();
  return {
    claim: async (id) => {
      if (holders.has(id)) return null;
      // Recorded before the row is read, so that one of two simultaneous calls is refused.
      const holder = Symbol(id);
      holders.set(id, holder);
      const release = (): void => {
        if (holders.get(id) === holder) holders.delete(id);
      };
      try {
        const facts = await load(id);
        if (facts === null) {
          release();
          return null;
        }
        return {
          facts,
          lost: end.signal,
          renew: async () => holders.get(id) === holder,
          sends: () => undefined,
          release: async () => release(),
        };
      } catch (error) {
        release();
        throw error;
      }
    },
    clear: () => {
      holders.clear();
      end.abort();
    },
  };
}

import type { Facts } from '../pipeline/file/facts.ts';
import type { Claims } from '../pipeline/file/ports.ts';

/** The claims of one process, in memory. */
export interface LocalClaims extends Claims {
  /** Frees every file. From then on no claim can be renewed. */
  clear(): void;
}

/**
 * Claims for a ledger that one process opens exclusively: memory is enough, and a crash frees every claim together with
 * the lock of the ledger. Nothing expires: `renew` answers false only after `release` or `clear`, and only `clear`
 * loses claims.
 *
 * @param load reads the row; if it throws, `claim` throws the same and the file stays free
 */
export function createClaims(load: (id: string) => Promise<Facts | null>): LocalClaims {
  const holders = new Map<string, symbol>();
  /** One signal for all claims, which end together. */
  const end = new AbortController();
  return {
    claim: async (id) => {
      if (holders.has(id)) return null;
      // Before the row is read, so that of two simultaneous calls one is refused.
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

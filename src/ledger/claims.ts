import type { Facts } from '../pipeline/file/facts.ts';
import type { Claim, Claims } from '../pipeline/file/ports.ts';

/** The claims of one process, in memory. */
export interface LocalClaims extends Claims {
  /** Frees every file. From then on no claim can be renewed. */
  clear(): void;
}

/**
 * Claims for a ledger that one process opens exclusively: no other process can want a file, so memory is enough, and a crash
 * frees every claim together with the lock of the ledger. Nothing expires: `renew` answers false only after `release` or `clear`, and only `clear` loses claims.
 *
 * @param load reads the row that a claim is granted for; what it throws, `claim` throws, and the file stays free
 */
export function createClaims(load: (id: string) => Promise<Facts | null>): LocalClaims {
  const holders = new Map<string, symbol>();
  /** Of all claims: they end together. */
  const end = new AbortController();
  return {
    claim: async (id) => {
      if (holders.has(id)) return null;
      // Before the row is read: of two that ask at the same time, one is refused.
      const holder = Symbol(id);
      holders.set(id, holder);
      const release = (): void => {
        if (holders.get(id) === holder) holders.delete(id);
      };
      try {
        const facts = await load(id);
        if (facts === null) release();
        return facts === null
          ? null
          : claimOf(facts, { isHeld: () => holders.get(id) === holder, lost: end.signal, release });
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

interface Holding {
  readonly lost: AbortSignal;
  isHeld(): boolean;
  release(): void;
}

function claimOf(facts: Facts, { lost, isHeld, release }: Holding): Claim {
  return {
    facts,
    lost,
    renew: () => Promise.resolve(isHeld()),
    sends: () => undefined,
    release: async () => release(),
  };
}

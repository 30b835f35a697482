import type { Inventory } from './inventory.ts';
import { sidecarState } from './inventory.ts';

/** Where the paths of a folder are: each is in exactly one place, at every moment. */
export interface Accounts {
  /** What is known to be there. A directory that is left alone counts as one path. */
  readonly seen: number;
  readonly settling: number;
  /** Touched: being compared with what was sent. */
  readonly comparing: number;
  /** State of the row that stands for a file → number of files. */
  readonly known: Readonly<Record<string, number>>;
  /** And what else lies beside a file and belongs to it. */
  readonly sidecars: number;
  readonly ignored: number;
  readonly refused: number;
  /** `seen` without all others. Not zero: a file was taken in, and nothing stands for it. */
  readonly unaccounted: number;
}

/**
 * Counts each path once: refused before settling, settling before compared, compared before known.
 *
 * @param outside paths counted elsewhere: refused, ignored (a number), and being compared
 */
export function accountsOf(
  { taken, waiting }: Inventory,
  outside: {
    readonly refused: ReadonlyMap<string, unknown>;
    readonly ignored: number;
    readonly comparing: Iterable<string>;
  },
): Accounts {
  const { refused, ignored } = outside;
  const states = taken.countStates();
  const leave = (path: string): void => {
    const state = taken.state(path);
    if (taken.has(path)) states.set(state, (states.get(state) ?? 0) - 1);
  };
  const settling = [...waiting.keys()].filter((path) => !refused.has(path));
  const comparing = [...outside.comparing].filter(
    (path) => taken.has(path) && !waiting.has(path) && !refused.has(path),
  );
  const seen = taken.size + [...settling, ...refused.keys()].filter((path) => !taken.has(path)).length + ignored;
  for (const path of [...refused.keys(), ...settling, ...comparing]) leave(path);
  const sidecars = states.get(sidecarState) ?? 0;
  const known = [...states].filter(([state, count]) => state !== null && state !== sidecarState && count > 0);
  const counted = {
    settling: settling.length,
    comparing: comparing.length,
    sidecars,
    ignored,
    refused: refused.size,
  };
  const sum = [...Object.values(counted), ...known.map(([, count]) => count)].reduce((one, other) => one + other, 0);
  return { seen, ...counted, known: Object.fromEntries(known), unaccounted: seen - sum };
}

/** Those of several folders together. */
export function sumOfAccounts(all: readonly Accounts[]): Accounts {
  const sum = (of: (accounts: Accounts) => number): number => all.reduce((total, each) => total + of(each), 0);
  const states = new Set(all.flatMap(({ known }) => Object.keys(known)));
  return {
    seen: sum(({ seen }) => seen),
    settling: sum(({ settling }) => settling),
    comparing: sum(({ comparing }) => comparing),
    known: Object.fromEntries([...states].map((state) => [state, sum(({ known }) => known[state] ?? 0)])),
    sidecars: sum(({ sidecars }) => sidecars),
    ignored: sum(({ ignored }) => ignored),
    refused: sum(({ refused }) => refused),
    unaccounted: sum(({ unaccounted }) => unaccounted),
  };
}

import type { Inventory } from './inventory.ts';
import { sidecarState } from './inventory.ts';
import type { Accounts } from './ports.ts';

/**
 * Puts each path into exactly one account. Refused takes precedence over settling, settling over comparing, and
 * comparing over known.
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
    states.set(state, (states.get(state) ?? 0) - 1);
  };
  let settling = 0;
  /** Paths seen but not accepted by the sink. */
  let untaken = 0;
  // Iterates without a copy: up to 100,000 files may be settling, and this runs several times a second.
  for (const path of waiting.keys()) {
    if (refused.has(path)) continue;
    settling += 1;
    if (taken.has(path)) leave(path);
    else untaken += 1;
  }
  for (const path of refused.keys()) {
    if (taken.has(path)) leave(path);
    else untaken += 1;
  }
  const comparing = [...outside.comparing].filter(
    (path) => taken.has(path) && !waiting.has(path) && !refused.has(path),
  );
  for (const path of comparing) leave(path);
  const seen = taken.size + untaken + ignored;
  const sidecars = states.get(sidecarState) ?? 0;
  const known = [...states].filter(([state, count]) => state !== null && state !== sidecarState && count > 0);
  const counted = {
    settling,
    comparing: comparing.length,
    sidecars,
    ignored,
    refused: refused.size,
  };
  const sum = [...Object.values(counted), ...known.map(([, count]) => count)].reduce((one, other) => one + other, 0);
  return { seen, ...counted, known: Object.fromEntries(known), unaccounted: seen - sum };
}

/** Adds up the accounts of several folders. */
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

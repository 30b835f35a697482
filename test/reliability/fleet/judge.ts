/** What the database saw, in its order. */
export interface Observed {
  /** Milliseconds by the clock of the database. */
  readonly at: number;
  /**
   * `granted`: a lease of the file; `freed`: it was given back; `expired`: it ran out; `written`: the row of the file; `restored`: the row,
   * from receipts; `wanted`: a feed is to be published, and stands in place of the file.
   */
  readonly what: 'granted' | 'freed' | 'expired' | 'written' | 'restored' | 'wanted';
  readonly file: string;
  readonly by: string;
}

/** A member that could not go on with what it held. */
export interface Loss {
  readonly at: number;
  readonly member: string;
  /** Nothing else went wrong until this moment, and another member was there. */
  readonly calmUntil: number;
}

/** What was wrong from when to when. */
export interface Trouble {
  readonly from: number;
  readonly to: number;
  /** Null: it was about all members. */
  readonly member: string | null;
}

/** A body that was complete on the service. */
export interface Completion {
  readonly at: number;
  readonly by: string;
  /** Null: no row has its video any more. */
  readonly file: string | null;
}

/** A request that counts against the budget, as the service saw it. */
export interface Counted {
  readonly at: number;
}

/** A feed that was published, as the service saw it. */
export interface PublishedAt {
  readonly at: number;
  readonly feed: string;
}

export interface FleetEvidence {
  readonly observed: readonly Observed[];
  readonly losses: readonly Loss[];
  readonly troubles: readonly Trouble[];
  readonly completions: readonly Completion[];
  readonly requests: readonly Counted[];
  readonly requestsPerHour: number;
  /** All there were until nothing was left to do; null: it was not played to the end, or nobody looked. */
  readonly publishes: readonly PublishedAt[] | null;
}

export interface FleetViolation {
  readonly invariant: FleetInvariant;
  readonly found: string;
}

/** A lease that nobody beats is over after this time: heartbeat, the look of the monitor, and the next look of a member. */
export const takeoverMs = 15_000;

/** A lease that ran out was not beaten for so long: the heartbeat, and the look of the monitor. */
const leaseMs = 12_500;

/** Whoever did not reach PostgreSQL looks for silent members only after the length of a lease. What was given up meanwhile is taken away then. */
const looksAgainMs = 2_000;

const hourMs = 3_600_000;

/** What must hold of a fleet besides what holds of one host. Pure. */
export const fleetInvariants = {
  'no host writes a file that another holds': ({ observed }) => {
    const holders = new Map<string, string>();
    const found: string[] = [];
    for (const { what, file, by, at } of observed) {
      const holder = holders.get(file);
      if (what === 'granted') holders.set(file, by);
      else if (isEnd(what)) holders.delete(file);
      else if (what === 'written' && holder !== undefined && holder !== by)
        found.push(`${file}: written by ${by} at ${at}, held by ${holder}`);
    }
    return found;
  },

  'no two members hold a file': ({ observed }) => {
    const holders = new Map<string, string>();
    const found: string[] = [];
    for (const { what, file, by, at } of observed) {
      const holder = holders.get(file);
      if (isEnd(what)) holders.delete(file);
      if (what !== 'granted') continue;
      if (holder !== undefined) found.push(`${file}: granted to ${by} at ${at}, held by ${holder}`);
      holders.set(file, by);
    }
    return found;
  },

  'no host completes a file that another holds': ({ observed, completions }) =>
    completions.flatMap(({ at, by, file }) => {
      const holder = file === null ? undefined : heldAt(observed, at).get(file);
      return holder === undefined || holder === by ? [] : [`${file}: completed by ${by} at ${at}, held by ${holder}`];
    }),

  'what a dead member held is free within the lease': ({ observed, losses }) =>
    losses.flatMap(({ at, member, calmUntil }) => {
      const until = at + takeoverMs;
      if (calmUntil < until) return [];
      return [...heldAt(observed, at)]
        .filter(([, holder]) => holder === member)
        .filter(
          ([file]) => !observed.some((one) => one.file === file && isHandedOn(one.what) && isIn(one.at, at, until)),
        )
        .map(([file]) => `${file}: still of ${member} ${takeoverMs} ms after it was lost at ${at}`);
    }),

  'what a living member holds stays its own': ({ observed, troubles }) => {
    const holders = new Map<string, string>();
    const found: string[] = [];
    for (const { what, file, by, at } of observed) {
      const holder = holders.get(file);
      if (what === 'granted') holders.set(file, by);
      if (isEnd(what)) holders.delete(file);
      if (what !== 'expired' || holder === undefined) continue;
      const isExcused = troubles.some(({ member, from, to }) => {
        if (from > at || (member !== null && member !== holder)) return false;
        const looksLate = member === null || !isWatched(holder, { from: to, to: at }, { observed, troubles });
        return to > at - leaseMs - (looksLate ? looksAgainMs : 0);
      });
      if (!isExcused) found.push(`${file}: taken from ${holder} at ${at}, with which nothing was wrong`);
    }
    return found;
  },

  'no rolling hour has more requests than the budget': ({ requests, requestsPerHour }) => {
    const times = requests.map(({ at }) => at).toSorted((one, other) => one - other);
    const over = times.find((at, index) => at - (times[index - requestsPerHour] ?? -Infinity) < hourMs);
    return over === undefined ? [] : [`${requestsPerHour + 1} requests in the hour before ${over}`];
  },

  'a feed is published after the last time that this was wanted': ({ observed, publishes }) =>
    observed
      .filter(({ what }) => publishes !== null && what === 'wanted')
      .filter(({ at, file }) => publishes?.some((one) => one.feed === file && one.at >= at) === false)
      .map(({ at, file, by }) => `${file}: wanted by ${by} at ${at}, and not published since`),
} satisfies Record<string, (evidence: FleetEvidence) => readonly string[]>;

export type FleetInvariant = keyof typeof fleetInvariants;

/** Pure: every breach of what must hold of a fleet. */
export function fleetViolations(evidence: FleetEvidence): readonly FleetViolation[] {
  return (Object.keys(fleetInvariants) as FleetInvariant[]).flatMap((invariant) =>
    fleetInvariants[invariant](evidence).map((found) => ({ invariant, found })),
  );
}

function isEnd(what: Observed['what']): boolean {
  return what === 'freed' || what === 'expired';
}

function isHandedOn(what: Observed['what']): boolean {
  return what === 'granted' || isEnd(what);
}

/** Who held which file at a moment. */
function heldAt(observed: readonly Observed[], at: number): ReadonlyMap<string, string> {
  const holders = new Map<string, string>();
  for (const one of observed) {
    if (one.at > at) break;
    if (one.what === 'granted') holders.set(one.file, one.by);
    if (isEnd(one.what)) holders.delete(one.file);
  }
  return holders;
}

/** Whether another member could see all the time that this one was silent. */
function isWatched(
  holder: string,
  { from, to }: Pick<Trouble, 'from' | 'to'>,
  { observed, troubles }: Pick<FleetEvidence, 'observed' | 'troubles'>,
): boolean {
  const members = new Set(observed.filter(({ what }) => what === 'granted').map(({ by }) => by));
  const meanwhile = troubles.filter((one) => one.from <= to && one.to > from);
  return [...members].some(
    (other) => other !== holder && meanwhile.every(({ member }) => member !== null && member !== other),
  );
}

function isIn(moment: number, from: number, to: number): boolean {
  return moment > from && moment <= to;
}

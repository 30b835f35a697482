import type { Machine } from './machine/machine.ts';
import type { Random } from './machine/random.ts';

/** Part of the service that a request reaches. */
export type Part = 'create' | 'get' | 'list' | 'delete' | 'amend' | 'publish' | 'put';

/** What becomes of one request. */
export type Fate =
  | 'ok'
  /** No connection: nothing was sent. */
  | 'refused'
  | 'no name'
  /** It arrives, and the connection breaks before the answer. */
  | 'answer lost'
  /** The connection breaks before it arrives. */
  | 'request lost'
  /** The connection breaks, and it arrives much later. */
  | 'late'
  /** Nobody answers; it may have been done. */
  | 'silence'
  | '500'
  | '500 done'
  | '503'
  | '404'
  | '429'
  | '429 date'
  | 'html'
  /** A body is cut in the middle. */
  | 'cut';

interface Front {
  readonly from: number;
  readonly to: number;
  readonly parts: readonly Part[];
  readonly fates: readonly Fate[];
  /** Of the requests that reach these parts. */
  readonly share: number;
}

const everything: readonly Part[] = ['create', 'get', 'list', 'delete', 'amend', 'publish', 'put'];
const api: readonly Part[] = ['create', 'get', 'list', 'delete', 'amend', 'publish'];

/** Kinds of bad weather; a life has some of them. */
const fronts: readonly Pick<Front, 'parts' | 'fates' | 'share'>[] = [
  { parts: everything, fates: ['refused', 'no name'], share: 1 },
  { parts: api, fates: ['500', '503'], share: 1 },
  { parts: api, fates: ['500 done', '500'], share: 0.6 },
  { parts: everything, fates: ['answer lost', 'request lost', 'late', 'cut'], share: 0.4 },
  { parts: ['create'], fates: ['answer lost', 'late', 'silence', '500 done'], share: 0.7 },
  { parts: ['put'], fates: ['refused', 'cut', '503'], share: 1 },
  { parts: ['put'], fates: ['answer lost', 'late', 'silence'], share: 0.6 },
  { parts: ['list'], fates: ['500', '404'], share: 1 },
  { parts: api, fates: ['429', '429 date'], share: 0.7 },
  { parts: api, fates: ['html', '503'], share: 0.8 },
  { parts: everything, fates: ['silence'], share: 0.3 },
];

/** The faults of one life, from its seed. After the storm every request is answered. */
export class Weather {
  readonly #machine: Machine;
  readonly #fronts: Front[] = [];

  /** @param areBodiesCut all storm long, for a host that keeps what has arrived */
  constructor(machine: Machine, random: Random, stormMs: number, areBodiesCut = false) {
    this.#machine = machine;
    if (areBodiesCut) this.#fronts.push({ from: 0, to: stormMs, parts: ['put'], fates: ['cut'], share: 0.3 });
    for (const front of fronts) {
      if (!random.chance(0.3)) continue;
      const from = random.between(0, stormMs * 0.8);
      this.#fronts.push({ ...front, from, to: Math.min(stormMs, from + random.between(2_000, stormMs / 2)) });
    }
  }

  fateOf(part: Part): Fate {
    const { time, random } = this.#machine;
    const now = time.elapsed;
    for (const { from, to, parts, fates, share } of this.#fronts) {
      if (now < from || now >= to || !parts.includes(part) || !random.chance(share)) continue;
      const fate = random.pick(fates);
      // Only a body can be cut in the middle, and only a request with an effect is worth doing late.
      if (fate === 'cut' && part !== 'put') return 'request lost';
      return fate;
    }
    return 'ok';
  }
}

import { LedgerUnavailableError } from '../../../src/pipeline/file/store-errors.ts';
import { StaleRowError } from '../../../src/pipeline/file/ports.ts';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { OpenedRows } from '../../ledger/opened-rows.ts';
import { created, failure, ready, someFacts, somePlan, someVersion, uploaded } from '../../pipeline/some-facts.ts';
import { Random } from '../simulation/machine/random.ts';

/** A store, and how its machine dies. */
export interface Store {
  readonly opened: OpenedRows;
  /** Nobody closes anything: connections are cut. */
  cut(): Promise<void>;
}

/** How many steps a walk has. */
const steps = 40;

const feeds = ['feed_news', 'feed_ü'] as const;
const folders = ['/in', '/in/ü'] as const;

/**
 * Takes the walk of a seed over the ports of a ledger: files come, go on, fail and end; feeds and pauses come and go; two write one row at
 * once; the host is stopped, or cut off, and opens the ledger again.
 *
 * @returns what each step was answered, and all that the ledger has at the end, without what its clock said
 */
export async function walk(seed: number, { opened, cut }: Store): Promise<unknown> {
  const random = new Random(seed, 'same ledger');
  const known: string[] = [];
  const answers: unknown[] = [];
  let { rows } = opened;
  const again = async (): Promise<void> => void (rows = await patiently(() => opened.reopened()));
  const changed = async (change: (facts: Facts) => Facts, note?: string): Promise<unknown> => {
    const facts = known.length === 0 ? null : await rows.load(random.pick(known));
    return facts === null ? null : rows.save(change(facts), note);
  };
  const deeds: readonly ((n: number) => Promise<unknown>)[] = [
    async (n) => {
      const facts = arrival(n, random);
      await rows.insert(facts);
      known.push(facts.id);
      return facts.id;
    },
    () => changed((facts) => ({ ...facts, ...random.pick(stages) })),
    () => changed((facts) => ({ ...facts, ...random.pick(stages) }), 'as somebody asked'),
    (n) => changed((facts) => ({ ...facts, end: random.pick(ends), endedAt: n, why: 'it ended' })),
    (n) => changed((facts) => ({ ...facts, attempts: n, notBefore: n, lastFailure: failure('transient') })),
    () => changed((facts) => ({ ...facts, rev: facts.rev + 1 })),
    () => race(random, known, rows),
    (n) => rows.noteFeedDue(random.pick(feeds), n, random.chance(0.5)),
    async (n) => {
      const due = await rows.feedsDue();
      if (due.length === 0) return null;
      const feed = random.pick(due);
      if (random.chance(0.5)) await rows.noteFeedDue(feed.feed, n, false);
      return rows.noteFeedAnswer(feed, null);
    },
    async (n) => {
      if (known.length > 0) await rows.insert(someFacts({ id: random.pick(known), path: `${n}.mp4` }));
    },
    async () => {
      // Opening takes longer than all else.
      if (random.chance(0.6)) return;
      if (random.chance(0.5)) await cut();
      await again();
    },
  ];
  for (let n = 1; n <= steps; n += 1) {
    const deed = random.pick(deeds);
    answers.push(await deed(n).catch(shownError));
  }
  await again();
  const files = await Promise.all(known.map((id) => rows.load(id)));
  const histories = await Promise.all(known.map(async (id) => (await rows.history(id)).map(withoutTime)));
  return {
    answers,
    files,
    states: files.map((facts) => facts && stateOf(facts)),
    histories,
    feeds: await rows.feedsDue(),
    counts: await rows.totals('by state'),
  };
}

const stages = [created, uploaded, ready, { intent: 'token' }] as const;
const ends = ['done', 'failed', 'held', 'skipped', 'vanished', 'superseded'] as const;

function arrival(n: number, random: Random): Facts {
  return someFacts({
    id: `f_${n}`,
    folder: random.pick(folders),
    path: `${n} ${random.pick(['ü', 'u\u0308', '%', "'", '映'])}.mp4`,
    version: { ...someVersion, ino: String(n) },
    plan: { ...somePlan, publish: [random.pick(feeds)] },
    discoveredAt: n,
  });
}

/** Two upon one revision: one of them, whichever. */
async function race(random: Random, known: readonly string[], rows: OpenedRows['rows']): Promise<unknown> {
  const facts = known.length === 0 ? null : await rows.load(random.pick(known));
  if (facts === null) return null;
  const writes = [rows.save({ ...facts, why: 'both' }), rows.save({ ...facts, why: 'both' })];
  return (await Promise.allSettled(writes)).map(({ status }) => status).toSorted();
}

/** What callers tell errors by. Each database has its own for a row that is there. */
function shownError(error: unknown): string {
  if (error instanceof LedgerUnavailableError) throw error;
  return error instanceof StaleRowError ? 'stale' : 'refused';
}

async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError)) throw error;
    }
  }
}

function withoutTime(line: object): object {
  return { ...line, at: 0 };
}

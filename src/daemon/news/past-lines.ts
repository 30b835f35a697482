import type { NewsRows } from '../../ledger/news-rows.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { capitalised } from '../words/capitalised.ts';
import type { NewsLine } from './lines.ts';
import type { NewsLevel } from './words.ts';

export type PastRows = Pick<NewsRows, 'lastPassage' | 'passages' | 'filesById' | 'events'>;

/** How long lines of no file are kept. */
export const keptMs = 30 * 86_400_000;

/**
 * The newest lines of earlier runs: those of files from their history, all others from the lines that were kept for 30 days.
 *
 * @param of.host whose lines; the history of files is that of all hosts
 * @param of.now epoch milliseconds
 * @returns oldest first; their numbers end with 0, because a run counts from 1
 */
export async function pastLines(
  rows: PastRows,
  { host, limit, now }: { readonly host: string; readonly limit: number; readonly now: number },
): Promise<readonly NewsLine[]> {
  const kept = ((await rows.events(host, now - keptMs, limit)) as readonly (NewsLine | null)[]).filter(
    (line) => line !== null,
  );
  const passages = await rows.passages((await rows.lastPassage()) - limit, Object.keys(states), limit);
  const files = new Map(
    (await rows.filesById([...new Set(passages.map(({ id }) => id))])).map((each) => [each.id, each]),
  );
  const ofFiles = passages.flatMap(({ id, at, state, note }) => {
    const facts = files.get(id);
    return facts === undefined ? [] : [lineOf(facts, { at, state, note })];
  });
  const lines = [...kept, ...ofFiles].toSorted((one, other) => one.at - other.at).slice(-limit);
  return lines.map((line, index) => ({ ...line, seq: index + 1 - lines.length }));
}

function lineOf(
  { id, folder, path }: Facts,
  { at, state, note }: { readonly at: number; readonly state: string; readonly note: string | null },
): NewsLine {
  const [level, words] = states[state] ?? ['info', capitalised(state)];
  const text = note === null ? words : `${words}: ${note}`;
  return { v: 1, seq: 0, at, level, type: 'file', file: id, folder, path, state, text };
}

const states: Readonly<Record<string, readonly [NewsLevel, string]>> = {
  queued: ['info', 'Waiting for its turn'],
  'awaiting upload': ['info', 'Record created'],
  processing: ['info', 'Uploaded; the service processes it'],
  'awaiting publish': ['info', 'Ready; waiting to be published'],
  retrying: ['warn', 'Retrying'],
  done: ['info', 'Done'],
  failed: ['error', 'Failed'],
  held: ['warn', 'Held'],
  skipped: ['info', 'Skipped'],
  vanished: ['info', 'The file is no longer there'],
  superseded: ['info', 'The file changed; its new content is a file of its own'],
};

import type { Facts } from '../pipeline/file/facts.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Clock, FileStore } from '../pipeline/file/ports.ts';
import type { Logger } from '../log/logger.ts';

/** States that say nothing new, or that the failure before them has said already. */
const untold = new Set<string>(['queued', 'retrying', 'failed', 'held', 'skipped']);

/** A row that ended longer ago is only amended or put away. Milliseconds. */
const newsMs = 5_000;

/** Writes a line whenever a file has moved on, so that the log tells the way of each file to its end. */
export function narrate(store: Pick<FileStore, 'save'>, logger: Logger, clock: Clock): FileStore['save'] {
  /** Of files on their way alone: one that has ended needs no memory. */
  const told = new Map<string, string>();
  return async (facts, note) => {
    const saved = await store.save(facts, note);
    const state = stateOf(saved);
    const isNews = saved.endedAt === null || clock.now() - saved.endedAt < newsMs;
    if (isNews && told.get(saved.id) !== state && !untold.has(state)) logger.info('A file moved on', fieldsOf(saved));
    if (saved.end === null || saved.disposal === 'pending') told.set(saved.id, state);
    else told.delete(saved.id);
    return saved;
  };
}

function fieldsOf(facts: Facts): Readonly<Record<string, unknown>> {
  const { id, folder, path, videoId } = facts;
  return { file: id, state: stateOf(facts), path: `${folder}/${path}`, ...(videoId !== null && { video: videoId }) };
}

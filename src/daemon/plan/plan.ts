import { hashAccepted } from '../../disk/accepted-file.ts';
import { ChecksumReader } from '../../disk/checksums/read-checksums.ts';
import { isThere, mediaDuration } from '../../disk/local-files.ts';
import { requireWatched } from '../../disk/held-directory.ts';
import type { Watched } from '../../disk/held-directory.ts';
import { createRehearsal } from '../../intake/dry-run.ts';
import type { Digests } from '../../pipeline/file/checksums.ts';
import type { Answer } from '../../pipeline/file/ports.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { judgeContents } from './contents.ts';
import { planFolder } from './folder.ts';
import type { PlannedFolder } from './folder.ts';
import { summarize } from './summary.ts';
import type { PlanView } from './summary.ts';
import type { PlanWorld } from './worlds.ts';

/** Progress counts: files scanned, and files read because another has the same size or because they have a checksum. */
export interface PlanProgress {
  readonly looked: number;
  readonly read: number;
}

export interface PlanOptions {
  /** Absolute path to limit the plan to, including everything below it; null: everything. */
  readonly path: string | null;
  /** Whether to read files that have a checksum or share their size with another. */
  readonly isHashing: boolean;
  readonly signal: AbortSignal;
  progress(now: PlanProgress): void;
}

/**
 * Predicts what would happen to the files in the folders. Uses the daemon's scan, rules and intake, on rows that are
 * never written. Sends nothing and writes nothing.
 *
 * @throws when the signal fires, or the ledger throws
 */
export async function planOf(world: PlanWorld, options: PlanOptions): Promise<PlanView> {
  const { path, signal } = options;
  const now = { looked: 0, read: 0 };
  const isWatched = (folder: string): boolean => world.config.folders.some((each) => each.path === folder);
  const watched = (facts: Facts): Watched<Facts> => requireWatched(facts, isWatched);
  const tell = (change: Partial<PlanProgress>): void => options.progress(Object.assign(now, change));
  const hash = async (facts: Facts, algorithm?: keyof Digests): Promise<Answer<string>> => {
    if (!options.isHashing) return unread;
    tell({ read: now.read + 1 });
    const value = await Promise.try(() => hashAccepted(watched(facts), signal, algorithm)).catch(() => null);
    signal.throwIfAborted();
    return value === null ? unread : { ok: true, value };
  };
  const reader = new ChecksumReader();
  const checksums = async (facts: Facts): ReturnType<typeof reader.checksumsOf> => reader.checksumsOf(watched(facts));
  const rehearsal = createRehearsal(world.ledger, {
    clock: world.clock,
    local: { hash: (facts) => hash(facts), checksums },
    exists: isThere,
  });
  const folders: PlannedFolder[] = [];
  for (const folder of world.config.folders.filter((each) => isWithin(each.path, path) || isWithin(path, each.path))) {
    const before = now.looked;
    const looked = (files: number): void => tell({ looked: before + files });
    const isWanted = (file: string): boolean => isWithin(`${folder.path}/${file}`, path);
    folders.push(await planFolder(folder, { ...world, rehearsal, isWanted, looked, signal }));
  }
  const rows = rehearsal.rows();
  const read = { hash, checksums };
  const contents = await judgeContents(rows, world.ledger, options.isHashing ? read : null);
  const durationOf = async (facts: Facts): Promise<number | null> => {
    signal.throwIfAborted();
    const { folder, path: file } = watched(facts);
    return mediaDuration(folder, file);
  };
  return summarize({ ...world, durationOf }, { path, folders, contents, rows });
}

const unread: Answer<string> = {
  ok: false,
  failure: { kind: 'throttled', code: 'unread', message: 'its content was not read' },
};

/**
 * Whether `path` equals `directory` or lies below it. A null directory contains everything; a null path lies only in a
 * null directory.
 */
function isWithin(path: string | null, directory: string | null): boolean {
  if (directory === null) return true;
  return path === directory || path?.startsWith(`${directory}/`) === true;
}

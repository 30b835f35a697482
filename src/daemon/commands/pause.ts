import type { Daemon } from '../daemon.ts';
import { whyElsewhere } from '../../view/hosts/host-words.ts';
import { resumeCommand } from '../../view/waits.ts';

export interface PauseWanted {
  /** Absolute paths of watched folders; empty: everything. */
  readonly folders: readonly string[];
  /** Epoch milliseconds; null: until an operator resumes it. */
  readonly until: number | null;
  readonly by: string;
}

export type PauseResult = Awaited<ReturnType<typeof pause>>;

/**
 * Starts no new work in these folders, or anywhere if none are given. Steps in progress finish, and videos on the
 * service are still followed until they are done. In the result, `running` counts the uploads and create requests that
 * finish despite the pause.
 */
export async function pause(daemon: Daemon, { folders, until, by }: PauseWanted) {
  const known = foldersOf(daemon);
  const refused = folders.filter((folder) => !known.includes(folder)).map((name) => ({ name, why: notWatched(known) }));
  const wanted: readonly (string | null)[] =
    folders.length === 0 ? [null] : folders.filter((folder) => known.includes(folder));
  for (const folder of wanted) await daemon.pauses.set({ folder, until, by });
  return { v: 1, paused: daemon.pauses.list(), running: daemon.rows.held().length, refused };
}

/** Returns this host's folders, and other hosts' folders as rows name them. */
function foldersOf(daemon: Pick<Daemon, 'config' | 'fleet'>): readonly string[] {
  const { fleet } = daemon;
  const others = fleet?.known().filter(({ name }) => name !== fleet.self) ?? [];
  const places = others.flatMap(({ doing }) => doing.places);
  return [...new Set([...daemon.config().folders.map(({ path }) => path), ...places])];
}

export const notWatched = (known: readonly string[]): string =>
  `is not a watched folder; the watched folders are: ${known.join(', ')}`;

export interface ResumeWanted {
  /** Absolute path; null: every operator pause. */
  readonly folder: string | null;
  readonly by: string;
}

export type ResumeResult = { readonly ok: true; readonly what: string } | { readonly ok: false; readonly why: string };

/**
 * Ends an operator's pause, or accepts a frozen folder as it is. If a folder is both, only the pause ends: whether the
 * directory is the right one is a separate question.
 */
export async function resume(daemon: Daemon, { folder, by }: ResumeWanted): Promise<ResumeResult> {
  if (folder === null) return resumeAll(daemon, by);
  const ended = await daemon.pauses.end(folder, by);
  if (ended === null) {
    const all = daemon.pauses.all();
    const frozen = daemon.folders.status().find(({ path }) => path === folder)?.state === 'frozen';
    const elsewhere = whyElsewhere(daemon, folder);
    if (elsewhere !== null) return { ok: false, why: `it is not paused; ${elsewhere} if it is frozen` };
    if (all === null || frozen) return acceptAsIs(daemon, folder, by);
    return {
      ok: false,
      why: `everything is paused, not ${folder} alone: ${resumeCommand({ folder: null })} ends that`,
    };
  }
  const stillAll =
    daemon.pauses.all() === null ? '' : `; everything is still paused: ${resumeCommand({ folder: null })} ends that`;
  const status = daemon.folders.status().find(({ path }) => path === folder);
  const frozen =
    status?.state === 'frozen'
      ? `; it is still frozen: ${status.why ?? ''}. Repeat this to accept it as it is now`
      : '';
  return { ok: true, what: `${folder} is no longer paused${stillAll}${frozen}` };
}

/** Accepts a frozen folder, and records who stated what. */
async function acceptAsIs({ folders, news }: Daemon, folder: string, by: string): Promise<ResumeResult> {
  const resumed = await folders.resume(folder);
  if (resumed.ok) news.add({ level: 'info', type: 'folder', folder, text: `Resumed by ${by}: ${resumed.what}` });
  return resumed;
}

/**
 * Marks a folder's files as uploaded when its ledger is an older copy, and resumes the folder.
 *
 * @param folder absolute
 */
export async function adoptFolder(daemon: Daemon, folder: string): Promise<ResumeResult> {
  const watched = daemon.config().folders.map(({ path }) => path);
  const elsewhere = whyElsewhere(daemon, folder);
  if (elsewhere !== null) return { ok: false, why: elsewhere };
  return watched.includes(folder)
    ? daemon.folders.adopt(folder)
    : { ok: false, why: `${folder} ${notWatched(watched)}` };
}

async function resumeAll(daemon: Daemon, by: string): Promise<ResumeResult> {
  const paused = daemon.pauses.list();
  if (paused.length === 0) return { ok: true, what: 'Nothing was paused' };
  for (const { folder } of paused) await daemon.pauses.end(folder, by);
  const names = paused.map(({ folder }) => folder ?? 'everything').join(', ');
  return { ok: true, what: `No longer paused: ${names}` };
}

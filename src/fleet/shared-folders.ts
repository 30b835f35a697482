import { stat } from 'node:fs/promises';
import { readMark } from '../watch/root-mark.ts';
import type { SharedFolder } from './places.ts';

/** A folder that other hosts may watch, too: declared as a share, or proved to be one. */
export interface WatchedShare {
  readonly path: string;
  /** The folder's name in rows. */
  readonly place: string;
}

export interface SharedFolders extends AsyncDisposable {
  now(): readonly SharedFolder[];
  look(): Promise<void>;
}

/** Interval between checks of the shares' devices, in milliseconds. Shares may be mounted or unmounted at any time. */
const lookEveryMs = 5_000;

/**
 * Interval between checks while a share has no mark, in milliseconds. A share gets its mark before its first file is
 * accepted.
 */
const unmarkedEveryMs = 500;

export async function openSharedFolders(shared: () => readonly WatchedShare[]): Promise<SharedFolders> {
  let known: readonly SharedFolder[] = [];
  const look = async (): Promise<void> => {
    known = await sharedFoldersNow(shared());
  };
  await look();
  let looking: Promise<void> = Promise.resolve();
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    const isUnmarked = known.some(({ device }) => device === null);
    if (isUnmarked || turns % (lookEveryMs / unmarkedEveryMs) === 0) looking = looking.then(look);
  }, unmarkedEveryMs).unref();
  return {
    now: () => known,
    look,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await looking;
    },
  };
}

/**
 * Adds the current device of each share. Only the mark proves a share, because an empty mount point is a directory,
 * too.
 */
export function sharedFoldersNow(shared: readonly WatchedShare[]): Promise<readonly SharedFolder[]> {
  return Promise.all(
    shared.map(async ({ path, place }) => ({
      folder: path,
      place,
      device: (await isMarkedAs(place, path)) ? await deviceOf(path) : null,
    })),
  );
}

async function isMarkedAs(place: string, path: string): Promise<boolean> {
  const mark = await readMark(path);
  return mark.is === 'mark' && mark.owner.place === place;
}

function deviceOf(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(
    ({ dev }) => String(dev),
    () => null,
  );
}

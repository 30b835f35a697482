import type { SeenFolders } from '../pipeline/file/ports.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { stat } from 'node:fs/promises';
import { readMark } from '../watch/root-mark.ts';

/**
 * Folder names in rows that several hosts share. Paths differ between hosts, so rows use names that mean the same
 * everywhere: `nas1:` is a share, whose root is the watched folder itself, and `ingest1:/srv/in` is a folder that only
 * ingest1 can read.
 */
export interface Places {
  /** Returns a folder's name in rows. Names of places that this host cannot see stay unchanged. */
  placeOf(folder: string): string;
  /** Returns a place's absolute path, or its name (not a path) if this host cannot see the place. */
  folderOf(place: string): string;
  /**
   * Returns the name under which this host stores facts that only it can know about a folder, such as its directory
   * here.
   */
  ownName(folder: string): string;
  isHere(folder: string): boolean;
  isShared(folder: string): boolean;
  /** Returns this host's folders that other hosts may watch, too. */
  shared(): readonly SharedFolder[];
  /** Returns the places whose files this host can read, by their names in rows. */
  visible(): SeenFolders;
  /** Returns why this host cannot read the files in a folder; null: it can, or could if the folder were mounted. */
  whyNotHere(folder: string): string | null;
  /** Returns why a folder is not proved to be the place that its mark names; null: no known reason. */
  whyUnproven(folder: string): string | null;
  /**
   * Returns the device of a share on this host if the share's mark was found; null: the device in the row has no
   * meaning.
   */
  deviceOf(folder: string): string | null;
}

/** A folder that several hosts watch. */
export interface SharedFolder {
  /** Absolute path on this host. */
  readonly folder: string;
  /** The folder's name in rows. */
  readonly place: string;
  /** Device of the folder's file system when its mark was read; null until then. */
  readonly device: string | null;
}

/** Returns a share's name in rows. */
export function placeOfShare(share: string): string {
  return `${share}:`;
}

/** Returns the name in rows of a folder that only one host watches. */
export function localPlace(host: string, folder: string): string {
  return `${host}:${folder}`;
}

/**
 * @param self name of this host
 * @param shared called each time, because a reload may change the result
 * @param hostsOfPlace says which hosts can read a place
 */
export function createPlaces(
  self: string,
  shared: () => readonly SharedFolder[],
  hostsOfPlace: (place: string) => string,
  whyUnproven: (folder: string) => string | null = () => null,
): Places {
  const local = `${self}:/`;
  const byFolder = (folder: string): SharedFolder | undefined => shared().find((each) => each.folder === folder);
  const folderOf = (place: string): string => {
    const share = shared().find((each) => each.place === place);
    if (share !== undefined) return share.folder;
    const folder = place.startsWith(local) ? place.slice(local.length - 1) : place;
    // Rows from before the folder became a share have another place, and must not count as rows of the share.
    return byFolder(folder) === undefined ? folder : place;
  };
  const isHere = (folder: string): boolean => folder.startsWith('/');
  return {
    placeOf: (folder) => byFolder(folder)?.place ?? (isHere(folder) ? localPlace(self, folder) : folder),
    folderOf,
    ownName: (folder) => (isHere(folder) ? localPlace(self, folder) : folder),
    isHere,
    isShared: (folder) => byFolder(folder) !== undefined,
    shared,
    visible: () => ({
      names: shared().map(({ place }) => place),
      // A folder that became a share is no longer local.
      below: local,
      without: shared().map(({ folder }) => localPlace(self, folder)),
    }),
    whyNotHere: (folder) => (isHere(folder) ? null : hostsOfPlace(folder)),
    whyUnproven,
    deviceOf: (folder) => byFolder(folder)?.device ?? null,
  };
}

interface Placed {
  readonly folder: string;
  readonly version: FileVersion;
}

/** Translates a row to this host's view. A share has a different device number on every host. */
export function fromPlace({ folderOf, deviceOf, isShared }: Places): <T extends Placed>(row: T) => T {
  return (row) => {
    const folder = folderOf(row.folder);
    const dev = isShared(folder) ? (deviceOf(folder) ?? noDevice) : row.version.dev;
    return { ...row, folder, version: dev === row.version.dev ? row.version : { ...row.version, dev } };
  };
}

/** Translates a row to the ledger's names. */
export function toPlace({ placeOf }: Places): <T extends Placed>(row: T) => T {
  return (row) => ({ ...row, folder: placeOf(row.folder) });
}

/** Matches no device. The stored number is another host's; it must not make an unproven mount pass for the share. */
const noDevice = '';

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

import type { SeenFolders } from '../pipeline/file/ports.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';

/**
 * What rows call the folders of several hosts. Every host sees its own paths; the rows have names that mean the same on all of them:
 * `nas1:` is a share, whose root is the watched folder itself, and `ingest1:/srv/in` a folder that only ingest1 can read.
 */
export interface Places {
  /** What rows call a folder. The name of a place that this host cannot see stays as it is. */
  placeOf(folder: string): string;
  /** Absolute, or the name of the place when this host cannot see it: that is no path. */
  folderOf(place: string): string;
  /** What only this host says of a folder, as which directory it is here, is kept under this name. */
  ownName(folder: string): string;
  isHere(folder: string): boolean;
  isShared(folder: string): boolean;
  /** The folders of this host that others may watch too. */
  shared(): readonly SharedFolder[];
  /** The places whose files this host can read, as rows have them. */
  visible(): SeenFolders;
  /** Why no file of a folder can be read on this host, or null: it can be, or could if the folder were there. */
  whyNotHere(folder: string): string | null;
  /** Why a folder is not known to be the place that its mark names; null: nothing is known of it. */
  whyUnproven(folder: string): string | null;
  /** The device of a share here, where its mark proves that it is the share; null: that of the row says nothing. */
  deviceOf(folder: string): string | null;
}

/** A folder that several hosts watch. */
export interface SharedFolder {
  /** Absolute, on this host. */
  readonly folder: string;
  /** Its name in rows. */
  readonly place: string;
  /** Of its file system, where its mark was read; null while it was not. */
  readonly device: string | null;
}

/** The name of a share in rows. */
export function placeOfShare(share: string): string {
  return `${share}:`;
}

/** The name in rows of a folder that one host alone watches. */
export function localPlace(host: string, folder: string): string {
  return `${host}:${folder}`;
}

/**
 * @param self name of this host
 * @param shared asked each time: a new configuration changes it
 * @param hostsOfPlace says who else can read a place
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
    // What it was called before it became a share is another place: its rows must not be taken for those of the share.
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

/** A row as this host sees it. The device of a share has another number on every host. */
export function fromPlace({ folderOf, deviceOf, isShared }: Places): <T extends Placed>(row: T) => T {
  return (row) => {
    const folder = folderOf(row.folder);
    const dev = isShared(folder) ? (deviceOf(folder) ?? noDevice) : row.version.dev;
    return { ...row, folder, version: dev === row.version.dev ? row.version : { ...row.version, dev } };
  };
}

/** A row as the ledger has it. */
export function toPlace({ placeOf }: Places): <T extends Placed>(row: T) => T {
  return (row) => ({ ...row, folder: placeOf(row.folder) });
}

/** Equal to that of no file: a share that was not seen to be the share must not be taken for it by a number of another host. */
const noDevice = '';

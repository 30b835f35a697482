import type { SeenFolders } from '../pipeline/file/ports.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';

/**
 * The names of folders in the rows of several hosts. Every host has its own paths; the rows have names that mean the
 * same on all of them: `nas1:` is a share, whose root is the watched folder itself, and `ingest1:/srv/in` a folder that
 * only ingest1 can read.
 */
export interface Places {
  /** The name of a folder in rows. The name of a place that this host cannot see stays unchanged. */
  placeOf(folder: string): string;
  /** Absolute, or the name of the place when this host cannot see it, which is not a path. */
  folderOf(place: string): string;
  /** The name under which this host stores what only it can know of a folder, such as the directory that it is here. */
  ownName(folder: string): string;
  isHere(folder: string): boolean;
  isShared(folder: string): boolean;
  /** The folders of this host that other hosts may watch too. */
  shared(): readonly SharedFolder[];
  /** The places whose files this host can read, by their names in rows. */
  visible(): SeenFolders;
  /** Why no file of a folder can be read on this host; null: files can be read, or could if the folder were mounted. */
  whyNotHere(folder: string): string | null;
  /** Why a folder is not proved to be the place that its mark names; null: no reason is known. */
  whyUnproven(folder: string): string | null;
  /**
   * The device of a share on this host, if its mark proves that it is the share; null: the device in the row has no
   * meaning.
   */
  deviceOf(folder: string): string | null;
}

/** A folder that several hosts watch. */
export interface SharedFolder {
  /** Absolute, on this host. */
  readonly folder: string;
  /** Its name in rows. */
  readonly place: string;
  /** The device of its file system when its mark was read; null until then. */
  readonly device: string | null;
}

/** The name of a share in rows. */
export function placeOfShare(share: string): string {
  return `${share}:`;
}

/** The name in rows of a folder that only one host watches. */
export function localPlace(host: string, folder: string): string {
  return `${host}:${folder}`;
}

/**
 * @param self name of this host
 * @param shared called each time, because a reload changes it
 * @param hostsOfPlace the other hosts that can read a place
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
    // Its name before it became a share is another place, whose rows must not count as rows of the share.
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

/**
 * Matches no file: a share without proof must not be taken for the share because of a device number of another host.
 */
const noDevice = '';

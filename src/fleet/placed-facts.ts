import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Places } from './places.ts';

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

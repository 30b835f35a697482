import { FileUnreadableError } from '@dropcast/client';
import type { Facts } from '../pipeline/file/facts.ts';
import { isInnerPath } from '../pipeline/file/inner-path.ts';

declare const isWatched: unique symbol;

/** A row that passed `requireWatched`. Only the file of such a row may be opened, deleted or moved. */
export type Watched<T extends FileLocation> = T & { readonly [isWatched]: true };

type FileLocation = Pick<Facts, 'folder' | 'path'> & Partial<Pick<Facts, 'id' | 'plan'>>;

/** Whether this host's configuration currently has a folder with this path. */
export type IsWatched = (folder: string) => boolean;

/**
 * Rejects a row that names a file outside the configured folders. Rows, receipts and messages are input: a damaged or
 * hostile one may name any file on the machine. Only this host's configuration determines which folders dropcast may
 * touch, so each row is checked before anything that it names is opened.
 *
 * @throws {FileUnreadableError} the folder is not configured on this host, or a name leads out of it (`code` is
 *   `outside_folder`)
 */
export function requireWatched<T extends FileLocation>(row: T, isConfigured: IsWatched): Watched<T> {
  const { folder, path, id, plan } = row;
  if (!isConfigured(folder))
    throw outside(
      `the folder ${JSON.stringify(folder)} is not in the configuration of this host, so its files are left alone: ` +
        'add it to `folders`, then run `dropcast retry`',
    );
  const besides = [plan?.sidecar, ...(plan?.proofs ?? [])].flatMap((file) => file?.path ?? []);
  for (const name of [path, ...besides])
    if (!isInnerPath(name)) throw outside(`${JSON.stringify(`${folder}/${name}`)} leads out of its watched folder`);
  // The id is used in the name of the hidden directory in which the file is put away.
  if (id !== undefined && (!isInnerPath(id) || id.includes('/')))
    throw outside(`${JSON.stringify(id)} is not the id of a file`);
  return row as Watched<T>;
}

function outside(message: string): FileUnreadableError {
  return new FileUnreadableError(message, { code: 'outside_folder' });
}

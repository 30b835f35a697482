import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { FileUnreadableError } from '@dropcast/client';
import { errnoOf } from '../errno.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { isInnerPath } from '../pipeline/file/inner-path.ts';

/** A directory in a watched folder, held open so that work stays in it, regardless of what appears at its path. */
export interface HeldDirectory {
  /**
   * Returns the path of a name in the directory, for one system call. If that call follows links, it follows one here
   * too.
   */
  at(name: string): string;
}

/**
 * Thrown when a path cannot be followed inside its folder, because part of it is a link or not a directory, or it leads
 * out.
 */
export class NotInFolderError extends Error {
  override readonly name = 'NotInFolderError';
}

/**
 * Opens a directory in a folder segment by segment, following no links, and works in it. Otherwise anyone with write
 * access to the folder could insert a link at any moment, to have another file read or deleted. Node has no `openat`;
 * the path of the open descriptor serves instead (`/proc/self/fd/N/name`, proc_pid_fd(5)). Without /proc, each segment
 * is only checked: that rejects an existing link, but follows one that appears between the check and the work.
 *
 * @param folder absolute; may itself be reached through links
 * @param directory relative to the folder, with `/`; empty or `.` is the folder itself
 * @param make creates missing directories
 * @param holds whether directories can be held open; tests set it to false
 * @throws {NotInFolderError} the directory is not inside the folder
 * @throws system errors, with readable paths, and whatever `work` throws
 */
export async function inDirectory<T>(
  { folder, directory, make = false, holds = canHold() }: Way,
  work: (held: HeldDirectory) => Promise<T>,
): Promise<T> {
  const names = directory.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..') || directory.includes('\0'))
    throw new NotInFolderError(`${JSON.stringify(join(folder, ...names))} leads out of its watched folder`);
  if (!holds) return work(await lookDown(folder, names, make));
  await using held = new Held(await open(folder, DIRECTORY), folder);
  // Awaited here, because the descriptor is closed when this function returns.
  return await held.speaking(async () => {
    for (const name of names) await held.enter(name, make);
    return work(held);
  });
}

interface Way {
  readonly folder: string;
  readonly directory: string;
  readonly make?: boolean;
  readonly holds?: boolean;
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK;

/** Whether open descriptors have a path in /proc, which always refers to what was opened. */
export function canHold(): boolean {
  return process.platform === 'linux' && existsSync('/proc/self/fd');
}

/** Checks one segment at a time, so that no directory is created behind a link. */
async function lookDown(folder: string, names: readonly string[], make: boolean): Promise<HeldDirectory> {
  let path = folder;
  for (const name of names) {
    path = join(path, name);
    if (make) await mkdir(path).catch(unlessThere);
    if (!(await lstat(path)).isDirectory()) throw strange(path);
  }
  return { at: (name) => join(path, name) };
}

class Held implements HeldDirectory, AsyncDisposable {
  #handle: FileHandle;
  #path: string;

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  at(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`;
  }

  async enter(name: string, make: boolean): Promise<void> {
    if (make) await mkdir(this.at(name)).catch(unlessThere);
    const above = this.#handle;
    try {
      this.#handle = await open(this.at(name), DIRECTORY | constants.O_NOFOLLOW);
    } catch (error) {
      // With O_NOFOLLOW and O_DIRECTORY, a link also fails with ENOTDIR (open(2)).
      const code = errnoOf(error);
      throw code === 'ENOTDIR' || code === 'ELOOP' ? strange(join(this.#path, name), error) : error;
    }
    this.#path = join(this.#path, name);
    await above.close();
  }

  /** Replaces the descriptor's path with the directory's in system errors. */
  async speaking<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const own = new RegExp(`/proc/self/fd/${this.#handle.fd}\\b`, 'g');
      if (error instanceof Error) error.message = error.message.replaceAll(own, () => this.#path);
      throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}

function strange(path: string, cause?: unknown): NotInFolderError {
  return new NotInFolderError(`${JSON.stringify(path)} is a link or not a directory`, { cause });
}

export function unlessThere(error: unknown): void {
  if (errnoOf(error) !== 'EEXIST') throw error;
}

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

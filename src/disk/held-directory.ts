import { constants, existsSync } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '@dropcast/client';

/** A directory in a watched folder, held open: whatever is put at its path meanwhile, what is done here is done in it. */
export interface HeldDirectory {
  /** The path of a name in it, for one system call. It follows a link of that name if the call does. */
  at(name: string): string;
}

/** Thrown when a path of a folder cannot be gone down: a part of it is a link or no directory, or would lead out. */
export class NotInFolderError extends Error {
  override readonly name = 'NotInFolderError';
}

/**
 * Goes down into a directory, name by name, through no link: whoever may write in the folder could swap one in at any
 * moment, to have a file elsewhere read or deleted. Node has no `openat`; the descriptor's own path does the same
 * (`/proc/self/fd/N/name`, proc_pid_fd(5)). Without /proc the path is only looked at on the way down: a link that is there
 * is refused as well, one that is swapped in between that look and the work is followed.
 *
 * @param folder absolute; may itself be reached through links
 * @param directory relative to it, with `/`; empty or `.` is the folder
 * @param make creates what is missing of it
 * @param holds whether directories are held open; for tests of what is done where they cannot be
 * @throws {NotInFolderError}, what the system says, with the paths that a person knows, and what `work` throws
 */
export async function inDirectory<T>(
  { folder, directory, make = false, holds = canHold() }: Way,
  work: (held: HeldDirectory) => Promise<T>,
): Promise<T> {
  const names = directory.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..'))
    throw new NotInFolderError(`${JSON.stringify(join(folder, ...names))} leads out of its watched folder`);
  if (!holds) return work(await lookDown(folder, names, make));
  await using held = new Held(await open(folder, DIRECTORY), folder);
  // Awaited here: it is let go of when this function returns.
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

/** Whether an open descriptor has a path of its own, that goes on to mean what was opened. */
export function canHold(): boolean {
  return process.platform === 'linux' && existsSync('/proc/self/fd');
}

/** Name by name, so that nothing is made behind a link either. */
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
      // O_NOFOLLOW with O_DIRECTORY: a link is ENOTDIR as well (open(2)).
      const code = codeOf(error);
      throw code === 'ENOTDIR' || code === 'ELOOP' ? strange(join(this.#path, name), error) : error;
    }
    this.#path = join(this.#path, name);
    await above.close();
  }

  /** Puts the path of the directory into what the system says of the descriptor. */
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
  return new NotInFolderError(`${JSON.stringify(path)} is a link, or no directory`, { cause });
}

function unlessThere(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

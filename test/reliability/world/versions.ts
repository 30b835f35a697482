import { mkdir, open, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Version } from '../judge/evidence.ts';
import { sha256Of } from '../judge/gather.ts';

/** A time that can be set again exactly: `utimes` knows no nanoseconds. */
const wholeSecond = 1_700_000_000;

/** What people do to files, written down for the judge. Paths are absolute. */
export class Versions {
  #all: Version[] = [];

  get all(): readonly Version[] {
    return this.#all;
  }

  /** Puts a file there at once, as a rename does: nobody sees half of it. What was there before is overwritten. */
  async drop(path: string, bytes: Uint8Array, facts: Partial<Version> = {}): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    const hidden = join(dirname(path), `.${basename(path)}.dropping`);
    await writeFile(hidden, bytes);
    await utimes(hidden, wholeSecond, wholeSecond);
    this.note(path, bytes, facts);
    await rename(hidden, path);
  }

  /** Writes other bytes into the file that is there, and sets its time back as tag editors do. */
  async overwrite(path: string, bytes: Uint8Array, { isTimeKept = true } = {}): Promise<void> {
    this.note(path, bytes);
    const file = await open(path, 'r+');
    await file.write(bytes, 0, bytes.length, 0);
    await file.truncate(bytes.length);
    await file.close();
    if (isTimeKept) await utimes(path, wholeSecond, wholeSecond);
  }

  async remove(path: string): Promise<void> {
    this.#leave(path);
    await rm(path);
  }

  /** These bytes are what somebody wants to have uploaded, whoever writes them. */
  note(path: string, bytes: Uint8Array, facts: Partial<Version> = {}): void {
    this.#leave(path);
    const titles = [basename(path, extname(path))];
    this.#all.push({ path, sha256: sha256Of(bytes), isLeft: true, titles, ...facts });
  }

  /** The same bytes lie under another name, and their video may have either. */
  moved(from: string, to: string, bytes: Uint8Array, titles: readonly string[]): void {
    this.#leave(from);
    this.note(to, bytes, { titles });
  }

  #leave(path: string): void {
    this.#all = this.#all.map((one) => (one.path === path ? { ...one, isLeft: false } : one));
  }
}

import { join } from 'node:path';
import type { Checksum } from '../../pipeline/file/checksums.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import type { ChecksumLine } from '../../routing/checksum-file.ts';
import { readText } from './read-text.ts';

/** What a list says about files, and where it says so. */
export type ListLine = Omit<Checksum, 'goesWithIt'> & Pick<ChecksumLine, 'name'>;

/** By what a file is looked up. */
export type ListLines = ReadonlyMap<string, readonly ListLine[]>;

interface Kept {
  readonly version: FileVersion;
  readonly lines: ListLines;
  readonly characters: number;
}

export interface KeptListsOptions {
  readonly parse: (text: string, path: string) => readonly ChecksumLine[];
  /** By what the line of a name is looked up. */
  readonly keyOf: (name: string) => string;
}

/**
 * Lists of checksums, each read and taken apart once for all of its files, and again only when it changed: it may have 50,000 lines, and
 * each of 50,000 files asks for its own.
 */
export class KeptLists {
  readonly #options: KeptListsOptions;
  /** By path; the one asked for last is at the end. */
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new Map<string, Promise<ListLines>>();
  #characters = 0;

  constructor(options: KeptListsOptions) {
    this.#options = options;
  }

  /** One that is not there says nothing. @throws {UnreadableChecksumError} */
  linesOf(folder: string, path: string): Promise<ListLines> {
    const key = join(folder, path);
    const reading = this.#reading.get(key) ?? this.#read(folder, path).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(folder: string, path: string): Promise<ListLines> {
    const key = join(folder, path);
    const kept = this.#kept.get(key);
    this.#forget(key);
    const read = await readText(folder, path, kept?.version);
    if (read === null) return new Map();
    if (read === 'as before') return kept === undefined ? new Map() : this.#keep(key, kept);
    const lines = Map.groupBy(this.#linesIn(read, path), ({ name }) => this.#options.keyOf(name ?? ''));
    return this.#keep(key, { version: read.version, lines, characters: read.text.length });
  }

  #linesIn({ text, sha256 }: { readonly text: string; readonly sha256: string }, path: string): readonly ListLine[] {
    const from = { path, sha256 };
    return this.#options.parse(text, path).map((line) => ({ ...line, from }));
  }

  #keep(key: string, kept: Kept): ListLines {
    this.#kept.set(key, kept);
    this.#characters += kept.characters;
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= MOST_CHARACTERS || oldest === key) break;
      this.#forget(oldest);
    }
    return kept.lines;
  }

  #forget(key: string): void {
    this.#characters -= this.#kept.get(key)?.characters ?? 0;
    this.#kept.delete(key);
  }
}

/** Of the texts; what is kept of them takes about twice as much. */
const MOST_CHARACTERS = 32 * 1024 * 1024;

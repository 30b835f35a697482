import { hash } from 'node:crypto';
import { posix } from 'node:path';
import { UnusableListError, baseOf, hashNames, isWithoutDirectory, listBounds, overBound } from './checksum-file.ts';
import type { ChecksumLine, HashName } from './checksum-file.ts';

/** A digest that a checksum list gives for a file. */
export interface IndexedDigest {
  readonly algorithm: HashName;
  /** Lower-case hex. */
  readonly digest: string;
}

/**
 * Digests from a checksum list, indexed by file name. Stores a hash of each name instead of the name, so 100,000
 * entries use about 15 MB however long the names are.
 */
export class DigestIndex {
  /** Name hash → its digests, each stored as rank, algorithm and hex. */
  readonly #digests = new Map<string, string>();

  get size(): number {
    return this.#digests.size;
  }

  /**
   * @param isBest whether to ignore other digests for this name that were added without this flag
   * @throws {UnusableListError} too many digests for one name
   */
  add(name: string, { algorithm, digest }: Pick<ChecksumLine, 'algorithm' | 'digest'>, isBest = true): void {
    const key = keyOf(name);
    const before = this.#digests.get(key);
    const entry = `${isBest ? BEST : OTHER}${hashNames.indexOf(algorithm)}${digest ?? ''}`;
    if (before?.split(' ').includes(entry) === true) return;
    const entries = before === undefined ? entry : `${before} ${entry}`;
    if (before !== undefined && entries.split(' ').length > listBounds.digests)
      throw overBound('for one file', listBounds.digests, 'digests');
    this.#digests.set(key, unshared(entries));
  }

  /** @throws {UnusableListError} the list has an invalid digest for this name */
  of(name: string): readonly IndexedDigest[] {
    const entries = this.#digests.get(keyOf(name))?.split(' ') ?? [];
    const best = entries.filter((entry) => entry.startsWith(BEST));
    return (best.length > 0 ? best : entries).map((entry) => {
      const algorithm = hashNames[Number(entry[1])] ?? 'sha256';
      const digest = entry.slice(2);
      if (digest === '')
        throw new UnusableListError(`its entry for the file is not a valid ${algorithm.toUpperCase()} digest`);
      return { algorithm, digest };
    });
  }
}

const BEST = '=';
const OTHER = '~';

function keyOf(name: string): string {
  return unshared(hash('sha256', name, 'base64').slice(0, KEY_CHARACTERS));
}

/** Base64 characters: 96 bits. */
const KEY_CHARACTERS = 16;

/** Copies a string. A substring or concatenation would keep its whole source in memory. */
function unshared(ascii: string): string {
  return Buffer.from(ascii, 'latin1').toString('latin1');
}

/** Collects, line by line, the checksums for one video from a file such as `clip.mp4.sha256` or `clip.sha256`. */
export class OwnChecksums {
  readonly #videoName: string;
  /**
   * True if the checksum file is named after the whole video name (`clip.mp4.sha256`). It is then for that video,
   * whatever its lines name.
   */
  readonly #isOnlyFor: boolean;
  readonly #digests = new DigestIndex();
  #lines = 0;
  #hasNamed = false;

  constructor(videoName: string, checksumName: string) {
    this.#videoName = videoName.normalize();
    this.#isOnlyFor = posix.parse(checksumName).name.normalize() === this.#videoName;
  }

  add(line: ChecksumLine): void {
    this.#lines += 1;
    if (line.name === null) this.#digests.add(NAMELESS, line);
    else if (baseOf(line.name) === this.#videoName) this.#digests.add(OWN, line, isWithoutDirectory(line.name));
    else {
      this.#hasNamed = true;
      if (this.#lines === 1) this.#digests.add(FIRST, line);
    }
  }

  /**
   * Returns the digests for the video; empty if the list is only about other files.
   *
   * @throws {UnusableListError} the list must be about the video but has no digest for it
   */
  found(): readonly IndexedDigest[] {
    const own = this.#digests.of(OWN);
    if (own.length > 0) return own;
    const nameless = this.#digests.of(NAMELESS);
    if (nameless.length > 0) return nameless;
    const first = this.#isOnlyFor && this.#lines === 1 ? this.#digests.of(FIRST) : [];
    if (first.length > 0) return first;
    if (!this.#isOnlyFor && this.#hasNamed) return [];
    throw new UnusableListError(
      this.#lines === 0 ? 'it has no checksum that dropcast can compute' : 'it has no line for this file',
    );
  }
}

const OWN = 'own';
const NAMELESS = 'nameless';
const FIRST = 'first';

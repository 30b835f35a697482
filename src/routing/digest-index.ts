import { hash } from 'node:crypto';
import { hashNames } from './checksum-file.ts';
import type { ChecksumLine, HashName } from './checksum-file.ts';
import { UnusableListError, listBounds, overBound } from './list-bounds.ts';

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

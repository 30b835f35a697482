import { hash } from 'node:crypto';
import { hashNames } from './checksum-file.ts';
import type { ChecksumLine, HashName } from './checksum-file.ts';
import { UnusableListError, listBounds, overBound } from './list-bounds.ts';

/** A digest that a list states for a file. */
export interface IndexedDigest {
  readonly algorithm: HashName;
  /** Hex, lower case. */
  readonly digest: string;
}

/**
 * The digests of a list by name. It keeps a hash of each name instead of the name: 100,000 entries take about 15 MB,
 * whatever their names are.
 */
export class DigestIndex {
  /** Hash of a name → its digests, each as a rank, an algorithm and hex. */
  readonly #digests = new Map<string, string>();

  get size(): number {
    return this.#digests.size;
  }

  /**
   * @param isBest whether digests without it are ignored for this name
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

  /** @throws {UnusableListError} the list has no valid digest for this name */
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

/** Of base64: 96 bits. */
const KEY_CHARACTERS = 16;

/** A copy: a substring or a concatenation would keep its whole source in memory. */
function unshared(ascii: string): string {
  return Buffer.from(ascii, 'latin1').toString('latin1');
}

import { posix } from 'node:path';
import { baseOf, isWithoutDirectory } from './checksum-file.ts';
import type { ChecksumLine } from './checksum-file.ts';
import { DigestIndex } from './digest-index.ts';
import type { IndexedDigest } from './digest-index.ts';
import { UnusableListError } from './list-bounds.ts';

/** Collects, line by line, the checksums that a file such as `clip.mp4.sha256` or `clip.sha256` has for its video. */
export class OwnChecksums {
  readonly #videoName: string;
  /** A checksum file with the full name of this file belongs to it, whatever name its lines contain. */
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
   * Empty when the list is about other files alone. @throws {UnusableListError} the list must be about the video, and
   * has no digest of it
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
      this.#lines === 0 ? 'it has no checksum that dropcast can compute' : `none of its lines is for the file`,
    );
  }
}

const OWN = 'own';
const NAMELESS = 'nameless';
const FIRST = 'first';

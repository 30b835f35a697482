import { posix } from 'node:path';
import { baseOf, isWithoutDirectory } from './checksum-file.ts';
import type { ChecksumLine } from './checksum-file.ts';
import { DigestIndex } from './digest-index.ts';
import type { IndexedDigest } from './digest-index.ts';
import { UnusableListError } from './list-bounds.ts';

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

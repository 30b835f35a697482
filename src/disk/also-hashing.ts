import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { BodyReader } from '@dropcast/client';
import type { Digests } from '../pipeline/file/checksums.ts';

type HashName = keyof Digests;

/** Computes digests of a file while it is being read for another purpose. */
export class AlsoHashing {
  readonly #names: readonly HashName[];
  #hashes: ReadonlyMap<HashName, Hash> = new Map();
  /** Position at which the next part must begin. */
  #position = 0;
  #sizeBytes = 0;

  constructor(names: readonly HashName[]) {
    this.#names = names;
  }

  /** Returns digests of the whole file; none if it was not read in order from first to last byte. */
  digests(): Digests {
    if (this.#position !== this.#sizeBytes) return {};
    return Object.fromEntries([...this.#hashes].map(([name, hash]) => [name, hash.copy().digest('hex')]));
  }

  /** Wraps a reader to hash what it reads. A retry starts from the beginning, possibly with another reader. */
  listenTo(reader: BodyReader & { readonly sizeBytes: number }): BodyReader {
    if (this.#names.length === 0) return reader;
    this.#sizeBytes = reader.sizeBytes;
    return {
      sizeBytes: reader.sizeBytes,
      ...(reader.version !== undefined && { version: reader.version }),
      read: async (position, into, signal) => {
        await reader.read(position, into, signal);
        this.#note(position, into);
      },
      confirm: (sha256, signal) => reader.confirm(sha256, signal),
      [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
    };
  }

  #note(position: number, bytes: Buffer): void {
    if (position === 0) {
      this.#hashes = new Map(this.#names.map((name) => [name, createHash(name)]));
      this.#position = 0;
    }
    if (position !== this.#position) {
      this.#position = Number.NaN;
      return;
    }
    for (const hash of this.#hashes.values()) hash.update(bytes);
    this.#position += bytes.length;
  }
}

import { lookKey } from '../pipeline/file/file-version.ts';
import type { WatchCounts } from './ports.ts';
import { TakenFiles } from './taken-files.ts';
import type { WaitingFile } from './waiting-file.ts';

/** What is known of the files in a folder: those the sink has, and those that still settle. A changed file is in both. */
export class Inventory {
  readonly taken = new TakenFiles();
  readonly waiting = new Map<string, WaitingFile>();
  /** Waiting files that the scan under way has not found. */
  #unfound = new Set<string>();

  has(path: string): boolean {
    return this.taken.has(path) || this.waiting.has(path);
  }

  /** The row that stands for the file is in this state now; null: none stands for it any more. */
  becomes(path: string, state: string | null): void {
    this.taken.setState(path, state);
    const file = this.waiting.get(path);
    if (file !== undefined) file.state = state;
  }

  /** The sink has the file as it was offered. */
  took({ path, kind, version, state }: WaitingFile): void {
    this.taken.set(path, version);
    const now = kind === 'sidecar' || kind === 'proof' ? sidecarState : state;
    if (now !== null) this.taken.setState(path, now);
  }

  /** The waiting file is gone. It may have a row although it was never offered, when a person added it: the row has to hear of it too. */
  leaves(path: string): void {
    const file = this.waiting.get(path);
    if (file !== undefined && file.state !== null && !this.taken.has(path)) this.took(file);
  }

  /** Files that the sink took, and that nothing stands for. */
  unaccounted(): string[] {
    if (this.taken.countStates().get(null) === 0) return [];
    return [...this.taken.withoutState()].filter((path) => !this.waiting.has(path));
  }

  beginScan(): void {
    this.taken.beginScan();
    this.#unfound = new Set(this.waiting.keys());
  }

  found(path: string): void {
    this.taken.found(path);
    this.#unfound.delete(path);
  }

  /** What was known when the scan began and that it has not found. */
  unfound(): Set<string> {
    return new Set([...this.taken.unfound(), ...this.#unfound]);
  }

  /** Those of these paths whose file settles at another path: it was renamed. */
  renamed(paths: readonly string[]): ReadonlySet<string> {
    const versions = paths.flatMap((path) => {
      const version = this.taken.get(path);
      return version === undefined ? [] : [{ path, version }];
    });
    const inodes = new Set(versions.map(({ version }) => version.ino));
    // A text for each of 100,000 files that wait would stop the event loop.
    const candidates = this.waiting.values().filter(({ version }) => inodes.has(version.ino));
    const arriving = new Set(candidates.map(({ version }) => lookKey(version)));
    return new Set(versions.filter(({ version }) => arriving.has(lookKey(version))).map(({ path }) => path));
  }

  /** @param refused path → why */
  counts(refused: ReadonlyMap<string, string>, ignored: number): WatchCounts {
    const { taken, waiting } = this;
    let both = 0;
    for (const path of waiting.keys()) if (taken.has(path) && !refused.has(path)) both += 1;
    let replaced = 0;
    for (const path of refused.keys()) if (taken.has(path)) replaced += 1;
    const offered = taken.size - both - replaced;
    const seen = waiting.size + offered + ignored + refused.size;
    return { seen, settling: waiting.size, offered, ignored, refused: refused.size };
  }
}

/** No row stands for a sidecar, nor for what proves that a file is complete. */
export const sidecarState = 'sidecar';

import { lookKey } from '../pipeline/file/file-version.ts';
import type { KnownFile, WatchCounts } from './ports.ts';
import { TakenFiles } from './taken-files.ts';
import type { WaitingFile } from './waiting-file.ts';

/** The known files of a folder: those that the sink took, and those that still settle. A changed file is in both. */
export class Inventory {
  readonly taken = new TakenFiles();
  readonly waiting = new Map<string, WaitingFile>();
  /** Waiting files that the scan under way has not found. */
  #unfound = new Set<string>();

  has(path: string): boolean {
    return this.taken.has(path) || this.waiting.has(path);
  }

  /** The row of the file is now in this state; null: the file no longer has a row. */
  becomes(path: string, state: string | null): void {
    this.taken.setState(path, state);
    const file = this.waiting.get(path);
    if (file !== undefined) file.state = state;
  }

  /** The sink took the file as it was offered. */
  took({ path, kind, version, state }: WaitingFile): void {
    this.taken.set(path, version);
    const now = kind === 'sidecar' || kind === 'proof' ? sidecarState : state;
    if (now !== null) this.taken.setState(path, now);
  }

  /** The waiting file is gone. It may have a row, if an operator added it: that row must be notified. */
  leaves(path: string): void {
    const file = this.waiting.get(path);
    if (file !== undefined && file.state !== null && !this.taken.has(path)) this.took(file);
  }

  /** Files that the sink took and that have no row. */
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

  /** Paths that were known when the scan began, and that it has not found. */
  unfound(): Set<string> {
    return new Set([...this.taken.unfound(), ...this.#unfound]);
  }

  /** The paths whose file settles at another path: it was renamed. */
  renamed(paths: readonly string[]): ReadonlySet<string> {
    const versions = paths.flatMap((path) => {
      const version = this.taken.get(path);
      return version === undefined ? [] : [{ path, version }];
    });
    const inodes = new Set(versions.map(({ version }) => version.ino));
    // Building a key for each of 100,000 waiting files would block the event loop.
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

/** The state of sidecars and proofs, which have no row. */
export const sidecarState = 'sidecar';

type TellKnown = (tell: (file: KnownFile) => void) => Promise<void>;

/**
 * The ledger may have lost rows. Adopts its current view of each file.
 *
 * @returns paths of files that the sink took, and that the ledger has not, or in another version
 */
export async function lostFiles({ taken, waiting }: Inventory, tellKnown: TellKnown): Promise<readonly string[]> {
  const known = new TakenFiles();
  await tellKnown(({ path, version, state }) => {
    known.set(path, version);
    known.setState(path, state);
  });
  const lost = [...taken.entries()].filter(
    ([path, version]) => taken.state(path) !== sidecarState && !known.isSame(path, version),
  );
  for (const [path, version] of known.entries()) {
    // The next scan finds the missing ones.
    if (!taken.has(path) && !waiting.has(path)) taken.set(path, version);
    taken.setState(path, known.state(path));
  }
  return lost.map(([path]) => path);
}

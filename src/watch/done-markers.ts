import { posix } from 'node:path';
import { lookAt } from './path-entry.ts';
import type { PathEntry } from './path-entry.ts';
import type { WatchSettings } from './ports.ts';
import type { WaitingFile } from './waiting-file.ts';

/** A folder whose senders signal complete files with done markers. */
export type MarkedFolder = Pick<WatchSettings, 'path' | 'markerOf'>;

/**
 * What a marker proves. `older`: the marker predates the file's last change and may belong to an earlier version, so
 * the settle time decides, as without a marker.
 */
type MarkerWord = 'not wanted' | 'missing' | 'older' | 'proves it';

/** Compares a file with its marker by inode change time, which programs cannot set. */
export async function markerWord(folder: MarkedFolder, { path, version }: WaitingFile): Promise<MarkerWord> {
  const marker = folder.markerOf(path);
  if (marker === null) return 'not wanted';
  const entry = await lookAtMarker(folder.path, marker);
  if (entry.is !== 'file') return 'missing';
  return BigInt(entry.version.ctimeNs) < BigInt(version.ctimeNs) ? 'older' : 'proves it';
}

/** Looks for a marker in both Unicode forms of its name. */
export async function lookAtMarker(folder: string, marker: string): Promise<PathEntry> {
  const name = posix.basename(marker);
  const names = [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])];
  const entries = await Promise.all(names.map((name) => lookAt(posix.join(folder, posix.dirname(marker), name))));
  return entries.find(({ is }) => is === 'file') ?? entries[0] ?? { is: 'missing' };
}

/** Files that are waiting for their done markers. */
export class AwaitedMarkers {
  readonly #folder: MarkedFolder;
  readonly #waiting: ReadonlyMap<string, WaitingFile>;
  /** Marker name in Unicode form NFC → files that asked for it. Some may no longer be waiting. */
  readonly #awaited = new Map<string, Set<string>>();
  #prunedAt = 0;

  constructor(folder: MarkedFolder, waiting: ReadonlyMap<string, WaitingFile>) {
    this.#folder = folder;
    this.#waiting = waiting;
  }

  /**
   * Registers a path that appeared or changed.
   * @returns the files to look at: the path itself if it needs a marker, or the files that the path is the marker for
   */
  readyWith(path: string): readonly string[] {
    const marker = this.#folder.markerOf(path);
    if (marker === null)
      return [...(this.#awaited.get(path.normalize()) ?? [])].filter((file) => this.#waiting.has(file));
    const key = marker.normalize();
    this.#awaited.set(key, (this.#awaited.get(key) ?? new Set()).add(path));
    this.#prune();
    return [path];
  }

  /** Drops markers that no file is waiting for. Runs each time the map has doubled. */
  #prune(): void {
    if (this.#awaited.size < 2 * this.#prunedAt + LEAST_PRUNED) return;
    for (const [marker, files] of this.#awaited)
      if (![...files].some((file) => this.#waiting.has(file))) this.#awaited.delete(marker);
    this.#prunedAt = this.#awaited.size;
  }
}

const LEAST_PRUNED = 1000;

import { posix } from 'node:path';
import { folded } from '../routing/file-name.ts';
import { stemOf } from '../routing/sidecar.ts';

/** A folder's sidecars without a video. */
export interface LoneSidecarsView {
  readonly files: number;
  /** Paths of some of them, relative to the folder. */
  readonly first: readonly string[];
}

/** Collects a folder's sidecars whose video has not arrived. */
export class LoneSidecars {
  /** Name or stem that the video would have → sidecar paths. */
  readonly #paths = new Map<string, Set<string>>();

  add(sidecarPath: string): void {
    const key = keyOf(stemOf(sidecarPath));
    this.#paths.set(key, (this.#paths.get(key) ?? new Set()).add(sidecarPath));
  }

  delete(sidecarPath: string): void {
    const key = keyOf(stemOf(sidecarPath));
    const paths = this.#paths.get(key);
    if (paths?.delete(sidecarPath) === true && paths.size === 0) this.#paths.delete(key);
  }

  /** Removes the sidecars of a video that has arrived. */
  matched(path: string): void {
    if (this.#paths.size > 0) for (const key of keysOf(path)) this.#paths.delete(key);
  }

  paths(): readonly string[] {
    return [...this.#paths.values()].flatMap((paths) => [...paths]);
  }

  /** @param waiting paths of videos that are still settling */
  view(waiting: Iterable<string>): LoneSidecarsView {
    if (this.#paths.size === 0) return { files: 0, first: [] };
    const isExpected = new Set<string>();
    for (const path of waiting) for (const key of keysOf(path)) isExpected.add(key);
    const lone = [...this.#paths].flatMap(([key, paths]) => (isExpected.has(key) ? [] : [...paths]));
    return { files: lone.length, first: lone.slice(0, MOST_NAMED) };
  }
}

const MOST_NAMED = 3;

function keysOf(path: string): readonly string[] {
  const { dir, name, base } = posix.parse(path);
  return [keyOf(posix.join(dir, name)), keyOf(posix.join(dir, base))];
}

function keyOf(stem: string): string {
  const { dir, base } = posix.parse(stem);
  return posix.join(dir, folded(base));
}

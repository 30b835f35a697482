/**
 * Events of the file system. Only this file uses chokidar.
 *
 * chokidar watches each directory, lists new directories, and reports removed ones, on each platform that Node runs on.
 * Events are only hints: the kernel drops events when its queue overflows, Node does not report that, and
 * `awaitWriteFinish` skips files that are present at the start. The scan is the truth (docs/design.md), and `Settler`
 * decides when a file is complete.
 *
 * Options:
 * - `backend`: `auto` or `native`. A folder that polls opens no events: its scans are enough.
 * - `depth: 0`: `watch` passes directories to chokidar one by one. With 100,000 files in 1,000 directories this took 30
 *   MB; sixteen directories at a time, with their files, took 145 MB.
 * - `ignored`: chokidar calls it for each path that it lists. It keeps only directories, and reports the files.
 * - `followSymlinks`, `atomic` and `awaitWriteFinish` are off: links are not followed, and no event waits for another.
 *
 * Private traits, for which the version is pinned exactly:
 * - `raw` events carry the name from the kernel and `watchedPath`, the directory. chokidar does not look at a path that
 *   `ignored` refuses: the receiver of the event does (docs/decisions/0040-what-a-file-costs-the-daemon.md).
 * - `ignored` is called without `stats` before chokidar looks, and with them afterwards.
 * - It calls `fs.watch` with a path, options and a listener, through the module object. `sliceEvents` depends on that.
 */

import fs from 'node:fs';
import type { Stats } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { watch } from 'chokidar';
import type { FSWatcher } from 'chokidar';
import { errnoOf } from '../errno.ts';
import { probeName } from './event-proof.ts';
import type { RoughStats } from './taken-files.ts';

export interface EventOptions {
  readonly root: string;
  readonly backend: 'auto' | 'native';
  /** True for directories that are never entered. */
  readonly leavesOut: (absolutePath: string) => boolean;
  /** True for names that a file of ours may have. The receiver looks at the path, and watches a directory. */
  readonly mayBeFile: (absolutePath: string) => boolean;
  /** Something may have happened at the absolute path. */
  readonly onEvent: (absolutePath: string) => void;
  /** A listing found a file at the absolute path. Directories are listed at the start and when they are new. */
  readonly onFile: (absolutePath: string, stats: RoughStats) => void;
  /** Events are missing. @param absolutePath of the directory that cannot be watched, if known */
  readonly onError: (code: string, absolutePath?: string) => void;
  /** All directories that existed at the start are watched. */
  readonly onCaughtUp: () => void;
}

/** Events of the folder until it is disposed of. */
export interface FolderEvents extends AsyncDisposable {
  /** A directory is at the absolute path. Does nothing if it is already watched. */
  watch(directory: string): void;
}

export type OpenEvents = (options: EventOptions) => FolderEvents;

export const openEvents: OpenEvents = (options) => new Events(options);

class Events implements FolderEvents {
  readonly #options: EventOptions;
  readonly #watcher: FSWatcher;
  readonly #given = new Set<string>();
  readonly #queue: string[] = [];
  readonly #stop = new AbortController();
  #feeding: Promise<void> | null = null;
  #isCaughtUp = false;

  constructor(options: EventOptions) {
    this.#options = options;
    this.#watcher = watch([], {
      backend: options.backend,
      depth: 0,
      followSymlinks: false,
      atomic: false,
      awaitWriteFinish: false,
      ignored: (path, stats) => options.leavesOut(path) || this.#isNoDirectory(path, stats),
    });
    this.#watcher.on('raw', (_, name, details) => this.#happened(name, details));
    this.#watcher.on('unlinkDir', (path) => this.#directoryLeft(path));
    this.#watcher.on('error', (error) => this.#reportError(error));
    this.watch(options.root);
  }

  watch(path: string): void {
    if (this.#isClosed || this.#given.has(path)) return;
    if (path !== this.#options.root && !path.startsWith(withSeparator(this.#options.root))) return;
    this.#given.add(path);
    // The root is back.
    if (path === this.#options.root && this.#isCaughtUp) this.#report(path);
    this.#queue.push(path);
    this.#feeding ??= this.#feed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#queue.length = 0;
    await this.#watcher.close();
    await this.#feeding;
  }

  get #isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  /** chokidar would turn an exception in a listener into an unhandled rejection, which ends the process. */
  #report(path: string, stats?: Stats): void {
    if (this.#isClosed) return;
    try {
      if (stats === undefined) this.#options.onEvent(path);
      else this.#options.onFile(path, stats);
    } catch (error) {
      this.#reportError(error);
    }
  }

  #isNoDirectory(path: string, stats: Stats | undefined): boolean {
    if (stats === undefined) return !this.#given.has(path) && this.#options.mayBeFile(path);
    if (stats.isDirectory()) this.watch(path);
    if (!stats.isFile()) return false;
    this.#report(path, stats);
    return true;
  }

  /** The kernel names the entry of a directory. chokidar handles events without a name, about the directory. */
  #happened(name: unknown, details: unknown): void {
    if (typeof name === 'string' && isInDirectory(details)) this.#report(join(details.watchedPath, name));
  }

  #reportError(error: unknown): void {
    if (!this.#isClosed) this.#options.onError(errnoOf(error), pathOf(error));
  }

  #directoryLeft(path: string): void {
    this.#given.delete(path);
    // The root itself is gone: the folder must be checked.
    if (path === this.#options.root) this.#report(path);
  }

  async #feed(): Promise<void> {
    while (this.#queue.length > 0) {
      this.#watcher.add(this.#queue.splice(0, 1));
      await this.#pause(FEED_PAUSE_MS);
      if (this.#queue.length === 0 && !this.#isCaughtUp) await this.#pause(QUIET_MS);
    }
    // Synchronously, so that a directory that arrives now starts another feed.
    this.#feeding = null;
    if (this.#isCaughtUp || this.#isClosed) return;
    this.#isCaughtUp = true;
    this.#options.onCaughtUp();
  }

  /** Ends early, and without an error, when the events are closed. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}

const FEED_PAUSE_MS = 1;
/** Without a new directory for this long, the start is over. Only the extra scan after it depends on this. */
const QUIET_MS = 250;

function isInDirectory(details: unknown): details is { readonly watchedPath: string } {
  return typeof details === 'object' && details !== null && 'watchedPath' in details;
}

/** The path of a failed file system call. */
function pathOf(error: unknown): string | undefined {
  return error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined;
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep;
}

type Listener = (event: string, name: string | null) => void;

/**
 * Makes `fs.watch` report its events in slices. libuv reads events until the queue of the kernel is empty, without a
 * turn of the event loop. While files come faster than chokidar handles their events, nothing else runs: 100,000 files
 * stopped a daemon for 12 s. chokidar has no option for this (docs/decisions/0046-watches-are-proven.md).
 */
function sliceEvents(): void {
  const { watch } = fs;
  const slices = new Slices();
  let watches = 0;
  const sliced = (path: fs.PathLike, options: fs.WatchOptions, listener?: Listener): fs.FSWatcher => {
    // Only chokidar passes a listener here; other code in the process gets the original.
    if (listener === undefined) return Reflect.apply(watch, fs, [path, options]);
    const number = (watches += 1);
    let isClosed = false;
    const watcher = watch(path, { ...options, encoding: 'utf8' }, (event, name) => {
      const tell = (): void => {
        if (!isClosed) listener(event, name);
      };
      // The proof that events arrive must not wait for other events.
      if (name !== null && basename(name) === probeName) tell();
      else slices.add(`${number} ${event} ${name}`, tell);
    });
    return watcher.once('close', () => {
      isClosed = true;
    });
  };
  Object.assign(fs, { watch: sliced });
  syncBuiltinESMExports();
}

/**
 * Runs bursts of work in slices, in order, with turns of the event loop between them. Work that is added again before
 * it ran runs once.
 */
export class Slices {
  readonly #waiting = new Map<string, () => void>();
  #isRunning = false;

  /** @param work must not throw */
  add(key: string, work: () => void): void {
    if (this.#waiting.has(key)) return;
    this.#waiting.set(key, work);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    const endsAt = performance.now() + SLICE_MS;
    for (const [key, work] of this.#waiting) {
      this.#waiting.delete(key);
      work();
      if (performance.now() >= endsAt) break;
    }
    this.#isRunning = this.#waiting.size > 0;
    if (this.#isRunning) setImmediate(() => this.#run());
  }
}

const SLICE_MS = 10;

sliceEvents();

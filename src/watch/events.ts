/**
 * File system events. Only this file uses chokidar.
 *
 * chokidar watches each directory, lists new directories and reports removed ones on every platform that Node supports.
 * Events are only hints: the kernel drops events when its queue overflows, Node does not report overflows, and
 * `awaitWriteFinish` skips files that are present at the start. The scan is authoritative (docs/design.md), and
 * `Settler` decides when a file is complete.
 *
 * Options:
 * - `backend`: `auto` or `native`. A polled folder opens no events, because its scans are enough.
 * - `depth: 0`: `watch` passes directories to chokidar one by one. With 100,000 files in 1,000 directories this took 30
 *   MB; passing sixteen directories at a time, with their files, took 145 MB.
 * - `ignored`: chokidar calls this for each path that it lists. Our function lets only directories through, and reports
 *   files itself.
 * - `followSymlinks`, `atomic` and `awaitWriteFinish` are off: links are not followed, and events are not delayed until
 *   others arrive.
 *
 * We rely on these undocumented traits, so the version is pinned exactly:
 * - `raw` events carry the name from the kernel, and the directory as `watchedPath`. chokidar does not stat paths that
 *   `ignored` rejects; the receiver of the event does (docs/decisions/0040-what-a-file-costs-the-daemon.md).
 * - `ignored` is called without `stats` before chokidar stats a path, and with `stats` afterwards.
 * - chokidar calls `fs.watch` with a path, options and a listener, through the module object. `sliceEvents` depends on
 *   that.
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
  readonly leavesOut: (absolutePath: string) => boolean;
  /**
   * Returns true for names that one of our files could have. The receiver looks at the path, and watches directories.
   */
  readonly mayBeFile: (absolutePath: string) => boolean;
  /** Called when something may have happened at an absolute path. */
  readonly onEvent: (absolutePath: string) => void;
  /** Called when a directory listing contains a file. Directories are listed at the start and when they are new. */
  readonly onFile: (absolutePath: string, stats: RoughStats) => void;
  /** Called when events are being missed. @param absolutePath of the directory that cannot be watched, if known */
  readonly onError: (code: string, absolutePath?: string) => void;
  /** Called once all directories that existed at the start are being watched. */
  readonly onCaughtUp: () => void;
}

/** Event source of one folder. Disposing of it stops the events. */
export interface FolderEvents extends AsyncDisposable {
  /** Watches the directory at an absolute path. Does nothing if it is already being watched. */
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
    // The root has reappeared.
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

  /**
   * Reports a path and catches exceptions, which chokidar would turn into an unhandled rejection that ends the process.
   */
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

  /**
   * Handles kernel events that name a directory entry. chokidar handles nameless events, about the directory itself.
   */
  #happened(name: unknown, details: unknown): void {
    if (typeof name === 'string' && isInDirectory(details)) this.#report(join(details.watchedPath, name));
  }

  #reportError(error: unknown): void {
    if (!this.#isClosed) this.#options.onError(errnoOf(error), pathOf(error));
  }

  #directoryLeft(path: string): void {
    this.#given.delete(path);
    // The root itself is gone, so the folder must be checked.
    if (path === this.#options.root) this.#report(path);
  }

  async #feed(): Promise<void> {
    while (this.#queue.length > 0) {
      this.#watcher.add(this.#queue.splice(0, 1));
      await this.#pause(FEED_PAUSE_MS);
      if (this.#queue.length === 0 && !this.#isCaughtUp) await this.#pause(QUIET_MS);
    }
    // Reset synchronously, so that a directory arriving now starts another feed.
    this.#feeding = null;
    if (this.#isCaughtUp || this.#isClosed) return;
    this.#isCaughtUp = true;
    this.#options.onCaughtUp();
  }

  /** Pauses for `ms`, or until the events are closed. Never rejects. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}

const FEED_PAUSE_MS = 1;
/** The initial walk counts as complete after this long without a new directory. It only triggers an extra scan. */
const QUIET_MS = 250;

function isInDirectory(details: unknown): details is { readonly watchedPath: string } {
  return typeof details === 'object' && details !== null && 'watchedPath' in details;
}

function pathOf(error: unknown): string | undefined {
  return error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined;
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep;
}

type Listener = (event: string, name: string | null) => void;

/**
 * Makes `fs.watch` deliver its events in slices. libuv drains the kernel's queue without yielding to the event loop, so
 * nothing else runs while files arrive faster than chokidar handles their events: 100,000 files stalled a daemon for 12
 * s. chokidar has no option for this (docs/decisions/0046-watches-are-proven.md).
 */
function sliceEvents(): void {
  const { watch } = fs;
  const slices = new Slices();
  let watches = 0;
  const sliced = (path: fs.PathLike, options: fs.WatchOptions, listener?: Listener): fs.FSWatcher => {
    // Only chokidar passes a listener in this process; other callers get the original function.
    if (listener === undefined) return Reflect.apply(watch, fs, [path, options]);
    const number = (watches += 1);
    let isClosed = false;
    const watcher = watch(path, { ...options, encoding: 'utf8' }, (event, name) => {
      const tell = (): void => {
        if (!isClosed) listener(event, name);
      };
      // Events for the probe file skip the queue, because the test must not wait for other events.
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
 * Runs bursts of work in order and in slices, yielding to the event loop in between. Work added again before it has run
 * is run once.
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

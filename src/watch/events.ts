/**
 * Events of the file system, and all that dropcast does with chokidar. Nothing else in the program knows it.
 *
 * dropcast uses chokidar to put a watch on each directory, to list a new directory, and to report the end of a directory, on each platform
 * that Node runs on. Events only give hints: the kernel drops events when its queue overflows, Node does not report that, and
 * `awaitWriteFinish` skips files that are present at the start. The scan is the truth (docs/design.md), and `Settler` decides when a file
 * is complete.
 *
 * Options:
 * - `backend`: `auto` or `native`. A folder that polls opens no events at all: the scan is enough.
 * - `depth: 0`: each directory is given to chokidar by `watch`, one after the other. With 100,000 files in 1,000 directories this took
 *   30 MB. With sixteen directories at a time, and the files, it took 145 MB.
 * - `ignored`: chokidar asks about each path that it lists. The answer keeps directories only, and reports the files on the way.
 * - `followSymlinks`, `atomic` and `awaitWriteFinish` are off: links are not followed, and no event waits for another.
 *
 * Private traits, for which the version is pinned exactly:
 * - `raw` events carry the name that the kernel said and `watchedPath`, the directory. chokidar does not look at such a path when `ignored`
 *   refuses it: the receiver of the event does (docs/decisions/0040-what-a-file-costs-the-daemon.md).
 * - `ignored` is called without `stats` before chokidar looks, and with them afterwards.
 * - It calls `fs.watch` with a path, options and a listener, through the module object. `sliceEvents` depends on that.
 */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join, sep } from 'node:path';
import type { Stats } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { watch } from 'chokidar';
import type { FSWatcher } from 'chokidar';
import { probeName } from './event-proof.ts';
import { errnoOf } from '../errno.ts';
import { Slices } from './slices.ts';
import type { RoughStats } from './taken-files.ts';

sliceEvents();

export interface EventOptions {
  readonly root: string;
  readonly backend: 'auto' | 'native';
  /** True for paths that are not ours: such directories are never entered. */
  readonly leavesOut: (absolutePath: string) => boolean;
  /** True for names that a file of ours may have. Whoever gets the event looks at the path, and tells if a directory is there. */
  readonly mayBeFile: (absolutePath: string) => boolean;
  /** Something may have happened at the absolute path. */
  readonly onEvent: (absolutePath: string) => void;
  /** A file is at the absolute path: its directory was listed, at the beginning or because it is new. */
  readonly onFile: (absolutePath: string, stats: RoughStats) => void;
  /** Events are missing from now on; the absolute path of what cannot be watched, where it is known. */
  readonly onError: (code: string, absolutePath?: string) => void;
  /** All directories that existed at the beginning are watched. */
  readonly onCaughtUp: () => void;
}

/** Events of the folder until it is disposed of. */
export interface FolderEvents extends AsyncDisposable {
  /** A directory is at the absolute path. One that is watched already stays so. */
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

  /** chokidar turns an exception of a listener into an unhandled rejection, which ends the process. */
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

  /** The kernel names what is in a watched directory. An event without a name is about the directory itself, which chokidar handles. */
  #happened(name: unknown, details: unknown): void {
    if (typeof name === 'string' && isInDirectory(details)) this.#report(join(details.watchedPath, name));
  }

  #reportError(error: unknown): void {
    if (!this.#isClosed) this.#options.onError(errnoOf(error), pathOf(error));
  }

  #directoryLeft(path: string): void {
    this.#given.delete(path);
    // The end of the root itself: the folder has to be checked.
    if (path === this.#options.root) this.#report(path);
  }

  async #feed(): Promise<void> {
    while (this.#queue.length > 0) {
      this.#watcher.add(this.#queue.splice(0, 1));
      await this.#pause(FEED_PAUSE_MS);
      if (this.#queue.length === 0 && !this.#isCaughtUp) await this.#pause(QUIET_MS);
    }
    // At once, so that no directory given from here on is left in the queue.
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
/** No new directory turned up for this long: the start is over. Only the extra scan after it depends on this. */
const QUIET_MS = 250;

function isInDirectory(details: unknown): details is { readonly watchedPath: string } {
  return typeof details === 'object' && details !== null && 'watchedPath' in details;
}

/** Errors of file system calls have it. */
function pathOf(error: unknown): string | undefined {
  return error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined;
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep;
}

type Listener = (event: string, name: string | null) => void;

/**
 * Makes `fs.watch` report its events in slices. libuv reads events until the queue of the kernel is empty, without a turn of the event loop.
 * While files come faster than chokidar handles their events, nothing else happens: 100,000 files stopped a daemon for 12 s. chokidar has no
 * option for this (docs/decisions/0046-watches-are-proven.md).
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
      // The test of the watches needs its event in time, whatever waits.
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

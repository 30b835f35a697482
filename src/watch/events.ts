import { join, sep } from 'node:path';
import type { Stats } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { watch } from 'chokidar';
import type { FSWatcher } from 'chokidar';
import { errnoOf } from './path-entry.ts';
import { sliceEvents } from './sliced-events.ts';
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

/**
 * File system events by chokidar: fast but unreliable (Node drops inotify overflows silently).
 *
 * chokidar keeps the directories only. Of a file it tells what the kernel said (`raw`), and what it found when it listed the directory
 * (`ignored` is asked about each). At a path that the kernel named it does not look, unless it is a directory: whoever gets the event does. Directories are given to it one after the other and without depth. With 100,000 files in 1,000
 * directories it took 145 MB when it kept the files too and was given sixteen directories at a time; this way it takes 30 MB.
 */
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

  /** The kernel names what is in a watched directory. Without a name it is the directory itself, which is chokidar's business. */
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

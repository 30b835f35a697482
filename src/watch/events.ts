import { sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { watch } from 'chokidar';
import type { FSWatcher } from 'chokidar';
import { errnoOf } from './path-entry.ts';

export interface EventOptions {
  readonly root: string;
  readonly backend: 'auto' | 'native';
  /** True for paths that are not ours: such directories are never entered. */
  readonly leavesOut: (absolutePath: string) => boolean;
  /** Something may have happened at the absolute path. */
  readonly onEvent: (event: FileEvent, absolutePath: string) => void;
  /** Events are missing from now on; the absolute path of what cannot be watched, where it is known. */
  readonly onError: (code: string, absolutePath?: string) => void;
  /** All directories that existed at the beginning are watched. */
  readonly onCaughtUp: () => void;
}

export type FileEvent = 'add' | 'change' | 'unlink';

export type OpenEvents = (options: EventOptions) => AsyncDisposable;

/**
 * File system events by chokidar: fast but unreliable (Node drops inotify overflows silently).
 *
 * Each directory is given to chokidar separately and without depth, sixteen at a time. A recursive start on 100,000 files in 1,000
 * directories looks at all of them at once and takes 340 MB; this way it takes 130 MB.
 */
export const openEvents: OpenEvents = (options) => new Events(options);

class Events implements AsyncDisposable {
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
      ignored: (path) => options.leavesOut(path),
    });
    this.#watcher.on('add', (path) => this.#report('add', path));
    this.#watcher.on('change', (path) => this.#report('change', path));
    this.#watcher.on('unlink', (path) => this.#report('unlink', path));
    this.#watcher.on('addDir', (path) => this.#give(path));
    this.#watcher.on('unlinkDir', (path) => this.#directoryLeft(path));
    this.#watcher.on('error', (error) => this.#reportError(error));
    this.#give(options.root);
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
  #report(event: FileEvent, path: string): void {
    if (this.#isClosed) return;
    try {
      this.#options.onEvent(event, path);
    } catch (error) {
      this.#reportError(error);
    }
  }

  #reportError(error: unknown): void {
    if (!this.#isClosed) this.#options.onError(errnoOf(error), pathOf(error));
  }

  #directoryLeft(path: string): void {
    this.#given.delete(path);
    // The end of the root itself: the folder has to be checked.
    if (path === this.#options.root) this.#report('unlink', path);
  }

  #give(path: string): void {
    if (this.#isClosed || this.#given.has(path)) return;
    if (path !== this.#options.root && !path.startsWith(withSeparator(this.#options.root))) return;
    this.#given.add(path);
    // The root is back.
    if (path === this.#options.root && this.#isCaughtUp) this.#report('add', path);
    this.#queue.push(path);
    this.#feeding ??= this.#feed();
  }

  async #feed(): Promise<void> {
    while (this.#queue.length > 0) {
      this.#watcher.add(this.#queue.splice(0, DIRECTORIES_AT_ONCE));
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

const DIRECTORIES_AT_ONCE = 16;
const FEED_PAUSE_MS = 5;
/** No new directory turned up for this long: the start is over. Only the extra scan after it depends on this. */
const QUIET_MS = 250;

/** Errors of file system calls have it. */
function pathOf(error: unknown): string | undefined {
  return error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined;
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : path + sep;
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogFields, Logger } from '../../src/log/logger.ts';
import type { FileVersion } from '../../src/pipeline/file/file-version.ts';
import { watchFolder } from '../../src/watch/watcher.ts';
import type { OpenEvents } from '../../src/watch/events.ts';
import { openEvents } from '../../src/watch/events.ts';
import type { MonotonicClock } from '../../src/watch/clock.ts';
import { monotonicClock } from '../../src/watch/clock.ts';
import type { CompleteFile, FolderWatcher, RootState, WatchSettings } from '../../src/watch/ports.ts';

export interface Setup {
  readonly folder?: Partial<WatchSettings>;
  readonly known?: readonly { readonly path: string; readonly version: FileVersion }[];
  readonly openEvents?: OpenEvents;
  readonly clock?: MonotonicClock;
  /** What the sink does with a file before it is noted; may reject. */
  readonly onComplete?: (file: CompleteFile) => Promise<void>;
}

/** Runs `factor` times as fast as time: for waits of half a minute. */
export function fastClock(factor: number): MonotonicClock {
  return {
    elapsed: () => performance.now() * factor,
    after: (delayMs, action) => monotonicClock.after(delayMs / factor, action),
  };
}

/** A temporary directory with a watcher on it and everything it told. */
export class WatchedDirectory implements AsyncDisposable {
  readonly path: string;
  readonly completed: CompleteFile[] = [];
  readonly gone: string[] = [];
  readonly states: RootState[] = [];
  readonly log: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = [];
  readonly watcher: FolderWatcher;
  readonly #base: string;

  static async create(setup: Setup = {}): Promise<WatchedDirectory> {
    const base = await mkdtemp(join(tmpdir(), 'dropcast-watch-'));
    return new WatchedDirectory(base, setup);
  }

  constructor(base: string, setup: Setup) {
    this.#base = base;
    this.path = setup.folder?.path ?? base;
    const folder: WatchSettings = {
      path: this.path,
      settleMs: 300,
      rescanMs: 60_000,
      watch: 'auto',
      accepts: (path) => (/\.(mp4|mkv)$/u.test(path) ? 'media' : path.endsWith('.yaml') ? 'sidecar' : null),
      nested: [],
      ...setup.folder,
    };
    const sink = {
      complete: async (file: CompleteFile) => {
        await setup.onComplete?.(file);
        this.completed.push(file);
      },
      gone: (_: string, path: string) => Promise.resolve(void this.gone.push(path)),
      root: (_: string, state: RootState) => void this.states.push(state),
    };
    const known = { known: () => Promise.resolve(setup.known ?? []) };
    const clock = setup.clock ?? monotonicClock;
    this.watcher = watchFolder({ folder, sink, known, clock, logger: this.#logger() }, setup.openEvents ?? openEvents);
  }

  at(path: string): string {
    return join(this.path, path);
  }

  get paths(): string[] {
    return this.completed.map((file) => file.path).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watcher[Symbol.asyncDispose]();
    await rm(this.#base, { recursive: true, force: true });
  }

  #logger(): Logger {
    const line = (level: string) => (message: string, fields?: LogFields) =>
      void this.log.push({ level, message, fields: fields ?? {} });
    return { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') };
  }
}

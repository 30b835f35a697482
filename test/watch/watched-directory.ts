import { join } from 'node:path';
import type { LogFields, Logger } from '../../src/log/logger.ts';
import type { FileVersion } from '../../src/pipeline/file/file-version.ts';
import { monotonicClock } from '../../src/watch/clock.ts';
import type { MonotonicClock } from '../../src/watch/clock.ts';
import { probeName } from '../../src/watch/event-proof.ts';
import { openEvents } from '../../src/watch/events.ts';
import type { EventOptions, OpenEvents } from '../../src/watch/events.ts';
import type {
  CompleteFile,
  ClosedDirectory,
  KnownFile,
  RootState,
  RootStore,
  WatchSettings,
} from '../../src/watch/ports.ts';
import { FolderWatcher } from '../../src/watch/watcher.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

export interface Setup {
  readonly folder?: Partial<WatchSettings>;
  readonly known?: readonly { readonly path: string; readonly version: FileVersion }[];
  /** The known files come only then. */
  readonly knownAfter?: Promise<void>;
  readonly openEvents?: OpenEvents;
  /** What is remembered of the folder; nothing by default. */
  readonly roots?: RootStore;
  /** Five times as fast as time by default: most tests wait for something to settle, none for how long that takes. */
  readonly clock?: MonotonicClock;
  /** What the sink does with a file before it is noted; may reject. */
  readonly onComplete?: (file: CompleteFile) => Promise<void>;
  /** What the sink does with a file that is gone, after it is noted; may reject. */
  readonly onGone?: (path: string) => Promise<void>;
}

/** Runs `factor` times as fast as time. */
export function fastClock(factor: number): MonotonicClock {
  return {
    elapsed: () => performance.now() * factor,
    after: (delayMs, action) => monotonicClock.after(delayMs / factor, action),
  };
}

/** A source of events in the hands of a test. */
export function manualEvents(): { readonly open: OpenEvents; readonly opened: EventOptions[]; last(): EventOptions } {
  const opened: EventOptions[] = [];
  return {
    opened,
    open: (options) => {
      const onCaughtUp = (): void => {
        options.onCaughtUp();
        // These events do arrive.
        options.onEvent(join(options.root, probeName));
      };
      opened.push({ ...options, onCaughtUp });
      return deaf(options);
    },
    last: () => {
      const options = opened.at(-1);
      if (options === undefined) throw new Error('no events were opened');
      return options;
    },
  };
}

/** No events at all: whatever a watcher finds was found by a scan. */
export const deaf: OpenEvents = () => ({ watch: () => undefined, [Symbol.asyncDispose]: () => Promise.resolve() });

/** Remembers nothing of the folder; the rows expect every file. */
const forgetful: RootStore = {
  load: async () => null,
  save: async () => undefined,
  expected: async (_, paths, which) => (which === 'unfinished' ? 0 : paths.length),
};

/** A temporary directory with a watcher on it and everything it reported. */
export class WatchedDirectory implements AsyncDisposable {
  readonly path: string;
  readonly completed: CompleteFile[] = [];
  readonly gone: string[] = [];
  readonly states: RootState[] = [];
  readonly closed: ClosedDirectory[] = [];
  readonly log: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = [];
  readonly watcher: FolderWatcher;
  readonly #base: AsyncDisposable;

  static async create(setup: Setup = {}): Promise<WatchedDirectory> {
    const base = await scratchDirectory();
    return new WatchedDirectory(base.path, base, setup);
  }

  private constructor(path: string, base: AsyncDisposable, setup: Setup) {
    this.#base = base;
    this.path = setup.folder?.path ?? path;
    const folder: WatchSettings = {
      path: this.path,
      settleMs: 300,
      rescanMs: 600_000,
      watch: 'auto',
      accepts: (path) => (/\.(mp4|mkv)$/u.test(path) ? 'media' : path.endsWith('.yaml') ? 'sidecar' : null),
      markerOf: () => null,
      isExcluded: () => false,
      isOnlyRead: false,
      leavesOut: () => false,
      nested: [],
      ...setup.folder,
    };
    const sink = {
      complete: async (file: CompleteFile) => {
        await setup.onComplete?.(file);
        this.completed.push(file);
      },
      gone: async (path: string) => {
        this.gone.push(path);
        await setup.onGone?.(path);
      },
      root: (state: RootState) => void this.states.push(state),
      leftBehind: async () => undefined,
      closed: async (directory: ClosedDirectory) => void this.closed.push(directory),
      scanned: () => undefined,
    };
    const known = {
      known: async (_: string, tell: (file: KnownFile) => void) => {
        await setup.knownAfter;
        for (const file of setup.known ?? []) tell({ state: 'done', ...file });
      },
    };
    const clock = setup.clock ?? fastClock(5);
    const options = {
      folder,
      sink,
      known,
      clock,
      logger: this.#logger(),
      owner: null,
      roots: setup.roots ?? forgetful,
    };
    this.watcher = new FolderWatcher(options, setup.openEvents ?? openEvents);
  }

  at(path: string): string {
    return join(this.path, path);
  }

  get paths(): string[] {
    return this.completed.map((file) => file.path).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watcher[Symbol.asyncDispose]();
    await this.#base[Symbol.asyncDispose]();
  }

  #logger(): Logger {
    const line = (level: string) => (message: string, fields?: LogFields) =>
      void this.log.push({ level, message, fields: fields ?? {} });
    return { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') };
  }
}

import type { LiveSource } from '@dropcast/pages';
import type { Daemon } from '../../daemon/daemon.ts';
import type { PageEvent } from './world.ts';

/** Update interval of views with running uploads, in milliseconds. */
const PROGRESS_MS = 500;

export interface Live extends LiveSource {
  /** Sends all readers an update that no daemon event announces. */
  tell(type: PageEvent): void;
  /** Returns the number of readers. */
  readers(): number;
}

/**
 * Creates the update stream for the page's readers. All share one listener on the daemon, and one timer for upload
 * progress, which runs only while a page is open.
 *
 * @param ended aborts when the page server closes
 * @param before called before each update is sent
 */
export function createLive(
  daemon: Pick<Daemon, 'events' | 'news' | 'conductor' | 'picture'>,
  ended: AbortSignal,
  before: () => void = () => undefined,
): Live {
  const listeners = new Set<(type: string) => void>();
  const tell = (type: PageEvent): void => {
    before();
    for (const listener of listeners) listener(type);
  };
  let stop: (() => void) | null = null;
  const start = (): (() => void) => {
    const deaf = [
      daemon.events.listen(({ type }) => tell(type === 'elsewhere' ? 'file' : type)),
      daemon.news.listen(({ type }) => tell(type === 'reload' ? 'reload' : 'news')),
    ];
    const clock = setInterval(() => {
      // Stale pictures are reloaded without waiting for the next event, which may be a long way off.
      if (daemon.conductor.uploads().length > 0 || daemon.picture.wasBehind()) tell('progress');
    }, PROGRESS_MS).unref();
    return () => {
      clearInterval(clock);
      for (const end of deaf) end();
    };
  };
  return {
    ended,
    tell,
    readers: () => listeners.size,
    listen: (listener) => {
      listeners.add(listener);
      stop ??= start();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stop?.();
        stop = null;
      };
    },
  };
}

/** How long a rendering is reused when nothing happens, in milliseconds. */
const SHARED_MS = 500;

/** Minimum interval between two renderings of an address, in milliseconds. */
const LEAST_MS = 250;

interface Rendering {
  readonly begunAt: number;
  /** Number of updates before this rendering began. */
  readonly happened: number;
  readonly page: Promise<string>;
  /** The next rendering, for readers who know that this one is stale. */
  next: Promise<string> | null;
}

/**
 * Shares renderings between readers of the same address, who all request it when an update arrives. The shared
 * rendering begins after that update. Each address is rendered at most four times a second, regardless of the number of
 * readers and updates.
 */
export class SharedViews {
  readonly #renderings = new Map<string, Rendering>();
  #happened = 0;

  /** @param address includes everything that the rendering depends on */
  get(address: string, make: () => Promise<string>): Promise<string> {
    const last = this.#renderings.get(address);
    if (last === undefined) return this.#begin(address, make);
    const ageMs = performance.now() - last.begunAt;
    if (last.happened === this.#happened && ageMs < SHARED_MS) return last.page;
    if (ageMs >= LEAST_MS) return this.#begin(address, make);
    return (last.next ??= pause(LEAST_MS - ageMs).then(() => this.#begin(address, make)));
  }

  /** Marks all earlier renderings as stale. */
  somethingHappened(): void {
    this.#happened += 1;
  }

  #begin(address: string, make: () => Promise<string>): Promise<string> {
    const rendering: Rendering = { begunAt: performance.now(), happened: this.#happened, page: make(), next: null };
    this.#renderings.set(address, rendering);
    const forget = (): void => {
      if (this.#renderings.get(address) === rendering) this.#renderings.delete(address);
    };
    setTimeout(forget, SHARED_MS).unref();
    rendering.page.catch(forget);
    return rendering.page;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

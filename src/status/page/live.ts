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

import type { LiveSource } from '@dropcast/pages';
import type { Daemon } from '../../daemon/daemon.ts';
import type { PageEvent } from './world.ts';

/** How often views with running uploads are updated. */
const PROGRESS_MS = 500;

export interface Live extends LiveSource {
  /** Tells all readers what no event of the daemon says. */
  tell(type: PageEvent): void;
  /** How many listen. */
  readers(): number;
}

/**
 * Updates for the readers of the page: one listener at the daemon for all of them, and one timer for the progress of
 * uploads, which runs only while a page is open.
 *
 * @param ended aborts when the page is closed
 * @param before called with each update before the readers get it
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
      // The page reloads a picture that was older than the last event: the next event may be long in coming.
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

import type { LiveSource } from '@dropcast/pages';
import type { Daemon } from '../../daemon/daemon.ts';
import type { PageEvent } from './world.ts';

/** How often views with running uploads are told. */
const PROGRESS_MS = 500;

export interface Live extends LiveSource {
  /** Tells all readers what no event of the daemon says. */
  tell(type: PageEvent): void;
  /** How many listen. */
  readers(): number;
}

/**
 * What the readers of the page are told: one ear at the daemon for all of them, and one clock for the progress of uploads, which runs
 * only while somebody looks.
 *
 * @param ended aborts when the page is closed
 * @param before called with everything that is told, before it is told
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
      if (daemon.conductor.uploads().length > 0 || daemon.picture.isBehind()) tell('progress');
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

import { countEvents } from './counters.ts';
import type { Daemon } from '../../daemon/daemon.ts';

/** The Prometheus metrics. */
export interface Metrics {
  /** Content type of exposition format 0.0.4, which every version of Prometheus accepts. */
  readonly contentType: string;
  /** Returns all current values. */
  text(): Promise<string>;
}

/** The running versions. */
export interface Versions {
  readonly version: string;
  readonly node: string;
}

/**
 * Starts counting. Labels are fixed words, statuses, and configured folders and feeds: never a file, an id or an error.
 *
 * @param versions of dropcast and of Node.js
 */
export function createMetrics(daemon: Daemon, versions: Versions): Metrics {
  const counted = countEvents(daemon);
  let opened: Promise<() => Promise<string>> | null = null;
  const open = async (): Promise<() => Promise<string>> => {
    const { openExposition } = await import('./exposition.ts');
    return openExposition(daemon, counted, versions);
  };
  const openOnce = (): Promise<() => Promise<string>> =>
    (opened ??= open().catch((error: unknown) => {
      // Loading failed, for example because no more files can be opened. The next scrape tries again.
      opened = null;
      throw error;
    }));
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: async () => (await openOnce())(),
  };
}

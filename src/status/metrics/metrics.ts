import { countEvents } from './counters.ts';
import type { MeasuredDaemon } from './gauges.ts';

/** The numbers for Prometheus. */
export interface Metrics {
  /** Content type of the exposition format 0.0.4, which every version of Prometheus accepts. */
  readonly contentType: string;
  /** Everything as it is now. */
  text(): Promise<string>;
}

/** What runs. */
export interface Versions {
  readonly version: string;
  readonly node: string;
}

/**
 * Counts from the call on. Labels are fixed words, statuses, and folders and feeds of the configuration: never a file,
 * an id or an error.
 *
 * @param versions of dropcast and of Node.js
 */
export function createMetrics(daemon: MeasuredDaemon, versions: Versions): Metrics {
  const counted = countEvents(daemon);
  let opened: Promise<() => Promise<string>> | null = null;
  const open = async (): Promise<() => Promise<string>> => {
    const { openExposition } = await import('./exposition.ts');
    return openExposition(daemon, counted, versions);
  };
  const openOnce = (): Promise<() => Promise<string>> =>
    (opened ??= open().catch((error: unknown) => {
      // As where no file can be opened at present.
      opened = null;
      throw error;
    }));
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: async () => (await openOnce())(),
  };
}

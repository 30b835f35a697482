import { someNowFile, someOverview } from '../../daemon/overview/some-overview.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { Summary } from '../../../src/daemon/summary.ts';

export const idle: Summary = {
  uploading: 0,
  queued: 0,
  processing: 0,
  awaitingPublish: 0,
  retrying: 0,
  settling: 0,
  needsYou: 0,
  done: 0,
  waits: [],
  requests: { used: 0, limit: 1000 },
  states: {},
};

/** A daemon that does nothing, as far as the shell of the page asks one. */
export function idleDaemon(summary: Partial<Summary> = {}, hosts: readonly string[] = []): Daemon {
  const silent = { listen: () => () => undefined, since: () => [], last: () => 0 };
  return {
    config: () => ({ file: '/etc/dropcast/dropcast.yaml', status: { hosts }, folders: [] }),
    overview: Object.assign(
      async () =>
        someOverview({ now: { files: [someNowFile({ path: '/inbox/<script>alert(1)</script>.mp4' })], more: 0 } }),
      { isBehind: () => false },
    ),
    summary: async () => ({ ...idle, ...summary }),
    waits: () => [],
    events: silent,
    news: silent,
    conductor: { uploads: () => [], names: { known: () => ({ channel: ['ch_main'], feed: [] }), unknown: () => [] } },
    folders: { status: () => [] },
    expectations: { list: () => [] },
    links: { find: () => null },
    pauses: { list: () => [], all: () => null, holds: () => null },
  } as unknown as Daemon;
}

import { createEventStream } from '../../src/daemon/events.ts';
import type { Fleet } from '../../src/view/hosts/fleet-view.ts';
import { createMessageTargets } from '../../src/daemon/message-targets.ts';
import type { FeedWait } from '../../src/pipeline/rounds/publish.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { waitsAt } from '../view/moments.ts';
import type { Moment } from '../view/moments.ts';

/** A daemon that can be measured, in the state that a test gives it. */
export function measuredDaemon(fleet: Fleet | null = null) {
  const events = createEventStream(silentLogger);
  const messageTargets = createMessageTargets();
  const state = {
    counts: {} as Record<string, number>,
    isLedgerBroken: false,
    moment: {} as Moment,
    since: { oldest: null as number | null, done: null as number | null },
    folders: ['/in'] as readonly string[],
    feeds: ['feed_news'],
    waits: [] as FeedWait[],
    used: 400,
    blockedUntil: 0,
    reported: null as { readonly left: number } | null,
    sentBytes: 0,
    expectations: [] as { state: string }[],
    notify: [{ name: 'phone', type: 'ntfy' }] as { name: string; type: string }[],
    messages: new Map<string, number>(),
    waitedMs: { finish: 0, create: 0, poll: 0 },
  };
  const daemon = {
    events,
    startedAt: 0,
    fleet,
    messageTargets,
    config: () => ({
      notify: state.notify,
      folders: state.folders.map((path) => ({ path, rules: [{ publish: state.feeds }] })),
    }),
    picture: async () => {
      if (state.isLedgerBroken) throw new Error('the disk is gone');
      const stages = [{ name: 'queued', files: state.counts['queued'] ?? 0 }];
      return { counts: { ...state.counts, uploading: 1 }, settling: 2, stages, needs_you: { files: 3 } };
    },
    ledger: {
      totals: async () => state.since,
      news: {
        countWaiting: async () => {
          if (state.isLedgerBroken) throw new Error('the disk is gone');
          return state.messages;
        },
      },
    },
    waits: () => waitsAt(state.moment),
    expectations: { list: () => state.expectations },
    conductor: {
      feedsWaiting: () => state.waits,
      sentBytes: () => state.sentBytes,
    },
    gate: {
      snapshot: () => ({ limit: 1_000, used: state.used, blockedUntil: state.blockedUntil, reported: state.reported }),
      waitedMs: () => state.waitedMs,
    },
  } as unknown as Daemon;
  return { daemon, events, state, messageTargets };
}

/** The values of an answer: `name{label="value"}` → number. */
export function valuesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1).replace('Nan', 'NaN'))];
    }),
  );
}

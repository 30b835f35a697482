import { noPauses } from '../../daemon/no-pauses.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { created, failure, ready, someFacts, somePlan } from '../../pipeline/some-facts.ts';
import { idleDaemon } from './idle-daemon.ts';

export const now = new Date(2026, 10, 22, 14, 2, 11).getTime();
const hour = 3_600_000;
const refusal = failure('permanent', { code: 'processing_failed', status: 422, message: 'there is no video in it' });
export const kinds: readonly Partial<Facts>[] = [
  {},
  { ...created, createdAt: now - hour },
  {
    ...ready,
    end: 'done',
    endedAt: now - hour,
    createdAt: now - 2.6 * hour,
    uploadStartedAt: now - 2.5 * hour,
    uploadedAt: now - 1.6 * hour,
    readyAt: now - 1.1 * hour,
    disposal: 'kept',
    published: { feed_news: now - hour },
  },
  { end: 'failed', endedAt: now - 2 * hour, why: 'there is no video in it', lastFailure: refusal },
  {
    end: 'held',
    endedAt: now - 2 * hour,
    plan: null,
    why: 'no rule matches',
    lastFailure: failure('permanent', { code: 'no_rule' }),
  },
  {
    notBefore: now + 600_000,
    attempts: 2,
    why: 'the service is busy',
    lastFailure: failure('transient', { code: 'http_503' }),
  },
];
const settling = [{ folder: '/in', path: 'new & <b>.mp4', size: 5_000, why: 'unchanged for 1 of 5 s' }];

/** A hundred and twenty files of every kind, one that was replaced, and a copy. */
export function allFiles(): readonly Facts[] {
  const copy = failure('duplicate', { twin: 'f_2' });
  return [
    ...Array.from({ length: 120 }, (_, n) => fileOf(n)),
    someFacts({ id: 'f_old', folder: '/in', path: 'clip 120.mp4', end: 'superseded', endedAt: 5 }),
    someFacts({ id: 'f_new', folder: '/in', path: 'clip 120.mp4', discoveredAt: now }),
    someFacts({
      id: 'f_copy',
      folder: '/in',
      path: 'copy.mp4',
      end: 'skipped',
      lastFailure: copy,
      why: 'the same content',
    }),
  ];
}

function fileOf(n: number): Facts {
  const kind = kinds[n % kinds.length];
  return someFacts({
    plan: { ...somePlan, channel: `ch_${n % 3}`, title: `Day ${n}` },
    ...kind,
    id: `f_${n}`,
    folder: '/in',
    path: n === 0 ? 'dir/<script>alert("1")</script>\u202e.mp4' : `clip ${n}.mp4`,
    discoveredAt: now - 3 * hour + n,
    ...(kind?.videoId !== undefined && { videoId: `vid_${n}` }),
  });
}

/** A daemon beside these files, which does nothing. */
export function daemonWith(ledger: Ledger): Daemon {
  const idle = idleDaemon();
  return {
    ...idle,
    fleet: null,
    waits: () => [],
    ledger,
    conductor: {
      pauses: noPauses,
      names: { known: () => null, unknown: () => [] },
      pause: () => null,
      createsWaitUntil: () => null,
      createsPauses: () => [],
      feedsWaiting: () => [],
      pollTrouble: () => null,
      noSlot: () => null,
      uploads: () => [],
      quotaRoom: () => null,
      pace: () => ({ bytesPerSecond: null, processingMs: null, latePoll: null }),
    },
    rows: { isHeld: () => false, held: () => [] },
    gate: {
      snapshot: () => ({
        waiting: 0,
        blockedMs: 0,
        reported: null,
        used: 990,
        limit: 1_000,
        left: 10,
        others: 0,
        frees: [[hour / 2, 500]],
      }),
    },
    folders: { settling: () => settling },
    feedLinks: { find: () => null },
    pauses: { list: () => [], all: () => null, holds: () => null },
    times: { startAt: () => null, limit: () => null, mayStart: () => true, later: () => [] },
    config: () => ({
      ...idle.config(),
      uploads: { concurrency: 4 },
      poll: { intervalMs: 15_000 },
      publish: { quietMs: 0, atMostMs: 0 },
      folders: [
        { path: '/in', uploads: 4, rules: [{ key: 'folders[0].rules[0]', match: '**', channel: 'ch_0', line: 12 }] },
      ],
    }),
  } as unknown as Daemon;
}

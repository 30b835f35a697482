import { describe, expect, test } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { day, hour, minute, outside, startCore } from './running-core.ts';
import type { FakeHost } from './fake-host.ts';
import { created, failure, ready, someFacts, uploaded } from './some-facts.ts';

/** Where a file may stand when somebody sets the clock, and how long it takes from there at most until it is done, in milliseconds. */
interface Moment {
  readonly state: string;
  readonly facts: (now: number) => Partial<Facts>;
  /** What the service does until the clock was set. */
  readonly before?: (service: FakeHost) => void;
  readonly withinMs: number;
  /** Its upload takes until then. */
  readonly hangs?: boolean;
}

const minutes = (count: number): number => count * minute;

const moments: readonly Moment[] = [
  { state: 'queued', facts: () => ({}), withinMs: minutes(3) },
  {
    state: 'retrying',
    facts: (now) => ({ ...created, attempts: 3, notBefore: now + 4_000, lastFailure: failure('transient') }),
    withinMs: minutes(3),
  },
  {
    state: 'retrying after Retry-After: 30',
    facts: (now) => ({
      ...created,
      notBefore: now + 30_000,
      lastFailure: failure('throttled', { status: 429, retryAfterMs: 30_000 }),
    }),
    withinMs: minutes(3),
  },
  {
    state: 'uploading',
    facts: () => created,
    hangs: true,
    withinMs: minutes(3),
  },
  {
    state: 'an upload address that died',
    facts: (now) => ({ ...created, uploadStartedAt: now - 1_000, addressDeadAt: now - 1_000 }),
    withinMs: minutes(6),
  },
  {
    state: 'processing',
    facts: (now) => ({ ...uploaded, sha256: 'f_1', processingSince: now - hour }),
    withinMs: minutes(15),
  },
  {
    state: 'awaiting publish',
    facts: (now) => ({ ...ready, sha256: 'f_1', readyAt: now }),
    withinMs: minutes(3),
  },
  {
    state: 'a feed that failed',
    facts: (now) => ({ ...ready, sha256: 'f_1', readyAt: now - minute }),
    before: (service) => service.failing.set('publish feed_news', failure('transient', { status: 500, inDoubt: true })),
    withinMs: minutes(15),
  },
  {
    state: 'the service away',
    facts: () => ({}),
    before: (service) => service.failing.set('all', failure('offline')),
    withinMs: minutes(4),
  },
  {
    state: 'the key refused',
    facts: () => ({}),
    before: (service) => service.failing.set('all', failure('suspended', { status: 401 })),
    withinMs: minutes(10),
  },
  {
    state: 'the upload host away',
    facts: () => created,
    before: (service) => service.failing.set('send', failure('transient', { code: 'ECONNRESET', inDoubt: true })),
    withinMs: minutes(4),
  },
];

const jumps = [10 * day, -10 * day, hour, -hour, -50 * minute];

describe.each(moments)('a clock that is set: $state', ({ facts, before, withinMs, hangs = false }) => {
  const matrix = jumps.flatMap((jump) => ['while it runs', 'across a restart'].map((when) => ({ jump, when })));

  test.each(matrix)(
    'by $jump ms $when fails nothing, blocks nothing, and sends nothing twice',
    async ({ jump, when }) => {
      const world = outside([]);
      const { clock, store, service } = world;
      store.all.push(someFacts({ ...facts(clock.now()), afterReady: { kind: 'delete' } }));
      const { videoId, uploadedAt } = store.row();
      const status = uploadedAt === null ? 'pending' : 'processing';
      if (videoId !== null) service.videos.set(videoId, { title: 'Clip', status });
      const { promise: upload, resolve: goOn } = Promise.withResolvers<void>();
      if (hangs) service.uploadGate = upload;
      before?.(service);
      const { send } = service.host;
      let sent = 0;
      service.host.send = async (...asked) => {
        const answer = await send(...asked);
        if (answer.ok) sent += 1;
        return answer;
      };
      const first = startCore(world);
      // Whatever fails has failed by then, and nothing is over.
      await first.pass(2_000);
      clock.set(clock.now() + jump);
      if (when === 'across a restart') await first.stop();
      service.failing.clear();
      goOn();
      const core = when === 'across a restart' ? startCore(world) : first;
      const begin = clock.elapsed();
      await core.until(() => store.row().disposal === 'deleted', 1_000);
      expect(clock.elapsed() - begin).toBeLessThanOrEqual(withinMs);
      expect(store.row()).toMatchObject({ end: 'done', attempts: 0 });
      expect([sent, service.videos.size]).toEqual([uploadedAt === null ? 1 : 0, 1]);
    },
  );
});

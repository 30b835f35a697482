import { describe, expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { files, hour, minute, outside, startCore } from './running-core.ts';
import { failure, someFacts, someVersion } from './some-facts.ts';

function open(rows: readonly Facts[]) {
  return startCore(outside(rows));
}

/** As `toFailure` gives them for what a dead host does. */
const deaths: Readonly<Record<string, Failure>> = {
  refuses: failure('offline', { code: 'ECONNREFUSED' }),
  'has no name': failure('offline', { code: 'ENOTFOUND' }),
  'has a bad certificate': failure('offline', { code: 'CERT_HAS_EXPIRED' }),
  resets: failure('transient', { code: 'ECONNRESET', inDoubt: true }),
  'does not answer': failure('transient', { code: 'timeout', inDoubt: true }),
  'answers 502 with HTML': failure('transient', { code: 'bad_gateway', status: 502, inDoubt: true }),
  'answers 503': failure('transient', { code: 'service_unavailable', status: 503, inDoubt: true }),
  'answers 200 with HTML': failure('transient', { code: 'unreadable_answer', status: 200, inDoubt: true }),
};
const requests = { 'the service': 'all', 'an upload host': 'send' } as const;

const matrix = Object.keys(requests).flatMap((who) =>
  Object.keys(deaths).flatMap((how) => [1, 20].map((count) => ({ who, how, count }))),
);

describe('an outage of an hour', () => {
  test.each(matrix)('$who that $how costs $count files no attempt, and is over within a minute', async (one) => {
    const { conductor, store, service, clock, until, pass, paid } = open(files(one.count));
    service.failing.set(requests[one.who as keyof typeof requests], deaths[one.how] ?? failure('bug'));
    await pass(hour);
    expect([paid(), store.states().filter((state) => state === 'failed')]).toEqual([0, []]);
    expect(conductor.pause()).toMatchObject({ kind: 'offline' });
    // Looks of a minute at most apart, and little beside them.
    expect(service.asked.length).toBeLessThan(300);
    service.failing.clear();
    const back = clock.elapsed();
    const isSent = (): boolean => store.all.every(({ uploadedAt }) => uploadedAt !== null);
    await until(() => service.count('send') > 0 && store.all.some(({ uploadedAt }) => uploadedAt !== null));
    expect(clock.elapsed() - back).toBeLessThanOrEqual(80_000);
    await until(isSent);
    expect(clock.elapsed() - back).toBeLessThanOrEqual(3 * minute);
    await until(() => conductor.isIdle());
    expect([paid(), new Set(store.states())]).toEqual([0, new Set(['done'])]);
    expect(conductor.pause()).toBeNull();
  });

  test('leaves few empty records: what is in doubt is not risked again while the service is away', async () => {
    const { store, service, pass } = open(files(20));
    service.failing.set('all', deaths['resets'] ?? failure('bug'));
    await pass(hour);
    expect(store.all.flatMap(({ suspects }) => suspects).length).toBeLessThanOrEqual(4);
  });

  test('of an upload host lets everything else continue', async () => {
    const { store, service, until, pass } = open(files(40));
    await until(() => service.count('send') >= 8);
    service.failing.set('send', deaths['resets'] ?? failure('bug'));
    await pass(10 * minute);
    const states = store.states();
    expect(states.filter((state) => state === 'done').length).toBeGreaterThanOrEqual(4);
    // Records are created a little ahead, and no more.
    expect(states.filter((state) => state === 'queued').length).toBeGreaterThan(0);
  });

  test('of an upload host that begins under four uploads is met by no further one that waited for their slots', async () => {
    const { service, until, pass } = open(files(20));
    const { promise, resolve } = Promise.withResolvers<void>();
    service.uploadGate = promise;
    await until(() => service.sending === 4);
    await pass(5_000);
    const silent = { code: 'no_answer', inDoubt: true, retryAfterMs: minute };
    service.failing.set('send', failure('transient', silent));
    resolve();
    await pass(50_000);
    expect(service.count('send')).toBe(4);
  });

  test('of an upload host is checked again at once on request', async () => {
    const { conductor, clock, service, store, until, pass } = open(files(1));
    service.failing.set('send', deaths['resets'] ?? failure('bug'));
    await pass(hour);
    // Right after a try: the next one is a minute away.
    const tries = service.count('send');
    await until(() => service.count('send') > tries);
    service.failing.clear();
    const asked = clock.elapsed();
    conductor.probeNow();
    await until(() => store.row('f_0').uploadedAt !== null);
    expect(clock.elapsed() - asked).toBeLessThan(5_000);
  });

  test('is reported once at its beginning and once at its end', async () => {
    const { conductor, service, told, until, pass } = open(files(20));
    service.failing.set('send', deaths['resets'] ?? failure('bug'));
    await pass(hour);
    service.failing.clear();
    await until(() => conductor.isIdle());
    expect(told.map(({ type }) => type).filter((type) => type === 'paused' || type === 'resumed')).toEqual([
      'paused',
      'resumed',
    ]);
  });

  test('of one upload host keeps no file of another one waiting', async () => {
    const hosted = files(8).map((facts, n) => ({
      ...facts,
      videoId: `vid_${n}`,
      uploadUrl: `https://${n < 4 ? 'dead' : 'well'}.example/${n}`,
      createdAt: 1,
    }));
    const { store, service, until } = open(hosted);
    const { send } = service.host;
    for (const { videoId } of hosted) service.videos.set(videoId, { title: '', status: 'pending' });
    service.host.send = async (facts, hooks) =>
      facts.uploadUrl?.includes('dead') === true
        ? { ok: false, failure: deaths['resets'] ?? failure('bug') }
        : send(facts, hooks);
    await until(() =>
      store
        .states()
        .slice(4)
        .every((state) => state === 'done'),
    );
    expect(store.all.slice(0, 4).every(({ attempts }) => attempts === 0)).toBe(true);
  });
});

describe('a failure of one file alone', () => {
  test('costs it its attempts when the upload host takes other files, and holds none of them up', async () => {
    const { conductor, store, service, until, pass } = open(files(20));
    const { send } = service.host;
    service.host.send = async (facts, hooks) =>
      facts.id === 'f_3'
        ? { ok: false, failure: deaths['answers 502 with HTML'] ?? failure('bug') }
        : send(facts, hooks);
    await until(() => store.states().filter((state) => state === 'done').length === 19);
    expect(stateOf(store.row('f_3'))).not.toBe('done');
    // Each further file that the host takes proves that it is not the host.
    for (let n = 0; n < 30 && stateOf(store.row('f_3')) !== 'failed'; n += 1) {
      store.all.push(someFacts({ id: `g_${n}`, path: `g${n}.mp4`, version: { ...someVersion, size: 100 + n } }));
      await until(() => stateOf(store.row(`g_${n}`)) === 'done');
      await pass(10 * minute);
    }
    expect(stateOf(store.row('f_3'))).toBe('failed');
    expect(conductor.pause()).toBeNull();
  });

  test('costs it its attempts when the service answers all else', async () => {
    const { store, service, until } = open(files(3));
    const { create } = service.host;
    service.host.create = async (facts, ...rest) =>
      facts.id === 'f_1' ? { ok: false, failure: deaths['answers 503'] ?? failure('bug') } : create(facts, ...rest);
    await until(() => store.row('f_1').attempts >= 3, 1_000);
    await until(() => store.row('f_0').readyAt !== null && store.row('f_2').readyAt !== null);
  });
});

import { describe, expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import type { FakeHost } from './fake-host.ts';
import { hour, minute, outside, startCore } from './running-core.ts';
import { created, failure, someFacts, uploaded } from './some-facts.ts';

/** As a proxy answers whose service is being replaced, and as the adapter classes it. The upload host works. */
const wrong: Readonly<Record<string, Failure>> = {
  404: failure('gone', { status: 404 }),
  400: failure('permanent', { status: 400 }),
};

function answerAll({ failing, host }: FakeHost, status: string): void {
  const all = wrong[status] ?? failure('bug');
  for (const request of ['status', 'list', 'get', 'amend', 'publish feed_news']) failing.set(request, all);
  failing.set('create', { ...all, kind: status === '404' ? 'transient' : 'permanent' });
  failing.set('probe', status === '404' ? failure('suspended', { status: 404, code: 'no_service' }) : all);
  const { remove } = host;
  // What is not found needs no deletion.
  host.remove = (...asked) =>
    failing.size > 0 && status === '404' ? Promise.resolve({ ok: true, value: null }) : remove(...asked);
  if (status !== '404') failing.set('remove', all);
}

/** Where files may stand when it begins, and what the service has of them. */
const moments: Readonly<Record<string, Partial<Facts>>> = {
  'is new': {},
  'has a record': created,
  'was sent without an answer': { ...created, uploadStartedAt: 2, sha256: 'f_1' },
  'is in processing': { ...uploaded, sha256: 'f_1' },
  'has a record that is to be deleted': { ...created, uploadStartedAt: 2, dying: true },
  'waits for its feed': { ...uploaded, sha256: 'f_1', remoteStatus: 'ready', readyAt: 4 },
};

const matrix = Object.keys(wrong).flatMap((status) => Object.keys(moments).map((moment) => ({ status, moment })));

describe('a service that gives everything the same wrong answer for an hour', () => {
  test.each(matrix)('$status, while a file $moment, ends no file and forgets no video', async ({ status, moment }) => {
    const world = outside([someFacts(moments[moment])]);
    const { store, service } = world;
    if (store.row('f_1').videoId !== null) service.videos.set('vid_1', { title: 'Clip', status: 'pending' });
    if (store.row('f_1').sha256 !== null)
      service.videos.set('vid_1', {
        title: 'Clip',
        status: store.row('f_1').remoteStatus === 'ready' ? 'ready' : 'processing',
      });
    answerAll(service, status);
    const { conductor, until, pass } = startCore(world);
    await pass(hour);
    expect(store.row('f_1')).toMatchObject({ end: null, videoId: moments[moment]?.videoId ?? null });
    expect(store.row('f_1').attempts).toBe(0);
    expect(conductor.pause()).not.toBeNull();
    service.failing.clear();
    await pass(6 * minute);
    await until(() => stateOf(store.row('f_1')) === 'done');
    // One video, with the bytes; the one to be deleted is gone.
    expect([...service.videos.values()].map((video) => video.status)).toEqual(['ready']);
    expect(service.count('create')).toBeLessThanOrEqual(70);
  });
});

test('a video that is gone from a service that answers all else is believed to be gone', async () => {
  const { store, until } = startCore(outside([someFacts({ ...uploaded, sha256: 'f_1' })]));
  await until(() => stateOf(store.row('f_1')) === 'held');
});

test('a create request that may have been carried out stays a suspect when the service then refuses all else', async () => {
  const world = outside([someFacts()]);
  const { store, service } = world;
  service.failing.set('create', failure('transient', { code: 'ECONNRESET', inDoubt: true }));
  service.failing.set('probe', failure('suspended', { status: 404, code: 'no_service' }));
  const { until } = startCore(world);
  await until(() => store.row('f_1').lastFailure !== null);
  expect(store.row('f_1').suspects).toHaveLength(1);
});

import { expect, test } from 'vitest';
import { createDoubts } from '../../../src/pipeline/rounds/doubts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Answer, ListedPage, RemoteVideo } from '../../../src/pipeline/file/ports.ts';
import { rowsOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { created, failure, ready, someFacts } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const live = new AbortController().signal;
const askedAt = 1_000_000;
const pending = (id: string, other: Partial<RemoteVideo> = {}): RemoteVideo => ({
  id,
  title: 'Clip',
  status: 'pending',
  createdAt: askedAt,
  ...other,
});
/** Shows that the list has records without bytes. */
const other = pending('vid_other', { title: 'Another' });

/** A file with a create request in doubt, and a service with these videos. */
function open(videos: readonly RemoteVideo[], facts: Partial<Facts> = { suspects: ['t1'] }, perPage = 100) {
  const clock = new TestClock(askedAt);
  const store = new MemoryStore([someFacts(facts)], () => clock.now());
  const pages: number[] = [];
  const library = {
    videos,
    list: async (page: number): Promise<Answer<ListedPage>> => {
      pages.push(page);
      const value = { videos: library.videos.slice((page - 1) * perPage, page * perPage), perPage, total: null };
      return { ok: true, value };
    },
  };
  const rows = rowsOf(store);
  const doubts = createDoubts({ store, rows, library, clock });
  const run = async (hours = 4): Promise<void> => {
    for (let n = 0; n < hours * 60; n += 1) {
      clock.advance(60_000);
      await doubts.run(live);
    }
  };
  return { store, library, pages, rows, run };
}

test.for<[string, readonly RemoteVideo[]]>([
  ['no record of its title', [other]],
  ['one that has bytes', [other, pending('vid_9', { status: 'ready' })]],
  ['one that is much older', [other, pending('vid_9', { createdAt: askedAt - 86_400_000 })]],
  ['one that belongs to a file', [other, pending('vid_1')]],
])('a create request is no longer a suspect when the service has %s', async ([, videos]) => {
  const { store, run } = open(videos, { ...ready, ...created, suspects: ['t1'] });
  await run();
  expect(store.row()).toMatchObject({ suspects: [], videoId: 'vid_1' });
  expect(store.history.map(({ note }) => note)).toEqual([expect.stringContaining('no record of create request t1')]);
});

test('a request left by a crash is no longer a suspect either', async () => {
  const { store, run } = open([other], { intent: 't1' });
  await run();
  expect(store.row().intent).toBeNull();
});

test.for<[string, readonly RemoteVideo[], Partial<Facts>]>([
  ['has such a record', [pending('vid_9')], {}],
  ['has one without a title', [{ id: 'vid_9', status: 'pending' }], {}],
  ['lists nothing that is pending, so may list none of them', [pending('vid_9', { status: 'ready' })], {}],
  ['was asked for an import, which a person looks after', [other], { sourceUrl: 'https://example.com/a' }],
])('it stays one when the service %s', async ([, videos, facts]) => {
  const { store, run } = open(videos, { suspects: ['t1'], ...facts });
  await run(48);
  expect(store.row().suspects).toEqual(['t1']);
});

test('one look proves nothing: a record that shows up at the second keeps the suspect', async () => {
  const { store, library, pages, run } = open([other]);
  await run(1);
  await run(0.2);
  expect(pages).toEqual([1]);
  library.videos = [other, pending('vid_9')];
  await run(24);
  expect(store.row().suspects).toEqual(['t1']);
});

test('a list that cannot be read to its end proves nothing', async () => {
  const { store, library, run } = open([other]);
  library.list = async () => ({ ok: false, failure: failure('transient') });
  await run(24);
  expect(store.row().suspects).toEqual(['t1']);
});

test('the service is not asked without a doubt, nor soon after the request', async () => {
  const { pages, run } = open([other], {});
  await run(24);
  expect(pages).toEqual([]);
  const fresh = open([other]);
  await fresh.run(0.2);
  expect(fresh.pages).toEqual([]);
});

test('a long list is read seldom', async () => {
  const many = Array.from({ length: 40 }, (_, n) => pending(`vid_x${n}`, { title: 'Another' }));
  const { pages, store, run } = open([...many, pending('vid_9')], { suspects: ['t1'] }, 10);
  await run(24);
  expect(pages.length).toBeLessThan(5 * 24);
  expect(store.row().suspects).toEqual(['t1']);
});

test('it waits while a worker has the file', async () => {
  const { store, rows, run } = open([other]);
  await rows.claim('f_1', () => run());
  expect(store.row().suspects).toEqual(['t1']);
  await run();
  expect(store.row().suspects).toEqual([]);
});

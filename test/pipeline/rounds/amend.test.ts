import { describe, expect, test } from 'vitest';
import { createAmend } from '../../../src/pipeline/rounds/amend.ts';
import type { AmendWorld } from '../../../src/pipeline/rounds/amend.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { recordingEvents, rowsOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { failure, ready, someFacts, somePlan } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const live = new AbortController().signal;

function open(rows: readonly Facts[]) {
  const clock = new TestClock();
  const store = new MemoryStore(rows);
  const amended: object[] = [];
  const busy = new Set<string>();
  const host: AmendWorld['host'] = {
    amend: async ({ amendment }) => {
      amended.push(amendment ?? {});
      return { ok: true, value: null };
    },
  };
  const events = recordingEvents();
  const { claim } = rowsOf(store);
  const round = createAmend({
    store,
    rows: { claim, isHeld: (id) => busy.has(id) },
    clock,
    host,
    events,
    retry: () => ({ attempts: 3, firstMs: 1_000, maxMs: 1_000 }),
  });
  return { clock, store, host, amended, busy, told: events.told, amend: () => round.run(live) };
}

describe('late metadata', () => {
  const changed = someFacts({ ...ready, amendment: { title: 'Late' } });

  test('is sent once', async () => {
    const { amend, amended, store } = open([changed]);
    await amend();
    await amend();
    expect(amended).toEqual([{ title: 'Late' }]);
    expect(store.row().amendment).toBeNull();
  });

  // Its finished file may be read for minutes before it is put away; each sending is a request.
  test('waits while the file is worked on, and is then sent once', async () => {
    const { amend, amended, store, busy } = open([changed]);
    busy.add('f_1');
    for (let n = 0; n < 3; n += 1) await amend();
    expect(amended).toEqual([]);
    busy.clear();
    await amend();
    await amend();
    expect([amended, store.row().amendment]).toEqual([[{ title: 'Late' }], null]);
  });

  test('that changes again during the request is sent again', async () => {
    const { amend, host, store } = open([changed]);
    host.amend = async () => {
      await store.save({ ...store.row(), amendment: { title: 'Later' } });
      return { ok: true, value: null };
    };
    await amend();
    expect(store.row().amendment).toEqual({ title: 'Later' });
  });

  test('that the service refuses is dropped', async () => {
    const { amend, host, store } = open([changed]);
    host.amend = async () => ({ ok: false, failure: failure('permanent') });
    await amend();
    expect(store.row().amendment).toBeNull();
    expect(store.history.at(-1)?.note).toMatch(/refused: it was permanent$/);
  });

  test('waits between attempts: each costs a request', async () => {
    const { amend, host, clock, store } = open([changed]);
    let asked = 0;
    host.amend = async () => {
      asked += 1;
      return { ok: false, failure: failure('transient', { status: 500, retryAfterMs: 60_000 }) };
    };
    for (let second = 0; second < 30; second += 1) {
      await amend();
      clock.advance(1_000);
    }
    expect(asked).toBe(1);
    clock.advance(120_000);
    await amend();
    clock.advance(60_000);
    await amend();
    expect([asked, store.row().amendment]).toEqual([3, { title: 'Late' }]);
  });

  test('is kept however often the service fails, and the failures are reported once', async () => {
    const { amend, host, store, clock, told } = open([changed]);
    host.amend = async () => ({ ok: false, failure: failure('transient', { message: 'the service answered 502' }) });
    for (let n = 0; n < 10; n += 1) {
      await amend();
      clock.advance(1_000);
    }
    expect(store.row().amendment).toEqual({ title: 'Late' });
    expect(told).toMatchObject([
      { type: 'refusal', why: 'the new metadata failed 3 times and is still retried: the service answered 502' },
    ]);
  });

  test('of one video that is refused does not claim up the others', async () => {
    const rows = Array.from({ length: 12 }, (_, n) => ({ ...changed, id: `f_${n}`, videoId: `vid_${n}` }));
    const { amend, host, store } = open(rows);
    host.amend = async ({ videoId }) =>
      Number(videoId?.slice(4)) < 10 ? { ok: false, failure: failure('transient') } : { ok: true, value: null };
    await amend();
    await amend();
    expect(store.all.filter(({ amendment }) => amendment === null)).toHaveLength(2);
  });
});

describe('the feeds of a video with new metadata', () => {
  const published = { published: { feed_news: 5 } } as const;

  test('are published again once it is sent: those that have the video', async () => {
    const { amend, store } = open([someFacts({ ...ready, ...published, end: 'done', amendment: { title: 'Late' } })]);
    await amend();
    expect(await store.feedsDue()).toMatchObject([{ feed: 'feed_news', isNow: false }]);
  });

  test('are not noted for a video that is published for the first time anyway', async () => {
    const { amend, store } = open([someFacts({ ...ready, amendment: { title: 'Late' } })]);
    await amend();
    expect(await store.feedsDue()).toEqual([]);
  });

  test('are published without a request for metadata when only they changed', async () => {
    const plan = { ...somePlan, publish: ['feed_news', 'feed_tv'] };
    const { amend, amended, store } = open([someFacts({ ...ready, ...published, plan, end: 'done', amendment: {} })]);
    await amend();
    expect((await store.feedsDue()).map(({ feed }) => feed)).toEqual(['feed_news', 'feed_tv']);
    expect([amended, store.row().amendment]).toEqual([[], null]);
  });

  test('are noted before the row forgets what it had to send: a crash in between repeats both', async () => {
    const { amend, store } = open([someFacts({ ...ready, ...published, end: 'done', amendment: { title: 'Late' } })]);
    const noted: unknown[] = [];
    const note = store.noteFeedDue.bind(store);
    store.noteFeedDue = async (feed, at, isNow) => {
      noted.push(store.row().amendment);
      return note(feed, at, isNow);
    };
    await amend();
    expect(noted).toEqual([{ title: 'Late' }]);
  });

  test('stay as they are when the service refuses the metadata, which is reported', async () => {
    const { amend, host, store, told } = open([
      someFacts({ ...ready, ...published, end: 'done', amendment: { title: 'Late' } }),
    ]);
    host.amend = async () => ({ ok: false, failure: failure('permanent') });
    await amend();
    expect(await store.feedsDue()).toEqual([]);
    expect(told.filter(({ type }) => type === 'refusal')).toHaveLength(1);
  });
});

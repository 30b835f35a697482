import { describe, expect, test } from 'vitest';
import { adoptionOf, confirmAdoption } from '../../../src/daemon/commands/adopt.ts';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import { markerOf } from '../../../src/pipeline/file/marker.ts';
import type { FileEvent } from '../../../src/pipeline/file/machine.ts';
import type { Answer, ListedPage, RemoteVideo } from '../../../src/pipeline/file/ports.ts';
import { leftFromBefore } from '../../../src/pipeline/file/reasons.ts';
import { createAdopt } from '../../../src/pipeline/rounds/adopt.ts';
import { after, rowsOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { failure, ready, someFacts, somePlan } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const reason = leftFromBefore.adopt;

const old = (id: string, title = id): Facts =>
  someFacts({
    id,
    path: `${id}.mp4`,
    plan: { ...somePlan, title },
    end: 'held',
    why: reason.message,
    endedAt: 1,
    lastFailure: reason,
  });

const hosted = (id: string, title: string, other: Partial<RemoteVideo> = {}): RemoteVideo => ({
  id,
  title,
  status: 'ready',
  duration: 60,
  ...other,
});

const perPage = 2;

function open(rows: readonly Facts[], videos: RemoteVideo[]) {
  const clock = new TestClock();
  const store = new MemoryStore(rows);
  const pages: number[] = [];
  const asked: string[] = [];
  const world = {
    isArchiveSeen: true,
    saysTotal: true,
    isMarking: true,
    /** Tags of a video, by its id; otherwise none. */
    tags: {} as Record<string, readonly string[]>,
    refusedTags: null as Failure | null,
    /** Instead of the page of that number. */
    refusal: null as Answer<ListedPage> | null,
    /** Happens before a page is read. */
    onPage: (_page: number): void => undefined,
    duration: (_path: string): number | null => 60,
  };
  const make = () =>
    createAdopt({
      store,
      rows: rowsOf(store),
      clock,
      retry: () => ({ attempts: 3, firstMs: 1_000, maxMs: 60_000 }),
      library: {
        get: async (id) => {
          asked.push(id);
          if (world.refusedTags !== null) return { ok: false, failure: world.refusedTags };
          const video = videos.find((each) => each.id === id);
          if (video === undefined) return { ok: false, failure: failure('gone') };
          return { ok: true, value: { ...video, tags: world.tags[id] ?? [] } };
        },
        list: async (page) => {
          world.onPage(page);
          pages.push(page);
          if (world.refusal !== null) return world.refusal;
          const listed = videos.slice((page - 1) * perPage, page * perPage);
          return { ok: true, value: { videos: listed, perPage, total: world.saysTotal ? videos.length : null } };
        },
      },
      isMarking: () => world.isMarking,
      durationOf: async ({ path }) => world.duration(path),
      isArchiveSeen: () => world.isArchiveSeen,
      failed: async (refused) => refused,
    });
  let adopt = make();
  const { signal } = new AbortController();
  return {
    clock,
    store,
    world,
    pages,
    asked,
    videos,
    run: () => adopt.run(signal),
    restart: () => (adopt = make()),
    progress: () => adopt.progress(),
    /** Id → whether it is sure, and of how many videos. */
    found: () =>
      Object.fromEntries(
        store.all.map(({ id, lastFailure }) => {
          const likeness = lastFailure?.likeness;
          return [
            id,
            likeness === undefined ? null : likeness.isSure ? likeness.videos[0]?.id : likeness.videos.length,
          ];
        }),
      ),
    confirm: () =>
      confirmAdoption(store, async (id, event) => {
        const before = store.row(id);
        const now = after(before, event, { attempts: 3, retryAt: () => 0, now: () => 77 });
        await store.save(now);
        return JSON.stringify(now) === JSON.stringify(before) ? 'ignored' : 'applied';
      }),
  };
}

const fifty = Array.from({ length: 5 }, (_, n) => hosted(`vid_${n}`, `other ${n}`));

describe('files that were there before', () => {
  test('are compared with all videos of the service, each page once', async () => {
    const { run, pages, found, store } = open(
      [old('a'), old('b'), old('c')],
      [...fifty, hosted('vid_a', 'A'), hosted('vid_c', 'c', { duration: 63 })],
    );
    await run();
    expect(pages).toEqual([1, 2, 3, 4]);
    expect(found()).toEqual({ a: 'vid_a', b: 0, c: 1 });
    expect(store.all.map(({ why }) => why)).toEqual([
      'the service already has it as vid_a; `dropcast adopt --confirm` adopts that video',
      'the service does not have it; `dropcast adopt --confirm` uploads it',
      'the service may already have it (vid_c): the durations differ by 3.0 s; `dropcast retry` uploads it',
    ]);
    await run();
    expect(pages).toHaveLength(4);
    expect(await store.listing()).toBeNull();
  });

  test('are compared to the empty page where the service does not say how many there are', async () => {
    const { run, world, pages, found } = open([old('a')], [...fifty, hosted('vid_a', 'a')]);
    world.saysTotal = false;
    await run();
    expect([pages, found()]).toEqual([[1, 2, 3, 4], { a: 'vid_a' }]);
  });

  test('cost no request where there are none, or while their folders are still read', async () => {
    const none = open([someFacts()], fifty);
    await none.run();
    const { run, world, pages } = open([old('a')], fifty);
    world.isArchiveSeen = false;
    await run();
    expect([none.pages, pages]).toEqual([[], []]);
  });

  test('are compared further after a restart, and no page is read again', async () => {
    const { run, world, pages, restart, clock, progress, found } = open([old('a')], [...fifty, hosted('vid_a', 'a')]);
    world.onPage = (page) => {
      world.refusal = page === 3 ? { ok: false, failure: failure('offline') } : null;
    };
    await run();
    expect(pages).toEqual([1, 2, 3]);
    expect(progress()).toEqual({ videos: 6, share: 4 / 6 });
    world.onPage = () => undefined;
    world.refusal = null;
    await run();
    expect(pages).toHaveLength(3);
    clock.advance(120_000);
    restart();
    await run();
    expect([pages, found(), progress()]).toEqual([[1, 2, 3, 3], { a: 'vid_a' }, null]);
  });

  test('miss no video although others are deleted while the list is read', async () => {
    const videos = [...fifty, hosted('vid_a', 'a')];
    const { run, world, found } = open([old('a')], videos);
    // It moves from page 3 to page 2, which was read.
    world.onPage = (page) => void (page === 3 && videos.length === 6 && videos.splice(0, 2));
    await run();
    expect(found()).toEqual({ a: 'vid_a' });
  });

  test('are not taken for the video of another file of ours', async () => {
    const { run, found } = open([old('a'), someFacts({ ...ready, id: 'x', videoId: 'vid_a' })], [hosted('vid_a', 'a')]);
    await run();
    expect(found()).toMatchObject({ a: 0 });
  });

  test('are compared without another request once a step gives their row back', async () => {
    const { run, store, pages, found, progress } = open([old('a'), old('b')], [...fifty, hosted('vid_a', 'a')]);
    store.claimed.add('a');
    for (let n = 0; n < 10; n += 1) await run();
    expect([pages, found()]).toEqual([[1, 2, 3], { a: null, b: 0 }]);
    store.claimed.delete('a');
    await run();
    expect([pages, found(), progress()]).toEqual([[1, 2, 3], { a: 'vid_a', b: 0 }, null]);
    expect(await store.listing()).toBeNull();
  });

  describe('with markers', () => {
    const twice = [hosted('vid_1', 'a'), hosted('vid_2', 'a'), hosted('vid_b', 'b', { duration: 63 })];

    test('are recognised where titles and durations leave a doubt', async () => {
      const { run, found, asked, world } = open([old('a'), old('b'), old('c')], twice);
      world.tags = { vid_2: ['news', markerOf(old('a'))], vid_b: [markerOf(old('b'))] };
      await run();
      expect(found()).toEqual({ a: 'vid_2', b: 'vid_b', c: 0 });
      expect(asked).toEqual(['vid_1', 'vid_2', 'vid_b']);
    });

    test('stay unclear where no video has the marker, and where two files have the same', async () => {
      const same = someFacts({ ...old('other', 'a'), path: 'copy/a.mp4' });
      const { run, found, store, world } = open([old('a'), same, old('b')], twice);
      world.tags = { vid_2: [markerOf(old('a'))] };
      await run();
      expect(found()).toEqual({ a: 'vid_2', other: 'vid_2', b: 1 });
      const { files } = await adoptionOf(store, null);
      expect(files.map(({ verdict }) => verdict)).toEqual(['unclear', 'unclear', 'unclear']);
    });

    test('are asked for nothing while service.marker is off', async () => {
      const { run, found, asked, world } = open([old('a')], twice);
      world.tags = { vid_2: [markerOf(old('a'))] };
      world.isMarking = false;
      await run();
      expect(found()).toEqual({ a: 2 });
      expect(asked).toEqual([]);
    });

    test('that are not ready, or gone, are adopted by no file', async () => {
      const { run, found, world, videos } = open([old('a')], [...twice]);
      world.tags = { vid_1: [markerOf(old('a'))] };
      videos[0] = hosted('vid_1', 'a', { status: 'processing' });
      world.onPage = () => void videos.splice(1, 1);
      await run();
      expect(found()).toEqual({ a: 1 });
    });

    test('wait when a request for tags is refused, and are compared later', async () => {
      const { run, found, clock, world } = open([old('a')], twice);
      world.tags = { vid_2: [markerOf(old('a'))] };
      world.refusedTags = failure('transient');
      await run();
      expect(found()).toEqual({ a: null });
      world.refusedTags = null;
      clock.advance(60_000);
      await run();
      expect(found()).toEqual({ a: 'vid_2' });
    });
  });

  test('are asked about again only after a wait when the service lists nothing', async () => {
    const { run, world, pages, clock } = open([old('a')], fifty);
    world.refusal = { ok: false, failure: failure('permanent') };
    for (let n = 0; n < 10; n += 1) await run();
    expect(pages).toHaveLength(1);
    clock.advance(120_000);
    await run();
    expect(pages).toHaveLength(2);
  });
});

describe('a confirmation', () => {
  const three = () =>
    open([old('a'), old('b'), old('c')], [hosted('vid_a', 'a'), hosted('vid_c', 'c', { duration: 63 })]);

  test('does nothing before every file was compared', async () => {
    const { confirm, store } = three();
    expect(await confirm()).toMatchObject({ adopted: 0, uploading: 0, waiting: 3 });
    expect(store.states()).toEqual(['held', 'held', 'held']);
  });

  test('adopts what is hosted, uploads what is not, and leaves the rest to a person', async () => {
    const { run, confirm, store } = three();
    await run();
    expect(await confirm()).toEqual({ v: 1, adopted: 1, uploading: 1, unclear: 1, waiting: 0 });
    expect(store.states()).toEqual(['processing', 'queued', 'held']);
    expect(store.row('a')).toMatchObject({ videoId: 'vid_a', lastFailure: null, endedAt: null });
    expect(store.row('a').why).toBe('adopted; dropcast checks once more that the service has the video');
  });

  const policy = { attempts: 3, retryAt: () => 0, now: () => 99 };
  const asked = async () => {
    const { run, confirm, store, found, pages } = three();
    await run();
    await confirm();
    return { run, store, found, pages, hear: (event: FileEvent) => store.save(after(store.row('a'), event, policy)) };
  };

  test('is carried out once the service says that it has the video, and no feed is published for it', async () => {
    const { store, hear } = await asked();
    await hear({ type: 'REMOTE_STATUS', status: 'ready' });
    expect(stateOf(store.row('a'))).toBe('done');
    expect(store.row('a')).toMatchObject({ remoteStatus: 'ready', why: null, lastFailure: null, endedAt: 99 });
    expect(await store.waiting()).toEqual([]);
  });

  test.each<[string, FileEvent]>([
    ['was deleted', { type: 'REMOTE_GONE' }],
    ['failed', { type: 'REMOTE_STATUS', status: 'failed' }],
    ['has no bytes any longer', { type: 'REMOTE_STATUS', status: 'pending' }],
    ['is not heard of', { type: 'GIVE_UP' }],
  ])('adopts no video that %s since it was compared: its file is compared again', async (_what, event) => {
    const { run, store, hear, found, pages } = await asked();
    await hear(event);
    expect(store.row('a')).toMatchObject({
      end: 'held',
      why: 'the service no longer has its video ready: the file is compared again',
      videoId: null,
      uploadedAt: null,
      disposal: null,
    });
    expect((await adoptionOf(store, null)).files[0]).toMatchObject({ id: 'a', verdict: 'waiting' });
    await run();
    expect([found()['a'], pages.length]).toEqual(['vid_a', 2]);
  });

  test('gives a video to no two files, although each was the only one when it was compared', async () => {
    const { run, confirm, store } = open([old('a')], [hosted('vid_a', 'a')]);
    await run();
    store.all.push({ ...old('b'), path: 'later/a.mp4' });
    await run();
    expect(store.all.map(({ lastFailure }) => lastFailure?.likeness?.isSure)).toEqual([true, true]);
    expect((await adoptionOf(store, null)).files.map(({ verdict }) => verdict)).toEqual(['unclear', 'unclear']);
    expect(await confirm()).toMatchObject({ adopted: 0, unclear: 2 });
  });

  test('deletes or moves no local file of what it adopts, because the bytes were not compared', async () => {
    const { run, confirm, store } = open([{ ...old('a'), afterReady: { kind: 'delete' } }], [hosted('vid_a', 'a')]);
    await run();
    await confirm();
    expect(store.row('a').disposal).toBe('kept');
    expect(await store.rows({ group: 'to put away', limit: 9 })).toEqual([]);
  });

  test('changes nothing when it is repeated', async () => {
    const { run, confirm, store } = three();
    await run();
    await confirm();
    const before = store.all.map(stateOf);
    expect(await confirm()).toEqual({ v: 1, adopted: 0, uploading: 0, unclear: 1, waiting: 0 });
    expect(store.all.map(stateOf)).toEqual(before);
  });

  test('leaves an adopted video alone when its local file goes or changes', async () => {
    const { run, confirm, store } = three();
    await run();
    await confirm();
    for (const type of ['FILE_GONE', 'FILE_CHANGED'] as const)
      expect(after(store.row('a'), { type }, { attempts: 3, retryAt: () => 0, now: () => 99 })).toEqual(store.row('a'));
    expect(
      await store.rows({ group: 'abandoned', ends: ['superseded', 'vanished', 'held', 'failed'], limit: 9 }),
    ).toEqual([]);
  });
});

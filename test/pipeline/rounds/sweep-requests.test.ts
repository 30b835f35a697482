import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import type { Answer, ListedPage, RemoteVideo, VideoLibrary } from '../../../src/pipeline/file/ports.ts';
import type { SweepAllowance } from '../../../src/pipeline/rounds/sweep-requests.ts';
import { createSweepRequests } from '../../../src/pipeline/rounds/sweep-requests.ts';
import { failure, someFacts, uploaded } from '../some-facts.ts';

const live = new AbortController().signal;

const ask = (library: Pick<VideoLibrary, 'list' | 'get'>, files: readonly Facts[], allowance?: SweepAllowance) =>
  createSweepRequests(library).ask(files, live, allowance);

/** A library of so many videos, the one with the highest number created last; it notes what it is asked. */
class Library implements Pick<VideoLibrary, 'list' | 'get'> {
  readonly asked: string[] = [];
  readonly videos: readonly RemoteVideo[];
  readonly #total: boolean;
  readonly #perPage: number;
  failing: string | null = null;

  constructor(options: {
    count: number;
    order: 'newest first' | 'oldest first' | 'none';
    total?: boolean;
    perPage?: number;
    hidden?: readonly string[];
  }) {
    const videos = Array.from({ length: options.count }, (_, n) => videoOf(n)).filter(
      ({ id }) => !(options.hidden ?? []).includes(id),
    );
    if (options.order === 'newest first') videos.reverse();
    if (options.order === 'none') videos.sort((one, other) => one.id.localeCompare(other.id));
    this.videos = videos;
    this.#total = options.total ?? true;
    this.#perPage = options.perPage ?? 100;
  }

  list(page: number): Promise<Answer<ListedPage>> {
    this.asked.push(`page ${page}`);
    if (this.failing === `page ${page}`) return Promise.resolve({ ok: false, failure: failure('transient') });
    const perPage = this.#perPage;
    const videos = this.videos.slice(perPage * (page - 1), perPage * page);
    return Promise.resolve({ ok: true, value: { videos, perPage, total: this.#total ? this.videos.length : null } });
  }

  get(id: string): Promise<Answer<RemoteVideo>> {
    this.asked.push(id);
    const found = this.videos.find((video) => video.id === id);
    return Promise.resolve(found === undefined ? { ok: false, failure: failure('gone') } : { ok: true, value: found });
  }
}

function videoOf(n: number): RemoteVideo {
  return { id: `vid_${n}`, status: 'ready', createdAt: 1_000 + n };
}

function processing(...numbers: readonly number[]): Facts[] {
  return numbers.map((n) => someFacts({ ...uploaded, id: `f_${n}`, videoId: `vid_${n}` }));
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

describe('a sweep', () => {
  test('asks for a single video by its id', async () => {
    const library = new Library({ count: 500, order: 'newest first' });
    const { seen, requests } = await ask(library, processing(3));
    expect(library.asked).toEqual(['vid_3']);
    expect([...seen.keys()]).toEqual(['vid_3']);
    expect(requests).toBe(1);
  });

  test('finds the newest on the first page', async () => {
    const library = new Library({ count: 500, order: 'newest first' });
    const { seen, gone } = await ask(library, processing(...range(440, 500)));
    expect(library.asked).toEqual(['page 1']);
    expect(seen.size).toBe(60);
    expect(gone).toEqual([]);
  });

  test('learns that the oldest come first, and reads from the other end', async () => {
    const library = new Library({ count: 450, order: 'oldest first' });
    const { seen } = await ask(library, processing(...range(300, 450)));
    expect(library.asked).toEqual(['page 1', 'page 5', 'page 4']);
    expect(seen.size).toBe(150);
  });

  test('reads on over a last page that holds none of ours', async () => {
    const library = new Library({ count: 401, order: 'oldest first' });
    const { seen } = await ask(library, processing(...range(350, 400)));
    expect(library.asked).toEqual(['page 1', 'page 5', 'page 4']);
    expect(seen.size).toBe(50);
  });

  test('stops at a page without any of ours behind one with ours, and asks for the rest by id', async () => {
    const library = new Library({ count: 1_000, order: 'newest first' });
    const { seen, requests } = await ask(library, processing(999, 998, 997, 3, ...range(700, 790)));
    expect(library.asked.slice(0, 2)).toEqual(['page 1', 'page 2']);
    expect(library.asked.slice(2)).toHaveLength(5);
    expect(seen.has('vid_3')).toBe(true);
    expect(requests).toBe(7);
  });

  test('follows the size of the pages that the service gives', async () => {
    const library = new Library({ count: 450, order: 'oldest first', perPage: 50 });
    const { seen } = await ask(library, processing(...range(380, 450)));
    expect(library.asked).toEqual(['page 1', 'page 9', 'page 8']);
    expect(seen.size).toBe(70);
  });

  test('asks why a video failed when the list does not say, for as many as the budget is good for', async () => {
    const library = new Library({ count: 100, order: 'newest first' });
    const failed = library.videos.map((video) => ({ ...video, status: 'failed' }));
    library.list = () => Promise.resolve({ ok: true, value: { videos: failed, perPage: 100, total: 100 } });
    library.get = (id) =>
      Promise.resolve({ ok: true, value: { id, status: 'failed', message: `${id} has no picture` } });
    const few = await ask(library, processing(1, 2));
    expect([...few.seen.values()].map(({ message }) => message)).toEqual([
      'vid_2 has no picture',
      'vid_1 has no picture',
    ]);
    expect(few.requests).toBe(3);
    const all = await ask(library, processing(...range(0, 100)), { pages: Infinity, singles: 20 });
    expect([all.seen.size, all.requests, all.reasons]).toEqual([100, 21, 20]);
    library.get = () => Promise.resolve({ ok: false, failure: failure('gone') });
    expect((await ask(library, processing(1, 2))).seen.get('vid_1')).toMatchObject({ status: 'failed' });
    library.get = () => Promise.resolve({ ok: false, failure: failure('transient') });
    expect((await ask(library, processing(1, 2))).failure).toMatchObject({ kind: 'transient' });
  });

  test('does without a total', async () => {
    const library = new Library({ count: 250, order: 'newest first', total: false });
    const { seen } = await ask(library, processing(...range(100, 250)));
    expect(library.asked).toEqual(['page 1', 'page 2']);
    expect(seen.size).toBe(150);
  });

  test('reads few pages for few videos that no page shows', async () => {
    const library = new Library({ count: 1_000, order: 'newest first', hidden: ['vid_7', 'vid_8'] });
    await ask(library, processing(7, 8));
    expect(library.asked).toEqual(['page 1', 'page 2', 'page 3', 'vid_7', 'vid_8']);
  });

  test('treats a video as deleted only after asking for it by id', async () => {
    const library = new Library({ count: 50, order: 'newest first', hidden: ['vid_7'] });
    const { seen, gone } = await ask(library, processing(6, 7));
    expect(library.asked).toEqual(['page 1', 'vid_7']);
    expect([[...seen.keys()], gone]).toEqual([['vid_6'], ['vid_7']]);
  });

  test('lets the videos that no page shows take turns', async () => {
    const library = new Library({ count: 20, order: 'newest first' });
    library.list = () => Promise.resolve({ ok: true, value: { videos: [], perPage: 100, total: 0 } });
    const all = new Set<string>();
    const requests = createSweepRequests(library);
    for (let round = 0; round < 3; round += 1) {
      const { seen } = await requests.ask(processing(...range(0, 12)), live);
      expect(seen.size).toBe(5);
      for (const id of seen.keys()) all.add(id);
    }
    expect(all.size).toBe(12);
  });

  test('keeps what it has seen when a later page fails, and asks for the rest by id', async () => {
    const library = new Library({ count: 300, order: 'newest first' });
    library.failing = 'page 2';
    const { seen, failure: why, listFailure, requests } = await ask(library, processing(...range(150, 300)));
    expect([seen.size, why, listFailure?.kind, requests]).toEqual([120, null, 'transient', 22]);
  });
});

describe('without a list', () => {
  /** Answers for single videos, and fails every page. */
  function broken(why: Failure, count = 50): Library {
    const library = new Library({ count, order: 'newest first' });
    library.list = (page) => {
      library.asked.push(`page ${page}`);
      return Promise.resolve({ ok: false, failure: why });
    };
    return library;
  }

  test.each([
    ['500', failure('transient', { status: 500, inDoubt: true })],
    ['404', failure('gone', { status: 404 })],
    ['400', failure('permanent', { status: 400 })],
    ['no answer in time', failure('transient', { inDoubt: true, code: 'timeout' })],
    ['HTML', failure('transient', { status: 200, inDoubt: true, code: 'unreadable_answer' })],
  ])('that fails with %s, the oldest are asked for by id, and all in turn', async (_name, why) => {
    const library = broken(why);
    const requests = createSweepRequests(library);
    const first = await requests.ask(processing(...range(0, 50)), live);
    expect([...first.seen.keys()]).toEqual(range(0, 20).map((n) => `vid_${n}`));
    expect([first.failure, first.listFailure]).toEqual([null, why]);
    // Two have ended meanwhile: nobody loses a turn by it.
    const rest = processing(...range(2, 50));
    const second = await requests.ask(rest, live);
    expect([...second.seen.keys()]).toEqual(range(20, 40).map((n) => `vid_${n}`));
    const third = await requests.ask(rest, live);
    expect([...third.seen.keys()]).toEqual(expect.arrayContaining(range(40, 50).map((n) => `vid_${n}`)));
  });

  test.each([failure('offline'), failure('suspended', { status: 401 }), failure('throttled', { status: 429 })])(
    'because everything is $kind, no further request is sent',
    async (why) => {
      const library = broken(why);
      const { failure: found, requests } = await ask(library, processing(1, 2, 3));
      expect([found, requests]).toEqual([why, 1]);
    },
  );

  test('and without two single videos it is the whole service: no further request is sent', async () => {
    const library = broken(failure('transient', { status: 502 }));
    library.get = () => Promise.resolve({ ok: false, failure: failure('transient', { status: 503 }) });
    const { failure: found, requests } = await ask(library, processing(...range(0, 50)));
    expect([found?.status, requests]).toEqual([503, 3]);
  });

  test('one video without a status from the service delays no other', async () => {
    const library = broken(failure('transient', { status: 500 }));
    const { get } = library;
    library.get = (id) =>
      id === 'vid_0'
        ? Promise.resolve({ ok: false, failure: failure('transient', { status: 500 }) })
        : get.call(library, id);
    const { seen, unanswered, failure: found } = await ask(library, processing(...range(0, 5)));
    expect([[...seen.keys()], [...unanswered], found]).toEqual([['vid_1', 'vid_2', 'vid_3', 'vid_4'], ['vid_0'], null]);
  });
});

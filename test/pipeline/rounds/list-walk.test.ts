import { describe, expect, test } from 'vitest';
import type { Answer, ListedPage, RemoteVideo } from '../../../src/pipeline/file/ports.ts';
import { ListWalk } from '../../../src/pipeline/rounds/list-walk.ts';

const live = new AbortController().signal;
type Order = 'newest first' | 'oldest first';

/** A library of so many videos, in pages of 100, where others come and go between two pages. */
function libraryOf(count: number, order: Order) {
  const videos: RemoteVideo[] = Array.from({ length: count }, (_, n) => videoOf(n));
  const asked: number[] = [];
  let between: () => void = () => undefined;
  return {
    asked,
    videos,
    /** Done once, after the next page was read. */
    meanwhile: (deed: () => void): void => {
      between = deed;
    },
    list: async (page: number): Promise<Answer<ListedPage>> => {
      asked.push(page);
      const all = order === 'newest first' ? videos.toReversed() : videos;
      const value = { videos: all.slice(100 * (page - 1), 100 * page), perPage: 100, total: videos.length };
      const deed = between;
      between = () => undefined;
      deed();
      return { ok: true, value };
    },
  };
}

function videoOf(n: number): RemoteVideo {
  return { id: `vid_${n}`, status: 'ready', createdAt: 1_000 + n };
}

const ids = (from: number, to: number): Set<string> =>
  new Set(Array.from({ length: to - from }, (_, n) => `vid_${from + n}`));
const orders: readonly Order[] = ['newest first', 'oldest first'];

describe.each(orders)('of 10,000 videos, %s', (order) => {
  test('the newest 500 cost five pages, and one more only until the order is known', async () => {
    const library = libraryOf(10_000, order);
    const walk = new ListWalk();
    const first = await walk.read(ids(9_500, 10_000), library, live, Infinity);
    expect([first.found.length, first.unseen]).toEqual([500, []]);
    expect(first.requests).toBe(order === 'newest first' ? 5 : 6);
    const second = await walk.read(ids(9_500, 10_000), library, live, Infinity);
    expect([second.found.length, second.requests]).toEqual([500, 5]);
  });

  test('one page at a time finds the same', async () => {
    const library = libraryOf(10_000, order);
    const walk = new ListWalk();
    const found = new Set<string>();
    let turns = 0;
    for (let isOver = false; !isOver; turns += 1) {
      const walked = await walk.read(ids(9_500, 10_000), library, live, 1);
      expect(walked.requests).toBe(1);
      for (const { id } of walked.found) found.add(id);
      isOver = walked.unseen !== null;
    }
    expect([found.size, turns]).toEqual([500, order === 'newest first' ? 5 : 6]);
  });

  test.each([
    ['the newest is deleted', (videos: RemoteVideo[]): void => void videos.pop()],
    ['one in the middle of ours is deleted', (videos: RemoteVideo[]): void => void videos.splice(9_750, 1)],
    ['300 old ones are deleted', (videos: RemoteVideo[]): void => void videos.splice(0, 300)],
    [
      '300 others are created',
      (videos: RemoteVideo[]) => {
        for (let n = 0; n < 300; n += 1) videos.push({ ...videoOf(10_000 + n), id: `other_${n}` });
      },
    ],
  ] as const)('between two pages %s: next time at the latest all that are there are seen', async (_name, deed) => {
    const library = libraryOf(10_000, order);
    const walk = new ListWalk();
    const wanted = ids(9_500, 10_000);
    const seen = new Set<string>();
    library.meanwhile(() => deed(library.videos));
    for (let round = 0; round < 2; round += 1) {
      const walked = await walk.read(wanted, library, live, Infinity);
      expect(walked.requests).toBeLessThanOrEqual(9);
      for (const { id } of walked.found) seen.add(id);
    }
    const there = library.videos.filter(({ id }) => wanted.has(id)).map(({ id }) => id);
    expect(there.filter((id) => !seen.has(id))).toEqual([]);
  });

  test('one page alone can be read, as far behind the newest as the oldest of ours should be', async () => {
    const library = libraryOf(10_000, order);
    const walk = new ListWalk();
    await walk.read(ids(9_999, 10_000), library, live, Infinity);
    const { found, requests } = await walk.glance(ids(9_500, 10_000), library, live, 4);
    expect([found.length, requests]).toEqual([100, 1]);
    expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(['vid_9500', 'vid_9599']));
  });

  test('the list may get shorter or longer by pages from round to round', async () => {
    const library = libraryOf(10_000, order);
    const walk = new ListWalk();
    await walk.read(ids(9_950, 10_000), library, live, Infinity);
    library.videos.splice(0, 5_000);
    expect((await walk.read(ids(9_950, 10_000), library, live, Infinity)).found).toHaveLength(50);
    for (let n = 10_000; n < 10_250; n += 1) library.videos.push(videoOf(n));
    const { found, requests } = await walk.read(ids(10_000, 10_250), library, live, Infinity);
    expect(found).toHaveLength(250);
    expect(requests).toBeLessThanOrEqual(4);
  });
});

test('an order that changes is learnt anew', async () => {
  const walk = new ListWalk();
  await walk.read(ids(950, 1_000), libraryOf(1_000, 'oldest first'), live, Infinity);
  const other = libraryOf(1_000, 'newest first');
  expect((await walk.read(ids(950, 1_000), other, live, Infinity)).found).toHaveLength(50);
  expect(other.asked).toEqual([10, 1]);
});

test('a round in parts does not take for unseen what an earlier part showed', async () => {
  const library = libraryOf(300, 'newest first');
  const walk = new ListWalk();
  const wanted = new Set([...ids(100, 300), 'vid_unknown']);
  const parts = [];
  for (let n = 0; n < 4 && parts.at(-1)?.unseen == null; n += 1) parts.push(await walk.read(wanted, library, live, 1));
  expect(parts.map(({ unseen }) => unseen)).toEqual([null, null, ['vid_unknown']]);
});

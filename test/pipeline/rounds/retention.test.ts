import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import type { Answer } from '../../../src/pipeline/file/ports.ts';
import { folderAway } from '../../../src/pipeline/pause.ts';
import { createRetention } from '../../../src/pipeline/rounds/retention.ts';
import { rowsOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { failure, ready, someFacts, someVersion } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const start = 100 * day;

function finished(
  id: string,
  doneAt: number,
  later: { afterMs?: number; whenFull?: number },
  other: Partial<Facts> = {},
) {
  const { afterMs = null, whenFull = null } = later;
  return someFacts({
    ...ready,
    id,
    path: `${id}.mp4`,
    videoId: `vid_${id}`,
    published: { feed_news: 1 },
    end: 'done',
    endedAt: doneAt,
    disposal: 'later',
    afterReady: { kind: 'delete', later: { afterMs, whenFull } },
    ...other,
  });
}

const inAWeek = { afterMs: 7 * day };

/** What has come of the files since the last look, with one minute between two looks. */
function open(rows: readonly Facts[]) {
  const clock = new TestClock(start);
  const store = new MemoryStore(rows);
  const asked: string[] = [];
  const world = {
    answer: (_id: string): Answer<string> => ({ ok: true, value: 'ready' }),
    check: (_facts: Facts): Failure | null => null,
    deletesIn: ['/inbox'] as readonly string[],
    /** In use, and all of it. */
    disk: { used: 0, size: 100 } as { used: number; size: number } | null,
    looksAtDisk: 0,
    /** Those whose content has another name on the disk, too. */
    linked: new Set<string>(),
    /** Of how many files it was asked what their deletion frees. */
    looksAtFiles: 0,
  };
  const make = () =>
    createRetention({
      store,
      rows: rowsOf(store),
      clock,
      host: {
        status: async (id) => {
          asked.push(id);
          return world.answer(id);
        },
      },
      local: { check: async (facts) => world.check(facts) },
      diskOf: async () => {
        world.looksAtDisk += 1;
        return world.disk;
      },
      freedBy: async ({ id, version }) => {
        world.looksAtFiles += 1;
        return world.linked.has(id) ? 0 : version.size;
      },
      deletesIn: () => world.deletesIn,
    });
  let retention = make();
  const signal = new AbortController().signal;
  const round = async (): Promise<void> => {
    await retention.look();
    await retention.confirm(signal);
  };
  return {
    clock,
    store,
    world,
    asked,
    round,
    /** As the put-away does: what is to go goes, and the disk has room again. */
    putAway: () => {
      for (const [index, facts] of store.all.entries()) {
        if (facts.disposal !== 'pending') continue;
        if (world.disk !== null && !world.linked.has(facts.id)) world.disk.used -= facts.version.size;
        store.all[index] = { ...facts, disposal: 'deleted' };
      }
    },
    pass: async (ms: number): Promise<void> => {
      clock.advance(ms);
      await round();
    },
    restart: () => (retention = make()),
    isUpToDate: () => retention.isUpToDate(),
    isHosted: (id: string) => retention.isHosted(store.row(id)),
    disposals: () => Object.fromEntries(store.all.map(({ id, disposal }) => [id, disposal])),
  };
}

describe('a file that is to be deleted after a time', () => {
  test('stays until that time is over, and is then handed to the put-away', async () => {
    const { round, pass, store, asked } = open([finished('a', start, inAWeek)]);
    await round();
    await pass(7 * day - 1);
    expect([store.row('a').disposal, asked]).toEqual(['later', []]);
    await pass(minute);
    expect([store.row('a').disposal, asked]).toEqual(['pending', ['vid_a']]);
    expect(store.history.at(-1)?.note).toBe('7 days after it was done, its local file is deleted');
  });

  test('is deleted on time after a restart', async () => {
    const { clock, restart, round, store } = open([finished('a', start, inAWeek)]);
    clock.advance(8 * day);
    restart();
    await round();
    expect(store.row('a').disposal).toBe('pending');
  });

  test('stays when the clock is set forward, until the time has really passed', async () => {
    const { clock, round, pass, store } = open([finished('a', start, inAWeek)]);
    await round();
    clock.set(start + 3_000 * day);
    await pass(minute);
    expect(store.row('a').disposal).toBe('later');
    await pass(7 * day);
    expect(store.row('a').disposal).toBe('pending');
  });

  test('stays longer when the clock is set back', async () => {
    const { clock, round, pass, store } = open([finished('a', start, inAWeek)]);
    await round();
    clock.set(start - 30 * day);
    await pass(7 * day + minute);
    expect(store.row('a').disposal).toBe('later');
  });

  test.each<[string, Answer<string>, string]>([
    [
      'was deleted on the service',
      { ok: false, failure: failure('gone') },
      'kept: its video is no longer on the service',
    ],
    ['failed there since', { ok: true, value: 'failed' }, 'kept: the status of its video is "failed"'],
    ['is processed once more', { ok: true, value: 'processing' }, 'kept: the status of its video is "processing"'],
  ])('is kept when its video %s', async (_, answer, why) => {
    const { world, round, store } = open([finished('a', start - 8 * day, inAWeek)]);
    world.answer = () => answer;
    await round();
    expect(store.row('a')).toMatchObject({ disposal: 'kept', why });
  });

  test('stays while the service cannot be asked, and the other files are not asked about either', async () => {
    const { world, round, pass, disposals, asked, isUpToDate } = open([
      finished('a', start - 8 * day, inAWeek),
      finished('b', start - 8 * day, inAWeek),
    ]);
    world.answer = () => ({ ok: false, failure: failure('offline') });
    await round();
    expect([disposals(), asked]).toEqual([{ a: 'later', b: 'later' }, ['vid_a']]);
    expect(isUpToDate()).toBe(true);
    world.answer = () => ({ ok: true, value: 'ready' });
    await pass(minute);
    expect(disposals()).toEqual({ a: 'pending', b: 'pending' });
  });

  test('does not keep others waiting when the service cannot tell about its video', async () => {
    const files = Array.from({ length: 40 }, (_, n) => finished(`f${n}`, start - 9 * day + n, inAWeek));
    const { world, round, pass, disposals } = open(files);
    world.answer = (id) =>
      id < 'vid_f3' ? { ok: false, failure: failure('transient', { status: 500 }) } : { ok: true, value: 'ready' };
    await round();
    for (let n = 0; n < 10; n += 1) await pass(minute);
    const left = Object.entries(disposals()).filter(([, disposal]) => disposal === 'later');
    expect(left.every(([id]) => `vid_${id}` < 'vid_f3')).toBe(true);
  });

  test('stays, without a request, while its folder is away', async () => {
    const { world, round, disposals, asked } = open([
      finished('a', start - 9 * day, inAWeek, { folder: '/away' }),
      finished('b', start - 8 * day, inAWeek),
    ]);
    world.deletesIn = ['/away', '/inbox'];
    world.check = ({ folder }) => (folder === '/away' ? failure('suspended', { code: folderAway }) : null);
    await round();
    await round();
    expect([disposals(), asked]).toEqual([{ a: 'later', b: 'pending' }, ['vid_b']]);
  });

  test.each(['vanished', 'changed'] as const)(
    'that %s in the meantime is left to the put-away while the service has its video',
    async (kind) => {
      const { world, round, store, asked } = open([finished('a', start - 8 * day, inAWeek)]);
      world.check = () => failure(kind);
      await round();
      expect([store.row('a').disposal, asked]).toEqual(['pending', ['vid_a']]);
    },
  );

  test('that is where a crash left it, out of everybody’s reach, is kept when its video is gone', async () => {
    const { world, round, store } = open([finished('a', start - 8 * day, inAWeek)]);
    world.check = () => failure('vanished');
    world.answer = () => ({ ok: false, failure: failure('gone') });
    await round();
    expect(store.row('a').disposal).toBe('kept');
  });

  test('may go for ten minutes after the answer of the service, and not after a restart', async () => {
    const { clock, round, restart, isHosted, store } = open([finished('a', start - 8 * day, inAWeek)]);
    expect(isHosted('a')).toBe(false);
    await round();
    expect(isHosted('a')).toBe(true);
    clock.advance(10 * minute);
    expect(isHosted('a')).toBe(false);
    await store.save({ ...store.row('a'), disposal: 'later' });
    clock.advance(minute);
    await round();
    expect(isHosted('a')).toBe(true);
    restart();
    expect(isHosted('a')).toBe(false);
  });

  test('needs no such answer where it is deleted at once', () => {
    const { isHosted } = open([finished('a', start, inAWeek, { afterReady: { kind: 'delete' } })]);
    expect(isHosted('a')).toBe(true);
  });

  test('stays in a folder whose rule no longer deletes', async () => {
    const { world, round, pass, store } = open([finished('a', start - 8 * day, inAWeek)]);
    world.deletesIn = [];
    await round();
    await pass(30 * day);
    expect(store.row('a').disposal).toBe('later');
  });

  test('stays when it was kept while the service was asked', async () => {
    const { world, round, store } = open([finished('a', start - 8 * day, inAWeek)]);
    store.claimed.add('a');
    await round();
    expect(store.row('a').disposal).toBe('later');
    store.claimed.clear();
    world.answer = () => ({ ok: true, value: 'ready' });
  });
});

describe('files that are to be deleted when the disk is full', () => {
  const sized = (id: string, doneAt: number, size: number, whenFull = 85): Facts =>
    finished(id, doneAt, { whenFull }, { version: { ...someVersion, size } });
  const four = () => [
    sized('b', start - 2, 10),
    sized('a', start - 3, 10),
    sized('d', start, 10),
    sized('c', start - 1, 10),
  ];

  test('stay as long as there is room', async () => {
    const { world, round, disposals } = open(four());
    world.disk = { used: 84, size: 100 };
    await round();
    expect(disposals()).toEqual({ a: 'later', b: 'later', c: 'later', d: 'later' });
  });

  test('go oldest first, and only until there is room', async () => {
    const { world, round, putAway, pass, disposals, store } = open(four());
    world.disk = { used: 98, size: 100 };
    await round();
    expect(disposals()).toEqual({ a: 'pending', b: 'pending', c: 'later', d: 'later' });
    expect(store.history.at(-1)?.note).toBe('the disk is 98 % full: its local file is deleted');
    putAway();
    await pass(minute);
    expect(disposals()).toEqual({ a: 'deleted', b: 'deleted', c: 'later', d: 'later' });
  });

  test('are not added to before those that go are gone', async () => {
    const { world, round, pass, disposals } = open(four());
    world.disk = { used: 86, size: 100 };
    await round();
    await pass(minute);
    await pass(minute);
    expect(disposals()).toEqual({ a: 'pending', b: 'later', c: 'later', d: 'later' });
  });

  test('are not followed by others while the file system may still count what was freed', async () => {
    const { world, round, putAway, pass, disposals } = open(four());
    world.disk = { used: 86, size: 100 };
    await round();
    putAway();
    // As Btrfs does, until its next commit.
    world.disk = { used: 86, size: 100 };
    for (let n = 0; n < 59; n += 1) await pass(1_000);
    expect(disposals()).toEqual({ a: 'deleted', b: 'later', c: 'later', d: 'later' });
    await pass(minute);
    expect(disposals()).toMatchObject({ b: 'pending', c: 'later' });
  });

  test('continue while others fill the disk', async () => {
    const { world, round, putAway, pass, disposals } = open(four());
    world.disk = { used: 86, size: 100 };
    await round();
    putAway();
    world.disk = { used: 87, size: 100 };
    await pass(minute);
    expect(disposals()).toEqual({ a: 'deleted', b: 'pending', c: 'later', d: 'later' });
  });

  test('stay when it is unknown how full the disk is', async () => {
    const { world, round, disposals } = open(four());
    world.disk = null;
    await round();
    expect(disposals()).toEqual({ a: 'later', b: 'later', c: 'later', d: 'later' });
  });

  test('stay when they have other hard links, and say so: deleting them would free nothing', async () => {
    const { world, round, putAway, pass, store, disposals } = open(four());
    world.disk = { used: 98, size: 100 };
    for (const id of ['a', 'b', 'c', 'd']) world.linked.add(id);
    for (let n = 0; n < 30; n += 1) {
      await pass(minute);
      putAway();
    }
    expect(disposals()).toEqual({ a: 'later', b: 'later', c: 'later', d: 'later' });
    expect(store.row('a').why).toBe(
      'not deleted although the disk is full: it has other hard links, so that would free nothing',
    );
    // Once for each of them.
    expect(store.history).toHaveLength(4);
    world.linked.delete('a');
    await pass(10 * minute);
    putAway();
    await round();
    expect(disposals()).toEqual({ a: 'deleted', b: 'later', c: 'later', d: 'later' });
  });

  test('go although many older ones have other hard links', async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => sized(`l${n}`, start - 2_000 + n, 10));
    const { world, round, disposals } = open([...many, sized('x', start, 10)]);
    world.disk = { used: 86, size: 100 };
    for (const { id } of many) world.linked.add(id);
    await round();
    expect(disposals()['x']).toBe('pending');
  });

  test('are not all checked again each minute while none of them would free anything', async () => {
    const { world, pass } = open(four());
    world.disk = { used: 98, size: 100 };
    for (const id of ['a', 'b', 'c', 'd']) world.linked.add(id);
    for (let n = 0; n < 9; n += 1) await pass(minute);
    expect(world.looksAtFiles).toBe(4);
  });

  test('go for their time, also with other hard links', async () => {
    const { world, round, pass, disposals } = open([finished('a', start, { afterMs: day, whenFull: 85 })]);
    world.disk = { used: 99, size: 100 };
    world.linked.add('a');
    await round();
    await pass(day + minute);
    expect(disposals()).toEqual({ a: 'pending' });
  });

  test('stay when their video is gone: the next oldest goes instead', async () => {
    const { world, round, pass, disposals } = open(four());
    world.disk = { used: 86, size: 100 };
    world.answer = (id) => (id === 'vid_a' ? { ok: false, failure: failure('gone') } : { ok: true, value: 'ready' });
    await round();
    await pass(minute);
    expect(disposals()).toEqual({ a: 'kept', b: 'pending', c: 'later', d: 'later' });
  });

  test('each have the mark of their own rule', async () => {
    const { world, round, disposals } = open([sized('a', start - 1, 10, 95), sized('b', start, 10, 85)]);
    world.disk = { used: 90, size: 100 };
    await round();
    expect(disposals()).toEqual({ a: 'later', b: 'pending' });
  });

  test('need not wait for the time that the rule names too', async () => {
    const later = { afterMs: 7 * day, whenFull: 85 };
    const { world, round, disposals } = open([finished('a', start, later), finished('b', start - 8 * day, later)]);
    await round();
    expect(disposals()).toEqual({ a: 'later', b: 'pending' });
    world.disk = { used: 99, size: 100 };
    const full = open([finished('a', start, later)]);
    full.world.disk = { used: 99, size: 100 };
    await full.round();
    expect(full.disposals()).toEqual({ a: 'pending' });
  });

  test('cause at most one check of the disk a minute', async () => {
    const { world, round, pass } = open(four());
    for (let n = 0; n < 100; n += 1) await round();
    expect(world.looksAtDisk).toBe(1);
    await pass(minute);
    expect(world.looksAtDisk).toBe(2);
  });

  test('cost no look at the disk when there are none', async () => {
    const { world, round } = open([finished('a', start, inAWeek)]);
    await round();
    expect(world.looksAtDisk).toBe(0);
  });
});

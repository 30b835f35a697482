import { describe, expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { StaleRowError } from '../../src/pipeline/file/ports.ts';
import { ignoredBy } from '../../src/pipeline/file/reasons.ts';
import type { Stores } from '../pipeline/memory-store.ts';
import { created, failure, ready, someFacts, somePlan, someVersion, uploaded } from '../pipeline/some-facts.ts';

/** What the pipeline may expect of any store of rows: the ledger, and the one in memory that its tests use. */
export function storeContract(open: () => Promise<AsyncDisposable & { readonly store: Stores }>): void {
  const withRows = async (rows: readonly Facts[], check: (store: Stores) => Promise<void>): Promise<void> => {
    await using opened = await open();
    for (const facts of rows) await opened.store.insert(facts);
    await check(opened.store);
  };
  const named = (id: string, other: Partial<Facts> = {}): Facts => someFacts({ id, path: `${id}.mp4`, ...other });
  const idsOf = (rows: readonly Facts[]): string[] => rows.map(({ id }) => id);

  test('a note is kept under its name until it is removed', async () => {
    await withRows([], async (store) => {
      expect(await store.note('size limit')).toBeNull();
      await store.saveNote('size limit', { mostBytes: 5 });
      await store.saveNote('other', { is: 'another' });
      await store.saveNote('size limit', { mostBytes: 7, said: 'ü "\u0000"' });
      expect(await store.note('size limit')).toEqual({ mostBytes: 7, said: 'ü "\u0000"' });
      await store.saveNote('size limit', null);
      await store.saveNote('size limit', null);
      expect([await store.note('size limit'), await store.note('other')]).toEqual([null, { is: 'another' }]);
    });
  });

  test('files held because of their size come by id, after a given one', async () => {
    const held = { end: 'held', why: 'w', endedAt: 1 } as const;
    const large = failure('permanent', { code: 'over_size_limit' });
    const rows = ['f_3', 'f_1', 'f_2'].map((id) => named(id, { ...held, lastFailure: large }));
    const others = [
      named('f_4', { ...held, lastFailure: failure('permanent', { code: 'flawed' }) }),
      named('f_5', { lastFailure: large }),
      named('f_6', { ...held, end: 'skipped', lastFailure: ignoredBy('ann', { ...held, lastFailure: large }) }),
    ];
    await withRows([...rows, ...others], async (store) => {
      const page = async (after: string, limit: number) =>
        idsOf(await store.rows({ group: 'too large', after, limit }));
      expect(await page('', 2)).toEqual(['f_1', 'f_2']);
      expect(await page('f_2', 2)).toEqual(['f_3']);
      expect(await page('f_3', 2)).toEqual([]);
    });
  });

  describe('a row', () => {
    test.each<[string, Partial<Facts>]>([
      ['as it was first seen', {}],
      ['with a video', { ...created, intent: 'token', suspects: ['a', 'b'] }],
      ['that is being replaced', { ...created, dying: true, addressDeadAt: 7, replacements: 2 }],
      ['that is published', { ...ready, published: { feed_news: 5 } }],
      [
        'that failed',
        {
          end: 'failed',
          why: 'no "quotes" \u{1F600}',
          endedAt: 9,
          lastFailure: failure('permanent', { status: 400, inDoubt: true }),
        },
      ],
      ['without a plan', { plan: null, end: 'held', why: 'no rule matches' }],
      [
        'with late metadata',
        {
          ...ready,
          amendment: { title: 'x', tags: [] },
          disposal: 'pending',
          afterReady: { kind: 'move', to: 'done/{date}' },
        },
      ],
      ['of an import', { sourceUrl: 'https://example.com/a?b=c' }],
      ['with a strange name', { folder: "/in'box", path: 'a\nb%_\u{0301}.mp4' }],
    ])('%s comes back as it was written', async (_name, other) => {
      await withRows([someFacts(other)], async (store) => expect(await store.load('f_1')).toEqual(someFacts(other)));
    });

    test('that is not there is null', async () => {
      await withRows([], async (store) => expect(await store.load('f_1')).toBeNull());
    });

    test('gets a new revision with each write, and the state of its facts', async () => {
      await withRows([someFacts()], async (store) => {
        const first = await store.save({ ...someFacts(), ...created });
        expect(first).toEqual(someFacts({ ...created, rev: 1 }));
        expect(await store.load('f_1')).toEqual(first);
        expect(await store.count({ states: ['awaiting upload'] })).toBe(1);
        expect((await store.save({ ...first, why: 'again' })).rev).toBe(2);
      });
    });

    test('is not written upon another revision, nor where there is none', async () => {
      await withRows([someFacts()], async (store) => {
        const first = await store.save(someFacts({ why: 'first' }));
        await expect(store.save(someFacts({ why: 'stale' }))).rejects.toThrow(StaleRowError);
        await expect(store.save({ ...first, rev: 5 })).rejects.toThrow(StaleRowError);
        await expect(store.save(someFacts({ id: 'f_2' }))).rejects.toThrow(StaleRowError);
        expect(await store.load('f_1')).toEqual(first);
      });
    });

    test('written by two at the same time is written by one', async () => {
      await withRows([someFacts()], async (store) => {
        const writes = [store.save(someFacts({ why: 'one' })), store.save(someFacts({ why: 'two' }))];
        const results = (await Promise.allSettled(writes)).map(({ status }) => status);
        expect(results.toSorted()).toEqual(['fulfilled', 'rejected']);
      });
    });
  });

  describe('a claim', () => {
    test('shows the row of its moment, and keeps everybody else from the file', async () => {
      await withRows([someFacts(), named('other')], async (store) => {
        const saved = await store.save(someFacts({ why: 'before' }));
        const claim = await store.claim('f_1');
        expect(claim?.facts).toEqual(saved);
        await store.save({ ...saved, why: 'since' });
        expect(claim?.facts).toEqual(saved);
        expect(await store.claim('f_1')).toBeNull();
        expect((await store.claim('other'))?.facts.id).toBe('other');
      });
    });

    test('of an unknown id is refused, also once that file has come', async () => {
      await withRows([], async (store) => {
        expect(await store.claim('f_1')).toBeNull();
        await store.insert(someFacts());
        expect((await store.claim('f_1'))?.facts).toEqual(someFacts());
      });
    });

    test('by several at the same time is granted to one', async () => {
      await withRows([someFacts()], async (store) => {
        const claims = await Promise.all(Array.from({ length: 8 }, () => store.claim('f_1')));
        expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
      });
    });

    test('is renewed as long as it is held', async () => {
      await withRows([someFacts()], async (store) => {
        const claim = await store.claim('f_1');
        expect(await claim?.renew()).toBe(true);
        expect(await claim?.renew()).toBe(true);
        await claim?.release();
        expect(await claim?.renew()).toBe(false);
      });
    });

    test('that was released is free for the next holder, who sees what was written in between', async () => {
      await withRows([someFacts()], async (store) => {
        const first = await store.claim('f_1');
        const saved = await store.save(someFacts(created));
        await first?.release();
        expect((await store.claim('f_1'))?.facts).toEqual(saved);
      });
    });

    test('that was released has no power over the next one', async () => {
      await withRows([someFacts()], async (store) => {
        const first = await store.claim('f_1');
        await first?.release();
        const second = await store.claim('f_1');
        await first?.release();
        expect(await first?.renew()).toBe(false);
        expect(await second?.renew()).toBe(true);
        expect(await store.claim('f_1')).toBeNull();
      });
    });

    test('does not replace the check of the revision', async () => {
      await withRows([someFacts()], async (store) => {
        const claim = await store.claim('f_1');
        await store.save(someFacts({ why: 'newer' }));
        await expect(store.save({ ...someFacts(), ...claim?.facts })).rejects.toThrow(StaleRowError);
        expect((await store.load('f_1'))?.why).toBe('newer');
      });
    });

    test('survives a write that was refused', async () => {
      await withRows([someFacts()], async (store) => {
        const claim = await store.claim('f_1');
        await expect(store.save(someFacts({ rev: 7 }))).rejects.toThrow(StaleRowError);
        expect(await claim?.renew()).toBe(true);
        expect(await store.claim('f_1')).toBeNull();
      });
    });
  });

  describe('the heads of the queues', () => {
    const big = { version: { ...someVersion, size: 256 * 1024 * 1024 + 1 } };
    const notQuiteBig = { version: { ...someVersion, size: 256 * 1024 * 1024 } };
    const high = { plan: { ...somePlan, priority: 'high' as const } };
    const low = { plan: { ...somePlan, priority: 'low' as const } };

    test('are the oldest of each folder, priority and size', async () => {
      const rows = [
        named('a'),
        named('b'),
        named('c', notQuiteBig),
        named('d', big),
        named('e', big),
        named('f', high),
        named('g', low),
        named('h', { folder: "/in'box [2]" }),
        named('i', { ...high, folder: "/in'box [2]" }),
        named('j', created),
        named('k', { end: 'done' }),
      ];
      await withRows(rows, async (store) => {
        expect((await store.heads('queued', 1, [])).map(({ id }) => id)).toEqual(['a', 'd', 'f', 'g', 'h', 'i']);
        expect(await store.heads('queued', 9, ['a', 'd', 'f', 'g', 'h', 'i'])).toEqual([
          {
            id: 'b',
            folder: '/inbox',
            priority: 'normal',
            isBig: false,
            urgency: null,
            uploadUrl: null,
            isSent: false,
          },
          {
            id: 'c',
            folder: '/inbox',
            priority: 'normal',
            isBig: false,
            urgency: null,
            uploadUrl: null,
            isSent: false,
          },
          { id: 'e', folder: '/inbox', priority: 'normal', isBig: true, urgency: null, uploadUrl: null, isSent: false },
        ]);
        expect(await store.heads('awaiting upload', 9, [])).toMatchObject([{ id: 'j', uploadUrl: created.uploadUrl }]);
      });
    });

    const due = (afterMs: number): Partial<Facts> => ({ plan: { ...somePlan, readyBy: { afterMs } } });

    test('are the most urgent of those that were put first or have a deadline, and the oldest of the others', async () => {
      const rows = [
        named('a', due(3_000)),
        named('b'),
        named('c', due(1_000)),
        named('d', due(2_000)),
        named('e', { firstAt: 5 }),
        named('f', { firstAt: 6 }),
        named('g', { ...due(1), ...created }),
        named('h', { ...due(1), ...ready }),
        named('i', { ...due(1), end: 'failed' }),
      ];
      await withRows(rows, async (store) => {
        const urgencies = async (...asked: Parameters<typeof store.heads>) =>
          (await store.heads(...asked)).map(({ id, urgency }) => [id, urgency]);
        expect(await urgencies('queued', 1, [])).toEqual([
          ['b', null],
          ['f', -6],
        ]);
        expect(await urgencies('queued', 2, ['f'])).toEqual([
          ['b', null],
          ['c', 1_000],
          ['e', -5],
        ]);
        expect(await urgencies('awaiting upload', 1, [])).toEqual([['g', 1]]);
        await store.save({ ...(await store.load('f')), firstAt: null } as Facts);
        await store.save({ ...(await store.load('e')), firstAt: null } as Facts);
        expect(await urgencies('queued', 1, [])).toEqual([
          ['b', null],
          ['c', 1_000],
        ]);
      });
    });

    test('tell which files may have arrived', async () => {
      await withRows([named('a', created), named('b', { ...created, sha256: 'aa' })], async (store) => {
        const heads = await store.heads('awaiting upload', 9, []);
        expect(heads.map(({ id, isSent }) => [id, isSent])).toEqual([
          ['a', false],
          ['b', true],
        ]);
      });
    });

    test('are none where nothing waits', async () => {
      await withRows([named('a', uploaded)], async (store) => expect(await store.heads('queued', 9, [])).toEqual([]));
    });

    test('after a restart the last starts are known, newest first', async () => {
      await withRows([named('a', high), named('b', big), named('c')], async (store) => {
        for (const id of ['b', 'a']) await store.save({ ...(await store.load(id)), ...created } as Facts);
        expect(await store.lastStarts(9)).toMatchObject([
          { id: 'a', priority: 'high', isBig: false },
          { id: 'b', priority: 'normal', isBig: true },
        ]);
        expect(await store.lastStarts(1)).toMatchObject([{ id: 'a' }]);
      });
    });
  });

  describe('rows that are due', () => {
    test('come oldest first, so many as are asked for', async () => {
      await withRows([named('c'), named('a'), named('b', created), named('d')], async (store) => {
        expect(idsOf(await store.rows({ group: 'in state', state: 'queued', limit: 2 }))).toEqual(['c', 'a']);
        expect(idsOf(await store.rows({ group: 'in state', state: 'awaiting upload', limit: 9 }))).toEqual(['b']);
      });
    });

    test('come by deadline when they are retrying, and not before it', async () => {
      const rows = [named('a', { notBefore: 30 }), named('b', { notBefore: 10 }), named('c', { notBefore: 20 })];
      await withRows(rows, async (store) => {
        expect(idsOf(await store.rows({ group: 'retrying', dueBy: 20, limit: 9 }))).toEqual(['b', 'c']);
        expect(idsOf(await store.rows({ group: 'retrying', dueBy: Number.MAX_SAFE_INTEGER, limit: 9 }))).toEqual([
          'b',
          'c',
          'a',
        ]);
      });
    });

    test('are those with a deadline, most urgent first, until they are ready or over', async () => {
      const due = (afterMs: number): Partial<Facts> => ({ plan: { ...somePlan, readyBy: { afterMs } } });
      const rows = [
        named('a', { ...due(30), ...uploaded }),
        named('b', due(20)),
        named('c', { firstAt: 9 }),
        named('d', { ...due(1), ...ready }),
        named('e', { ...due(2), end: 'held' }),
        named('f', { ...due(25), notBefore: 99 }),
        named('g'),
      ];
      await withRows(rows, async (store) => {
        expect(idsOf(await store.rows({ group: 'due', limit: 9 }))).toEqual(['c', 'b', 'f', 'a']);
        expect(idsOf(await store.rows({ group: 'due', limit: 2 }))).toEqual(['c', 'b']);
      });
    });

    test('are counted by states', async () => {
      await withRows([named('a'), named('b', uploaded), named('c', { end: 'done' })], async (store) => {
        expect(await store.count({ states: ['queued', 'processing'] })).toBe(2);
        expect(await store.count({ states: ['held'] })).toBe(0);
      });
    });
  });

  describe('twins', () => {
    const other = { ...someVersion, size: 9 };

    test('are files of the same size that were uploaded or are on their way before it', async () => {
      const rows = [
        named('done', { ...ready, end: 'done', published: { feed_news: 1 } }),
        named('processing', uploaded),
        named('unpublished', { ...ready, end: 'failed' }),
        named('before'),
        named('waiting', { notBefore: 9 }),
        named('self'),
        named('after'),
        named('later, with a record', created),
        named('later, with a record that is deleted', { ...created, dying: true }),
        named('later, but it passes', { intent: 'token' }),
        named('later but uploaded', uploaded),
        named('given up, but it may fail', { ...uploaded, end: 'superseded' }),
        named('given up after it was ready', { ...ready, end: 'superseded' }),
        named('given up after the service called it ready', { ...uploaded, remoteStatus: 'ready', end: 'superseded' }),
        named('other size', { ...uploaded, version: other }),
        named('failed there', { ...uploaded, remoteStatus: 'failed', end: 'failed' }),
        named('deleted there', { ...uploaded, end: 'held' }),
        named('deleted there, and ignored since', { ...uploaded, ...ignoredOver('gone') }),
        named('import', { ...uploaded, sourceUrl: 'https://example.com/' }),
        named('vanished', { end: 'vanished' }),
      ];
      await withRows(rows, async (store) => {
        expect(
          idsOf(await store.rows({ group: 'twins', of: named('self'), passing: ['later, but it passes'] })),
        ).toEqual([
          'done',
          'processing',
          'unpublished',
          'before',
          'waiting',
          'later, with a record',
          'later, but it passes',
          'later but uploaded',
          'given up after it was ready',
          'given up after the service called it ready',
        ]);
      });
    });

    test.each<[string, Partial<Facts>, boolean]>([
      ['is in processing', uploaded, false],
      ['is done', { ...ready, end: 'done', published: { feed_news: 1 } }, false],
      ['was not published', { ...ready, end: 'failed' }, false],
      ['did not finish in time', { ...uploaded, end: 'failed' }, false],
      ['failed in processing', { ...uploaded, remoteStatus: 'failed', end: 'failed' }, true],
      ['was deleted on the service', { ...uploaded, end: 'held' }, true],
      ['was deleted on the service, and ignored since', { ...uploaded, ...ignoredOver('gone') }, true],
      ['did not finish in time, and was ignored since', { ...uploaded, ...ignoredOver('permanent') }, false],
      ['was given up', { ...uploaded, end: 'superseded' }, true],
      [
        'was given up after the service called it ready',
        { ...uploaded, remoteStatus: 'ready', end: 'superseded' },
        false,
      ],
      ['begins again', {}, true],
    ])('strand those that were skipped for one that %s: %s', async (_name, twin, isStranded) => {
      const skipped = (twin: string): Partial<Facts> => ({
        end: 'skipped',
        lastFailure: failure('duplicate', { twin }),
      });
      const rows = [
        named('a', twin),
        named('b', skipped('a')),
        named('c', skipped('a')),
        named('d', skipped('e')),
        named('e', uploaded),
        named('f', { end: 'skipped', lastFailure: failure('duplicate') }),
        named('g', { end: 'held', lastFailure: failure('duplicate', { twin: 'a' }) }),
      ];
      await withRows(rows, async (store) => {
        const stranded = isStranded ? ['b', 'c'] : [];
        expect(idsOf(await store.rows({ group: 'stranded', twin: 'a' }))).toEqual(stranded);
        expect(idsOf(await store.rows({ group: 'stranded', twin: null }))).toEqual(stranded);
        expect(idsOf(await store.rows({ group: 'stranded', twin: 'e' }))).toEqual([]);
      });
    });
  });

  describe('the newest row', () => {
    const newer = { version: { ...someVersion, mtimeNs: '9' } };

    test('of a path', async () => {
      await withRows(
        [named('a', { path: 'x' }), named('b', { path: 'x', ...newer }), named('c', { path: 'x', folder: '/y' })],
        async (store) => {
          expect((await store.atPath('/inbox', 'x'))?.id).toBe('b');
          expect(await store.atPath('/inbox', 'X')).toBeNull();
        },
      );
    });

    test.each(['superseded', 'vanished'] as const)(
      'of a path, one that is %s only if there is no other',
      async (end) => {
        await withRows(
          [named('a', { path: 'x' }), named('b', { path: 'x', end, ...newer }), named('c', { path: 'y', end })],
          async (store) => {
            expect((await store.atPath('/inbox', 'x'))?.id).toBe('a');
            expect((await store.atPath('/inbox', 'y'))?.id).toBe('c');
          },
        );
      },
    );

    test('of the same bytes on disk, whatever the device and the inode change; superseded ones are none', async () => {
      await withRows([named('a'), named('b'), named('c', { end: 'superseded' })], async (store) => {
        expect((await store.atLocation({ ...someVersion, dev: '9', ctimeNs: '9' }))?.id).toBe('b');
        for (const change of [{ ino: '9' }, { birthtimeNs: '9' }, { size: 9 }, { mtimeNs: '9' }])
          expect(await store.atLocation({ ...someVersion, ...change })).toBeNull();
      });
    });
  });

  describe('feeds', () => {
    const both = { ...somePlan, publish: ['feed_news', 'feed_tv'] };

    test('wait with all their files', async () => {
      const rows = [
        named('a', { ...ready, plan: both, readyAt: 30 }),
        named('b', { ...ready, readyAt: 10 }),
        named('c', { ...ready, plan: both, readyAt: 20, published: { feed_tv: 25 } }),
        named('d', uploaded),
      ];
      await withRows(rows, async (store) => {
        expect((await store.waiting()).toSorted((x, y) => x.feed.localeCompare(y.feed))).toEqual([
          { feed: 'feed_news', missing: new Map(), ids: ['a', 'b', 'c'], firstReadyAt: 10, lastReadyAt: 30 },
          { feed: 'feed_tv', missing: new Map(), ids: ['a'], firstReadyAt: 30, lastReadyAt: 30 },
        ]);
      });
    });

    test.each<[string, Partial<Facts>, boolean]>([
      ['queued', {}, true],
      ['in processing', uploaded, true],
      ['waiting for a retry', { notBefore: 9 }, false],
      ['ready', ready, false],
      ['held', { end: 'held' }, false],
    ])('expect a file that is %s: %s', async (_name, other, expected) => {
      await withRows([someFacts(other), named('b', { plan: null, end: 'held' })], async (store) => {
        const states = ['queued', 'awaiting upload', 'processing'];
        expect(await store.count({ states, feed: 'feed_news' }, 1)).toBe(expected ? 1 : 0);
        expect(await store.count({ states, feed: 'feed' }, 1)).toBe(0);
      });
    });
  });

  test('the paths that are a stem, or a stem with an extension, are found', async () => {
    const paths = [
      'a/clip',
      'a/clip.mp4',
      'a/clip.v2.mp4',
      'a/clip (2).mp4',
      'a/clip/x.mp4',
      'b/clip.mp4',
      'a/clipper.mp4',
    ];
    const rows = paths.map((path, n) => named(`f_${n}`, { path }));
    await withRows(
      [...rows, named('again', { path: 'a/clip.mp4', version: { ...someVersion, mtimeNs: '9' } })],
      async (store) => {
        const found = await store.pathsNamed(someFacts().folder, 'a/clip');
        expect(found.toSorted()).toEqual(['a/clip', 'a/clip.mp4', 'a/clip.v2.mp4']);
        expect(await store.pathsNamed('/other', 'a/clip')).toEqual([]);
      },
    );
  });

  describe('what is left to do', () => {
    test('with local files', async () => {
      const finished = { ...ready, end: 'done', published: { feed_news: 1 } } as const;
      const rows = [
        named('a', { ...finished, disposal: 'pending' }),
        named('b', { ...finished, disposal: 'kept' }),
        named('c', { ...finished, disposal: 'pending' }),
        named('d', { ...finished, disposal: 'waiting' }),
      ];
      await withRows(rows, async (store) => {
        expect(idsOf(await store.rows({ group: 'to put away', limit: 9 }))).toEqual(['a', 'c']);
        expect(idsOf(await store.rows({ group: 'to put away', limit: 1 }))).toEqual(['a']);
        expect(idsOf(await store.rows({ group: 'waiting for disk', limit: 9 }))).toEqual(['d']);
      });
    });

    test('with local files that are deleted later', async () => {
      const later = (id: string, endedAt: number, afterMs: number | null, whenFull: number | null, folder = '/inbox') =>
        named(id, {
          ...ready,
          folder,
          end: 'done',
          endedAt,
          disposal: 'later',
          afterReady: { kind: 'delete', later: { afterMs, whenFull } },
        });
      const rows = [
        later('a', 50, 100, null),
        later('b', 60, 40, 85),
        later('c', 40, null, 85),
        later('d', 10, 10, 90, '/other'),
        { ...later('e', 1, 1, 85), disposal: 'kept' as const },
      ];
      await withRows(rows, async (store) => {
        expect(idsOf(await store.rows({ group: 'expired', now: 99, folders: ['/inbox', '/other'], limit: 9 }))).toEqual(
          ['d'],
        );
        expect(
          idsOf(await store.rows({ group: 'expired', now: 100, folders: ['/inbox', '/other'], limit: 9 })),
        ).toEqual(['d', 'b']);
        expect(idsOf(await store.rows({ group: 'expired', now: 150, folders: ['/inbox', '/none'], limit: 9 }))).toEqual(
          ['b', 'a'],
        );
        expect(idsOf(await store.rows({ group: 'expired', now: 150, folders: ['/inbox'], limit: 1 }))).toEqual(['b']);
        expect(await store.rows({ group: 'expired', now: 150, folders: [], limit: 9 })).toEqual([]);
        const mark = { folder: '/inbox', whenFull: 85 };
        expect(await store.fullMarks(['/inbox'])).toEqual([mark]);
        expect(await store.fullMarks(['/inbox', '/other'])).toHaveLength(2);
        expect(idsOf(await store.rows({ group: 'crowding', mark, limit: 9 }))).toEqual(['c', 'b']);
        expect(idsOf(await store.rows({ group: 'crowding', mark, limit: 1 }))).toEqual(['c']);
        expect(idsOf(await store.rows({ group: 'crowding', mark, limit: 9, without: 1 }))).toEqual(['b']);
        expect(await store.rows({ group: 'to put away', limit: 9 })).toEqual([]);
      });
    });

    test('with files that were there before', async () => {
      const reason = failure('permanent', { code: 'existing' });
      const likeness = { videos: [], isSure: false, doubt: null };
      const rows = [
        named('a', { end: 'held', lastFailure: reason }),
        named('b', { end: 'held', lastFailure: { ...reason, likeness } }),
        named('c', { end: 'skipped', lastFailure: reason }),
        named('d', { end: 'held', lastFailure: failure('permanent', { code: 'no_rule' }) }),
        named('e', ready),
      ];
      const video = (id: string, title = id) => ({ id, title, duration: 6.5, status: 'ready' });
      await withRows(rows, async (store) => {
        expect(idsOf(await store.rows({ group: 'to compare', limit: 9 }))).toEqual(['a']);
        expect(idsOf(await store.rows({ group: 'to adopt' }))).toEqual(['a', 'b']);
        expect(await store.listing()).toBeNull();
        await store.addListed([video('vid_8'), video('vid_1')], { nextPage: 2, total: 3, isWhole: false });
        await store.addListed([video('vid_8', 'again'), video('vid_9')], { nextPage: 3, total: 3, isWhole: true });
        expect(await store.listing()).toEqual({ nextPage: 3, total: 3, isWhole: true });
        // One has a file already.
        expect(await store.listed()).toEqual([video('vid_8', 'again'), video('vid_9')]);
        await store.forgetListing();
        expect([await store.listing(), await store.listed()]).toEqual([null, []]);
      });
    });

    test('with folders that are watched for the first time', async () => {
      await withRows([], async (store) => {
        expect(await store.firstStart('/inbox')).toBeNull();
        for (const beganNs of [null, 2n ** 62n]) {
          const record = { askedNs: 1n, beganNs, isOver: beganNs !== null };
          await store.saveFirstStart('/inbox', record);
          expect(await store.firstStart('/inbox')).toEqual(record);
        }
        expect(await store.firstStart('/other')).toBeNull();
      });
    });

    test('with metadata', async () => {
      const amendment = { title: 'x' };
      const rows = [
        named('a', { ...uploaded, amendment }),
        named('b', { ...created, amendment }),
        named('c', { ...ready, amendment, dying: true }),
        named('d', { ...ready, amendment }),
        named('e', ready),
      ];
      await withRows(rows, async (store) =>
        expect(idsOf(await store.rows({ group: 'to amend', limit: 9 }))).toEqual(['a', 'd']),
      );
    });

    test('with files that nothing routes, or that differ from their checksum', async () => {
      const lastFailure = failure('mismatch');
      const rows = [
        named('a', { plan: null, end: 'held' }),
        named('b', { end: 'held', lastFailure: failure('gone') }),
        named('c'),
        named('d', { end: 'held', lastFailure }),
        named('e', { lastFailure }),
        named('f', { notBefore: 1, lastFailure: failure('suspended', { code: 'unknown_channel' }) }),
        named('g', { notBefore: 1, lastFailure: failure('suspended') }),
      ];
      await withRows(rows, async (store) =>
        expect(idsOf(await store.rows({ group: 'unrouted' }))).toEqual(['a', 'd', 'f']),
      );
    });
  });

  test('states are never stored but derived', async () => {
    await withRows([someFacts()], async (store) => {
      const saved = await store.save(someFacts({ ...uploaded }));
      expect(await store.count({ states: ['processing'] })).toBe(1);
      expect(stateOf(saved)).toBe('processing');
    });
  });

  describe('create requests without an answer', () => {
    test('are those of every intent and suspect, with the title that was asked for', async () => {
      await withRows([named('a', { suspects: ['t1'] }), named('b')], async (store) => {
        const asked = await store.save(named('b', { intent: 't2' }));
        const renamed = await store.save({ ...asked, plan: { ...somePlan, title: 'Another' } });
        const unanswered = await store.unanswered();
        expect(unanswered).toMatchObject([
          { token: 't1', fileId: 'a', title: 'Clip' },
          { token: 't2', fileId: 'b', title: somePlan.title },
        ]);
        const again = await store.save({ ...renamed, intent: 't3', suspects: ['t2'] });
        expect((await store.unanswered()).map(({ token }) => token).toSorted()).toEqual(['t1', 't2', 't3']);
        const [, second] = await store.unanswered();
        expect(second?.at).toBe(unanswered[1]?.at);
        await store.save({ ...again, ...created, intent: null, suspects: [] });
        expect((await store.unanswered()).map(({ token }) => token)).toEqual(['t1']);
      });
    });

    test('leave none when the write of their row is refused', async () => {
      await withRows([named('a')], async (store) => {
        await expect(store.save(named('a', { rev: 7, intent: 't1' }))).rejects.toThrow(StaleRowError);
        expect(await store.unanswered()).toEqual([]);
      });
    });
  });

  describe('records that were abandoned', () => {
    const ended = (id: string, other: Partial<Facts>): Facts =>
      named(id, { ...created, videoId: `vid_${id}`, endedAt: 9, ...other });

    test('are those of files that ended before their bytes were there, as long as the service may have them', async () => {
      const rows = [
        ended('superseded', { end: 'superseded' }),
        ended('vanished', { end: 'vanished' }),
        ended('failed', { end: 'failed', lastFailure: failure('permanent') }),
        ended('held', { end: 'held' }),
        ended('deleted', { end: 'held', lastFailure: failure('gone') }),
        ended('not empty', { end: 'superseded', remoteStatus: 'failed' }),
        ended('never created', { end: 'superseded', videoId: null }),
        named('uploaded', { ...uploaded, end: 'failed' }),
        named('on its way', created),
        ended('taken over', { end: 'superseded', videoId: 'vid_1' }),
      ];
      await withRows(rows, async (store) => {
        expect(idsOf(await store.rows({ group: 'abandoned', ends: ['superseded', 'vanished'], limit: 9 }))).toEqual([
          'superseded',
          'vanished',
        ]);
        const all = ['superseded', 'vanished', 'failed', 'held'] as const;
        expect(idsOf(await store.rows({ group: 'abandoned', ends: all, limit: 9 }))).toEqual(all);
        expect(idsOf(await store.rows({ group: 'abandoned', ends: all, limit: 2 }))).toEqual([
          'superseded',
          'vanished',
        ]);
      });
    });

    test('are no longer known once their file forgets them', async () => {
      await withRows([named('a', created)], async (store) => {
        expect([await store.count({ videoId: 'vid_1' }, 1), await store.count({ videoId: 'vid_2' }, 1)]).toEqual([
          1, 0,
        ]);
        await store.save(named('a'));
        expect(await store.count({ videoId: 'vid_1' }, 1)).toBe(0);
      });
    });

    test('are counted once each when they are deleted, by their last time', async () => {
      await withRows([], async (store) => {
        await store.noteDeletion('vid_1', 10);
        await store.noteDeletion('vid_2', 20);
        await store.noteDeletion('vid_1', 30);
        expect([await store.deletionsSince(0, 30), await store.deletionsSince(20, 30)]).toEqual([2, 1]);
        // Noted before the clock was set back.
        expect(await store.deletionsSince(0, 29)).toBe(1);
      });
    });
  });

  describe('what was created since a time', () => {
    test('is counted with its bytes, ended or not, and with the records that were deleted', async () => {
      const rows = [
        { ...named('a', created), createdAt: 10 },
        { ...named('b', created), createdAt: 20 },
        { ...named('c', created), createdAt: 30, end: 'done' as const, endedAt: 40 },
        { ...named('d', created), createdAt: 5, end: 'done' as const, endedAt: 40 },
        { ...named('e', created), createdAt: 30, sourceUrl: 'https://media.example.com/e.mp4' },
        named('f'),
      ];
      await withRows(rows, async (store) => {
        const { size } = someVersion;
        expect(await store.createdSince(20)).toEqual({ videos: 3, bytes: 2 * size });
        await store.noteDeletion('vid_9', 25);
        expect(await store.createdSince(20)).toEqual({ videos: 4, bytes: 2 * size });
        expect(await store.createdSince(50)).toEqual({ videos: 0, bytes: 0 });
      });
    });
  });

  describe('feeds that are due', () => {
    test('are there until they were published; what is noted during that stays', async () => {
      await withRows([], async (store) => {
        const first = await store.noteFeedDue('feed_news', 5, false);
        expect(first).toEqual({ feed: 'feed_news', firstAt: 5, lastAt: 5, isNow: false });
        const second = await store.noteFeedDue('feed_news', 5, true);
        expect(second).toEqual({ feed: 'feed_news', firstAt: 5, lastAt: 6, isNow: true });
        expect(await store.noteFeedDue('feed_news', 9, false)).toMatchObject({ lastAt: 9, isNow: true });
        await store.noteFeedAnswer(second, null);
        expect(await store.feedsDue()).toHaveLength(1);
        await store.noteFeedAnswer({ feed: 'feed_news', lastAt: 9 }, null);
        expect(await store.feedsDue()).toEqual([]);
      });
    });
  });

  describe('pauses', () => {
    const pause = { folder: '/inbox', since: 5, until: 9, by: 'anna' } as const;

    test('are one for each folder and one of everything', async () => {
      await withRows([], async (store) => {
        await store.savePause(pause, null);
        await store.savePause({ ...pause, folder: null, since: 7, until: null }, null);
        await store.savePause({ ...pause, until: null }, null);
        expect(await store.pauses()).toEqual([
          { ...pause, until: null },
          { ...pause, folder: null, since: 7, until: null },
        ]);
        await store.dropPause(null, null);
        expect(await store.pauses()).toEqual([{ ...pause, until: null }]);
      });
    });

    test('leave out the files that wait for a step in their folders, and no others', async () => {
      const elsewhere = { folder: '/other' } as const;
      const unfinished = ['queued', 'awaiting upload', 'retrying', 'processing', 'awaiting publish'] as const;
      const rows = [
        named('queued'),
        named('waiting', created),
        named('retrying', { notBefore: 9 }),
        named('processing', { ...uploaded, videoId: 'vid_2' }),
        named('ready', { ...ready, videoId: 'vid_3' }),
        named('done', { ...ready, videoId: 'vid_4', end: 'done' }),
        named('other', elsewhere),
      ];
      await withRows(rows, async (store) => {
        expect(await store.count({ states: unfinished, paused: ['/inbox'] })).toBe(3);
        expect(await store.count({ states: unfinished, paused: ['/other'] })).toBe(5);
        expect(await store.count({ states: unfinished, paused: ['/inbox', '/other'] })).toBe(2);
      });
    });
  });
}

/** A file that a person ignored when it was held. */
function ignoredOver(kind: Failure['kind']): Partial<Facts> {
  return { end: 'skipped', lastFailure: ignoredBy('anna', { end: 'held', lastFailure: failure(kind) }) };
}

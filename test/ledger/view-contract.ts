import { describe, expect, test } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, failure, ready, someFacts, somePlan, someVersion, uploaded } from '../pipeline/some-facts.ts';
import type { OpenedRows } from './opened-rows.ts';

/** What people and programs may ask any store of rows about all files. */
export function viewContract(open: () => Promise<OpenedRows>): void {
  test('what is left to do is counted by what each file still has before it', async () => {
    await using opened = await open();
    const retrying = { notBefore: 5 };
    const rows: readonly Partial<Facts>[] = [
      {},
      retrying,
      { ...created, dying: true },
      { ...uploaded, dying: true },
      { sourceUrl: 'https://example.com/a.mp4' },
      created,
      { ...created, ...retrying },
      uploaded,
      { ...uploaded, ...retrying },
      ready,
      ...(['done', 'failed', 'held', 'skipped', 'vanished', 'superseded'] as const).map((end) => ({ end })),
    ];
    expect(await opened.rows.totals('backlog')).toEqual({
      toCreate: 0,
      toSend: 0,
      bytesToSend: 0,
      processing: 0,
      toPublish: 0,
    });
    for (const [n, row] of rows.entries())
      await opened.rows.insert(
        someFacts({ ...row, id: `f_${n}`, path: `${n}.mp4`, version: { ...someVersion, size: 100 } }),
      );
    expect(await opened.rows.totals('backlog')).toEqual({
      toCreate: 5,
      toSend: 6,
      bytesToSend: 600,
      processing: 2,
      toPublish: 1,
    });
  });

  test('files that wait to be adopted are counted, and those of them that were compared', async () => {
    await using opened = await open();
    const reason = failure('permanent', { code: 'existing' });
    const likeness = { videos: [], isSure: false, doubt: null };
    const rows: readonly Partial<Facts>[] = [
      { end: 'held', lastFailure: reason },
      { end: 'held', lastFailure: { ...reason, likeness } },
      { end: 'skipped', lastFailure: reason },
      {},
    ];
    for (const [n, row] of rows.entries())
      await opened.rows.insert(someFacts({ ...row, id: `f_${n}`, path: `${n}.mp4` }));
    expect(await opened.rows.totals('adoption')).toEqual({ files: 2, compared: 1 });
  });

  test('the feeds of what is left to do are those that it was not published to, and no others', async () => {
    await using opened = await open();
    expect(await opened.rows.totals('feeds ahead')).toEqual([]);
    const to = (feed: string, other: Partial<Facts> = {}): Partial<Facts> => ({
      plan: { ...somePlan, publish: [feed] },
      ...other,
    });
    const rows = [
      to('feed_queued'),
      to('feed_sent', uploaded),
      { ...ready, plan: { ...somePlan, publish: ['feed_a', 'feed_b'] }, published: { feed_a: 1 } },
      to('feed_done', { ...ready, end: 'done', published: { feed_done: 1 } }),
      to('feed_failed', { end: 'failed' }),
      { plan: null, end: 'held' as const },
      { plan: { ...somePlan, publish: [] } },
    ];
    for (const [n, row] of rows.entries())
      await opened.rows.insert(someFacts({ ...row, id: `f_${n}`, path: `${n}.mp4` }));
    expect((await opened.rows.totals('feeds ahead')).toSorted()).toEqual(['feed_b', 'feed_queued', 'feed_sent']);
  });

  test('files that a name may mean come in the order in which they came in, whatever was written since', async () => {
    await using opened = await open();
    const { rows } = opened;
    for (const n of [1, 2, 3]) await rows.insert(someFacts({ id: `f_${n}`, folder: `/in/${n}` }));
    await rows.save(someFacts({ id: 'f_1', folder: '/in/1', attempts: 1 }), 'again');
    for (const name of ['clip.mp4', 'cli….mp4'])
      expect((await rows.find(name)).map(({ id }) => id)).toEqual(['f_1', 'f_2', 'f_3']);
  });

  // Beyond the BMP a letter is two units of a JavaScript string, and one of SQL.
  describe.each(['a', 'ü', '北', '😀', '👩‍🚀'])('with names of the letter %s', (letter) => {
    const name = letter.repeat(7);

    test('files are distinguished by the folders that a host can read', async () => {
      await using opened = await open();
      const { rows } = opened;
      const below = `${name}:`;
      const folders = [`${below}/in`, `${below}/out`, `${letter}:/in`, '/shared', '/else'];
      for (const [n, folder] of folders.entries())
        await rows.insert(someFacts({ id: `f_${n}`, folder, ...ready, end: 'done', disposal: 'pending' }));
      const seen = { names: ['/shared'], below, without: [`${below}/out`] };
      expect((await rows.rows({ group: 'to put away', limit: 9, seen })).map(({ folder }) => folder)).toEqual([
        folders[0],
        '/shared',
      ]);
      expect(await rows.atLocation(someVersion, seen)).toMatchObject({ folder: '/shared' });
    });

    test('a file is found by any name of it, also as a table prints it, cut on either side', async () => {
      await using opened = await open();
      const { rows } = opened;
      const [folder, path] = [`/in/${name}`, `${letter}/${name}.mp4`];
      await rows.insert(someFacts({ id: 'f_1', folder, path }));
      await rows.insert(someFacts({ id: 'f_2', folder: `/${name}`, path: 'other.mov', disposal: 'moved' }));
      for (const asked of [path, `${name}.mp4`, `${folder}/${path}`, `${name.slice(0, letter.length * 3)}….mp4`])
        expect((await rows.find(asked)).map(({ id }) => id)).toEqual(['f_1']);
      for (let cut = 0; cut < 7; cut += 1) {
        const rest = letter.repeat(7 - cut);
        for (const asked of [`…${rest}.mp4`, `/in/…${rest}.mp4`])
          expect(
            (await rows.find(asked)).map(({ id }) => id),
            asked,
          ).toEqual(['f_1']);
      }
      expect((await rows.find(`/${name}/before/other.mov`)).map(({ id }) => id)).toEqual(['f_2']);
      expect(await rows.pathsNamed(folder, `${letter}/${name}`)).toEqual([path]);
      expect(await rows.count({ text: `${letter}/${letter}` })).toBe(1);
    });
  });

  test('causes with as many files come in the same order each time, whatever was written since', async () => {
    await using opened = await open();
    const { rows } = opened;
    const codes = ['d', 'b', 'a', 'c'];
    for (const code of codes)
      await rows.insert(
        someFacts({ id: code, path: code, end: 'failed', endedAt: 1, lastFailure: failure('permanent', { code }) }),
      );
    const { causes } = await rows.snapshot({ held: () => [], working: 1, needing: 1 });
    expect(causes.map(({ cause }) => cause)).toEqual(codes.toSorted());
  });
}

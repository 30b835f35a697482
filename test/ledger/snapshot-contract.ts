import { expect, test } from 'vitest';
import { needsYouIn } from '../../src/view/picture/read-rows.ts';
import { needsPerson } from '../../src/pipeline/file/reasons.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { stageOf } from '../../src/view/stages.ts';
import { causeKey } from '../../src/pipeline/file/selection.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { created, failure, ready, someFacts, uploaded } from '../pipeline/some-facts.ts';
import type { OpenedRows } from './opened-rows.ts';

const none = { held: () => [], working: 5, needing: 5 };

function refused(message: string, other: Partial<Failure> = {}): Partial<Facts> {
  const lastFailure = failure('permanent', { code: 'invalid_request', status: 422, message, ...other });
  return { end: 'failed', endedAt: 10, lastFailure, why: message };
}

const missingFeed = failure('suspended', { code: 'unknown_feed', feed: 'feed_gone' });
const missingChannel = failure('suspended', { code: 'unknown_channel' });

/** What the views of all files may expect of any store of rows. */
export function snapshotContract(open: () => Promise<OpenedRows>): void {
  const ledgerWith = async (rows: readonly Partial<Facts>[]): Promise<OpenedRows> => {
    const opened = await open();
    for (const [n, row] of rows.entries())
      await opened.rows.insert(someFacts({ id: `f_${String(n).padStart(4, '0')}`, path: `${n}.mp4`, ...row }));
    return opened;
  };

  test('files that need a person are counted by cause, the most files first, each with its first file and examples', async () => {
    const notVideo = {
      end: 'failed',
      endedAt: 7,
      lastFailure: failure('permanent', { code: 'processing_failed' }),
    } as const;
    await using opened = await ledgerWith([
      ...Array.from({ length: 3 }, (_, n) => ({ ...notVideo, path: `a/film-${n}.MKV`, endedAt: 7 + n })),
      { ...notVideo, path: 'b/other.avi', folder: '/outbox' },
      { end: 'held', endedAt: 9, lastFailure: failure('permanent', { code: 'no_rule' }) },
      { end: 'done', endedAt: 9, disposal: 'waiting', lastFailure: failure('suspended', { code: 'EACCES' }) },
      { end: 'done', endedAt: 9 },
    ]);
    const { causes, more } = await opened.rows.snapshot(none);
    expect(causes.map(({ cause, files, extensions }) => [cause, files, extensions])).toEqual([
      ['processing_failed', 4, ['mkv', 'avi']],
      ['local.EACCES', 1, ['mp4']],
      ['no_rule', 1, ['mp4']],
    ]);
    expect(causes[0]?.first).toMatchObject({ path: 'a/film-0.MKV', endedAt: 7 });
    expect(causes[0]?.examples.map(({ path }) => path)).toEqual(['a/film-2.MKV', 'b/other.avi']);
    expect(more).toEqual({ causes: 0, files: 0 });
  });

  test('files that wait for a retry are counted by the stage that they will resume', async () => {
    const begun = { ...created, uploadStartedAt: 2 };
    const rows = [{}, created, begun, uploaded, { ...uploaded, dying: true }, ready].map(
      (stage, n): Partial<Facts> => ({ ...stage, notBefore: 9, ...('videoId' in stage && { videoId: `vid_${n}` }) }),
    );
    await using opened = await ledgerWith([...rows, {}, { end: 'failed', endedAt: 9 }]);
    const found = await opened.rows.rows({ group: 'any', where: { states: ['retrying'] }, limit: 99 });
    const meant = Object.groupBy(found, (facts) => stageOf(facts, false));
    const counts = Object.fromEntries(Object.entries(meant).map(([stage, files]) => [stage, files.length]));
    expect(counts).toEqual({ queued: 3, uploading: 1, processing: 1, publishing: 1 });
    expect((await opened.rows.snapshot(none)).retrying).toEqual(counts);
  });

  test('what needs a person is the same by its row, by its count and by its cause', async () => {
    const ends = ['failed', 'held', 'skipped', 'vanished', 'superseded', 'done'] as const;
    const stages = [
      {},
      created,
      uploaded,
      ready,
      { ...created, notBefore: 9 },
      ...ends.map((end) => ({ end, endedAt: 5 })),
    ];
    const failures = [null, failure('transient'), missingFeed, missingChannel];
    const rows = stages.flatMap((stage, s) =>
      failures.flatMap((lastFailure, f) =>
        ([null, 'waiting'] as const)
          .filter((disposal) => disposal === null || ('end' in stage && stage.end === 'done'))
          .map((disposal, d) => ({
            ...stage,
            lastFailure,
            disposal,
            ...('videoId' in stage && { videoId: `vid_${s}_${f}_${d}` }),
          })),
      ),
    );
    await using opened = await ledgerWith(rows);
    const now = await opened.rows.snapshot({ held: () => [], working: 999, needing: 999 });
    const all = await opened.rows.rows({ group: 'any', limit: 999 });
    const meant = all
      .filter((facts) =>
        needsPerson({ state: stateOf(facts), local: facts.disposal, code: facts.lastFailure?.code ?? null }),
      )
      .map(({ id }) => id)
      .toSorted();
    expect(meant.length).toBeGreaterThan(8);
    expect(now.needing.map(({ id }) => id).toSorted()).toEqual(meant);
    expect(needsYouIn(now.counts)).toBe(meant.length);
    expect(now.causes.reduce((sum, { files }) => sum + files, now.more.files)).toBe(meant.length);
    const selected = await opened.rows.selection.ids({ needsPerson: true }, 999);
    expect(selected.ids.toSorted()).toEqual(meant);
    expect(await opened.rows.count({ needsPerson: true, states: ['failed'] })).toBe(failures.length);
    const { total, states, causes } = await opened.rows.selection.facets({ needsPerson: true });
    expect(total).toBe(meant.length);
    expect(states.map(({ value }) => value)).toEqual(
      expect.arrayContaining(['failed', 'held', 'retrying', 'awaiting publish', 'done']),
    );
    expect(causes).toContainEqual({ value: 'unknown_feed.feed_gone', files: expect.any(Number) });
  });

  test.each([
    [
      'a feed that the service does not have',
      'none',
      { kind: 'suspended', code: 'unknown_feed', feed: 'feed_x', status: undefined },
      'unknown_feed.feed_x',
    ],
    [
      'a field that the service refuses',
      'the service answered 422 invalid_request: tags: has too many.',
      {},
      'invalid_request.tags',
    ],
    [
      'one place of a list',
      'the service answered 422 invalid_request: tags.3: must not be empty.',
      {},
      'invalid_request',
    ],
    ['words of the service that name no field', 'the service answered 422 invalid_request: No.', {}, 'invalid_request'],
    ['a title in its words', 'the service answered 422 invalid_request: "My clip": no.', {}, 'invalid_request'],
    [
      'a failure that is not of a request',
      'EACCES: permission denied',
      { code: 'EACCES', status: undefined },
      'EACCES',
    ],
    ['a deleted video', 'gone', { kind: 'gone', code: 'not_found', status: 404 }, 'deleted_on_service'],
  ] as const)('the cause names %s', async (_what, message, other, cause) => {
    await using opened = await ledgerWith([refused(message, other as Partial<Failure>)]);
    const { causes } = await opened.rows.snapshot(none);
    expect(causes.map((found) => [found.cause, causeKey(found.first)])).toEqual([[cause, cause]]);
  });

  test.each([
    ['clip.mkv', 'mkv'],
    ['clip.MKV', 'mkv'],
    ['clip', ''],
    ['v1.2/clip', ''],
    ['clip.a-very-long-ending', ''],
    ['clip.', ''],
    ['.hidden', 'hidden'],
    ['a.b.mp4', 'mp4'],
    ['Ünïcode.mp4', 'mp4'],
  ])('the ending of %s is %o', async (path, extension) => {
    await using opened = await ledgerWith([{ ...refused('no'), path }]);
    expect((await opened.rows.snapshot(none)).causes[0]?.extensions).toEqual([extension]);
  });

  test('more causes than anybody reads are counted', async () => {
    await using opened = await ledgerWith(
      Array.from({ length: 14 }, (_, n) => refused('no', { code: `code_${n}`, status: 418 })),
    );
    const { causes, more } = await opened.rows.snapshot(none);
    expect(causes).toHaveLength(10);
    expect(more).toEqual({ causes: 4, files: 4 });
  });

  test('a snapshot has every row that a step works on, the first of each state, and its counts', async () => {
    await using opened = await ledgerWith([
      ...Array.from({ length: 8 }, () => ({})),
      { ...created, videoId: 'vid_a' },
      { ...uploaded, videoId: 'vid_b' },
      { ...ready, videoId: 'vid_c' },
      { notBefore: 99 },
      { notBefore: 98 },
      { ...ready, end: 'done', endedAt: 5 },
    ]);
    const now = await opened.rows.snapshot({ held: () => ['f_0007'], working: 2, needing: 5 });
    expect(now.counts).toEqual({
      queued: 8,
      'awaiting upload': 1,
      processing: 1,
      'awaiting publish': 1,
      retrying: 2,
      done: 1,
    });
    expect(now.working.map(({ id }) => id)).toEqual([
      'f_0000',
      'f_0001',
      'f_0007',
      'f_0008',
      'f_0009',
      'f_0010',
      'f_0011',
      'f_0012',
    ]);
    expect(now.nextTryAt).toBe(98);
  });

  test('what ended is counted by time, also when a file is taken up again', async () => {
    await using opened = await ledgerWith([
      { end: 'done', endedAt: 100 },
      { end: 'done', endedAt: 199 },
      { end: 'done', endedAt: 200 },
      { end: 'failed', endedAt: 150 },
      { end: 'held', endedAt: 150 },
      { end: 'skipped', endedAt: 150 },
    ]);
    const where = { ended: { from: 100, to: 200 } };
    const counts = await opened.rows.counts({ where, by: ['state'], withBytes: true });
    const found = Object.fromEntries(counts.map(({ state, files, bytes }) => [state, { files, bytes }]));
    const one = { files: 1, bytes: 5_000 };
    expect(found).toEqual({ done: { files: 2, bytes: 10_000 }, failed: one, held: one, skipped: one });
  });

  test('when feeds were published is known from the rows that ended last', async () => {
    await using opened = await ledgerWith([
      { end: 'done', endedAt: 1, published: { feed_news: 5, feed_old: 2 } },
      { end: 'done', endedAt: 2, published: { feed_news: 7 } },
    ]);
    expect(await opened.rows.latestPublished(10)).toEqual({ feed_news: 7, feed_old: 2 });
    expect(await opened.rows.latestPublished(1)).toEqual({ feed_news: 7 });
  });
}

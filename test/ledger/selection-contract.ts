import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { causeKey, stepStates } from '../../src/pipeline/file/selection.ts';
import type { CountStore, FileSelection, SelectionStore } from '../../src/pipeline/file/selection.ts';
import { ignoredBy } from '../../src/pipeline/file/reasons.ts';
import { stageOf } from '../../src/view/stages.ts';
import { created, failure, ready, someFacts, somePlan, uploaded } from '../pipeline/some-facts.ts';

/** A store with some files. */
export interface OpenedSelection extends AsyncDisposable {
  readonly selection: SelectionStore;
  count: CountStore['count'];
  add(facts: Facts): Promise<void>;
}

const ordinary: readonly Partial<Facts>[] = [
  {},
  created,
  uploaded,
  ready,
  { ...ready, end: 'done', endedAt: 9_000, disposal: 'kept', published: { feed_news: 1 } },
  { end: 'failed', endedAt: 5_000, lastFailure: failure('permanent', { code: 'processing_failed' }) },
  { end: 'held', endedAt: 5_000, plan: null, lastFailure: failure('permanent', { code: 'no_rule' }) },
  { notBefore: 7, attempts: 2, lastFailure: failure('transient', { code: 'http_503' }) },
];
const kinds: readonly Partial<Facts>[] = [
  ...ordinary,
  ...ordinary.slice(0, -2),
  { end: 'skipped', endedAt: 5_000, lastFailure: ignoredBy('anna', someFacts()) },
  { ...created, uploadStartedAt: 2, notBefore: 7, lastFailure: failure('transient', { code: 'http_503' }) },
];
const names = ['Überblick', 'evening_50%', 'a\nb', "it's", String.raw`back\slash`, '[x]*?', 'ÇA VA', '映像 % жук'];

export function fileOf(n: number): Facts {
  const kind = kinds[n % kinds.length];
  return someFacts({
    plan: {
      ...somePlan,
      channel: `ch_${n % 3}`,
      title: `Day ${n % 11}`,
      publish: n % 2 ? ['feed_a', 'feed"b'] : ['feed_a'],
    },
    ...kind,
    id: `f_${n}`,
    folder: `/in/${n % 4}`,
    path: `${names[n % names.length]}/clip ${n}.mp4`,
    discoveredAt: n * 100,
    ...(kind?.videoId !== undefined && { videoId: `vid_${n}` }),
  });
}

const files = Array.from({ length: 240 }, (_, n) => fileOf(n));
const working = ['f_0', 'f_1', 'f_8', 'f_9', 'f_2'];

/** What is meant, said once more and simply. */
function isMeant(facts: Facts, selection: FileSelection): boolean {
  const { ids, states, stages, folder, channel, feed, cause, text, since = 0, until = Infinity } = selection;
  const isWithin = (at: number | null): boolean => at !== null && at >= since && at < until;
  const title = facts.plan?.title ?? '';
  const path = text?.startsWith('/') === true ? `${facts.folder}/${facts.path}` : facts.path;
  const has = (where: string | null): boolean =>
    where?.toLowerCase().includes(text?.normalize('NFC').toLowerCase() ?? '') ?? false;
  return (
    (ids?.includes(facts.id) ?? true) &&
    (states?.includes(shownAs(facts, selection)) ?? true) &&
    (stages?.includes(stageIn(facts, selection)) ?? true) &&
    (folder === undefined || facts.folder === folder) &&
    (channel === undefined || facts.plan?.channel === channel) &&
    (feed === undefined || (facts.plan?.publish.includes(feed) ?? false)) &&
    (cause === undefined || causeKey(facts) === cause) &&
    (text === undefined || has(path) || has(title) || has(facts.videoId)) &&
    (isWithin(facts.discoveredAt) || isWithin(facts.endedAt))
  );
}

function shownAs(facts: Facts, selection: FileSelection): string {
  const state = stateOf(facts);
  const step = (stepStates as Readonly<Record<string, string>>)[state];
  return step !== undefined && selection.working?.includes(facts.id) === true ? step : state;
}

function stageIn(facts: Facts, { working }: FileSelection): string {
  return stageOf(facts, working?.includes(facts.id) === true);
}

export const selections: readonly FileSelection[] = [
  {},
  { working },
  { ids: ['f_3', 'f_4', 'no such id'] },
  { ids: [] },
  { states: [] },
  { states: ['done'] },
  { states: ['failed', 'held'] },
  { states: ['queued'], working },
  { states: ['creating', 'uploading'], working },
  { states: ['uploading'] },
  { states: ['awaiting upload', 'uploading', 'processing'], working },
  { states: ['settling'] },
  { stages: [] },
  { stages: ['queued'] },
  { stages: ['queued'], working },
  { stages: ['uploading', 'publishing'], working },
  { stages: ['processing', 'ignored', 'settling'] },
  { stages: ['uploading'], states: ['retrying'] },
  { folder: '/in/2' },
  { channel: 'ch_1' },
  { feed: 'feed"b' },
  { feed: 'feed' },
  { cause: 'no_rule' },
  { cause: 'processing_failed', folder: '/in/1', channel: 'ch_2', feed: 'feed_a' },
  { since: 8_999 },
  { until: 8_999 },
  { since: 8_990, until: 8_999 },
  { since: 8_999, until: 8_999 },
  { since: 20_000, states: ['queued'] },
  { text: 'überblick' },
  { text: 'U\u0308BERBLICK' },
  { text: 'ça va' },
  { text: '映像 % Ж' },
  { text: 'DAY 7' },
  { text: 'vid_17' },
  { text: '%' },
  { text: '_50%' },
  { text: '_' },
  { text: '\n' },
  { text: "it's/" },
  { text: '\\' },
  { text: '[x]*?' },
  { text: 'Ü*' },
  { text: 'clip\0 1' },
  { text: '\0' },
  { text: '/in/2/it' },
  { text: '\u{1F600}' },
  { text: 'x'.repeat(1_000_000) },
  { text: 'ü'.repeat(4_000) },
  { text: "'; drop table file; --" },
];

/** What may be selected in any store of rows, and what is found. */
export function selectionContract(openWith: (files: readonly Facts[]) => Promise<OpenedSelection>): void {
  describe('a selection', () => {
    let ledger: OpenedSelection;
    beforeAll(async () => {
      ledger = await openWith(files);
    });
    afterAll(() => ledger[Symbol.asyncDispose]());

    test.for(selections.map((selection) => [JSON.stringify(selection).slice(0, 80), selection] as const))(
      'finds, counts and names the same files: %s',
      async ([, selection]) => {
        const meant = files.filter((facts) => isMeant(facts, selection)).toReversed();
        const page = await ledger.selection.page(selection, { limit: 1_000 });
        expect(page.files.map(({ id }) => id)).toEqual(meant.map(({ id }) => id));
        expect(await ledger.count(selection)).toBe(meant.length);
        expect(await idsOf(ledger.selection, selection, 7)).toEqual(meant.map(({ id }) => id));
        const facets = await ledger.selection.facets(selection);
        expect(facets.total).toBe(meant.length);
        const { states: _, stages: _s, ...anyState } = selection;
        expect(asRecord(facets.states)).toEqual(
          tally(
            files.filter((facts) => isMeant(facts, anyState)),
            (facts) => [shownAs(facts, selection)],
          ),
        );
        expect(asRecord(facets.stages)).toEqual(
          tally(
            files.filter((facts) => isMeant(facts, anyState)),
            (facts) => [stageIn(facts, selection)],
          ),
        );
        const { feed: _f, ...anyFeed } = selection;
        expect(asRecord(facets.feeds)).toEqual(
          tally(
            files.filter((facts) => isMeant(facts, anyFeed)),
            ({ plan }) => plan?.publish ?? [],
          ),
        );
      },
    );

    test.for(['newest first', 'oldest first'] as const)(
      'has pages in the order %s, forwards and back',
      async (order) => {
        const wanted: FileSelection = { channel: 'ch_1' };
        const { selection } = ledger;
        const all = (await selection.page(wanted, { limit: 1_000, order })).files.map(({ id }) => id);
        const first = await selection.page(wanted, { limit: 30, order });
        const second = await selection.page(wanted, { limit: 30, order, after: first.last ?? '' });
        const third = await selection.page(wanted, { limit: 30, order, after: second.last ?? '' });
        expect([first, second, third].flatMap((page) => page.files.map(({ id }) => id))).toEqual(all);
        expect([first, second, third].map((page) => [page.isMoreBefore, page.isMoreAfter])).toEqual([
          [false, true],
          [true, true],
          [true, false],
        ]);
        expect(await selection.page(wanted, { limit: 30, order, before: third.first ?? '' })).toEqual(second);
        expect(await selection.page(wanted, { limit: 30, order, before: second.first ?? '' })).toEqual(first);
      },
    );

    test('the first page is whole for who comes back to it from the middle of it', async () => {
      const middle = (await ledger.selection.page({}, { limit: 10 })).last ?? '';
      const page = await ledger.selection.page({}, { limit: 30, before: middle });
      expect(page).toEqual(await ledger.selection.page({}, { limit: 30 }));
    });

    test.for(['', 'NaN', '1e999', '-5', '9'.repeat(400), '1; drop table file'])(
      'a cursor that is none (%s) breaks nothing',
      async (cursor) => {
        for (const range of [{ after: cursor }, { before: cursor }, { upTo: cursor }])
          await expect(ledger.selection.page({}, { limit: 5, ...range })).resolves.toHaveProperty('files');
      },
    );
  });

  test('files that arrive during reading move nothing: they are counted and not shown', async () => {
    await using ledger = await openWith(files.slice(0, 50));
    const { selection } = ledger;
    const first = await selection.page({}, { limit: 20 });
    for (const facts of files.slice(50, 53)) await ledger.add(facts);
    const top = first.first ?? '';
    expect((await selection.page({}, { limit: 20, upTo: top })).files).toEqual(first.files);
    expect(await ledger.count({ newerThan: top })).toBe(3);
    expect(await ledger.count({ folder: '/in/2', newerThan: top })).toBe(1);
    const next = await selection.page({}, { limit: 20, after: first.last ?? '' });
    expect(next.files[0]?.id).toBe('f_29');
  });
}

async function idsOf(selection: SelectionStore, wanted: FileSelection, most: number): Promise<readonly string[]> {
  const found: string[] = [];
  let after: string | undefined;
  for (;;) {
    const slice = await selection.ids(wanted, most, after);
    found.push(...slice.ids);
    if (slice.next === null) return found;
    after = slice.next;
  }
}

function asRecord(
  counts: readonly { readonly value: string; readonly files: number }[],
): Readonly<Record<string, number>> {
  return Object.fromEntries(counts.map(({ value, files }) => [value, files]));
}

function tally(
  some: readonly Facts[],
  valuesOf: (facts: Facts) => readonly string[],
): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const value of some.flatMap(valuesOf)) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { RowGroup, RowsWanted } from '../../../src/pipeline/file/row-groups.ts';
import type { FileSelection } from '../../../src/pipeline/file/selection.ts';
import { dayTotals } from '../../../src/status/notifications/daily.ts';
import { openInFile } from '../../ledger/opened-rows.ts';
import type { OpenedRows } from '../../ledger/opened-rows.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import { lookedFor, someRows } from '../../ledger/some-rows.ts';
import { openShared } from './open-shared.ts';

test('whatever the files are, a ledger in a file and one on PostgreSQL answer every question alike', async () => {
  await fc.assert(
    fc.asyncProperty(someRows, fc.array(lookedFor, { minLength: 3, maxLength: 3 }), async (files, texts) => {
      await using inFile = await openInFile();
      await using shared = await openShared();
      for (const { rows } of [inFile, shared]) await write(rows, files);
      const questions = questionsOf(files, texts);
      for (const [name, ask] of Object.entries(questions))
        expect(await ask(shared.rows), name).toEqual(await ask(inFile.rows));
    }),
    { numRuns: 20 },
  );
});

/** What writes, and what is read of it: `*-contract.ts`, which both stores keep. */
const inContracts =
  'insert save load addListed listed listing forgetListing firstStart saveFirstStart noteFeedDue noteFeedAnswer feedsDue noteDeletion ' +
  'deletionsSince counter pauses savePause dropPause note saveNote news news.commit news.recall news.markTried news.markRefused news.trim news.countWaiting ' +
  'createdSince countFile countedFiles forgetCounted events keepEvents ' +
  'beginAudit addAudited addFindings findings countFindings listedNear unknownVideos';

/** Nothing, or another thing, in a file. */
const ofPostgres = 'backUp hostsOf id repairs verify';

test('every port of a ledger is called on both stores', async () => {
  await using shared = await openShared();
  const ports: Readonly<Record<string, object>> = {
    '': shared.rows,
    selection: shared.rows.selection,
    news: shared.rows.news,
  };
  const names = Object.entries(ports).flatMap(([port, calls]) =>
    Object.keys(calls).map((name) => [port, name].filter(Boolean).join('.')),
  );
  const asked = Object.values(questionsOf([someFacts()], []))
    .map(String)
    .join(' ');
  const isAsked = (path: string): boolean => {
    const name = path.replace(/.*\./, '');
    return new RegExp(String.raw`\{ ${name} \}|\b${name}[(:]`).test(asked);
  };
  expect(names.filter((name) => !isAsked(name)).toSorted()).toEqual(
    `${inContracts} ${ofPostgres}`.split(' ').toSorted(),
  );
});

/** Every second row once more, so that rows do not lie in the order of their numbers. */
async function write(rows: Rows, files: readonly Facts[]): Promise<void> {
  for (const facts of files) await rows.insert(facts);
  for (const facts of files.filter((_, n) => n % 2 === 0)) await rows.save({ ...facts, attempts: 1 }, 'again');
}

type Rows = OpenedRows['rows'];

type Question = (rows: Rows) => Promise<unknown>;

function questionsOf(files: readonly Facts[], texts: readonly string[]): Readonly<Record<string, Question>> {
  const first = files[0];
  if (first === undefined) return {};
  const { folder, path, version } = first;
  const selections: readonly FileSelection[] = [
    {},
    { needsPerson: true },
    { folder },
    { feed: 'feed_a' },
    { channel: 'ch_b' },
    { cause: 'invalid_request.tags' },
    { states: ['queued', 'creating'], working: ['f_0', 'f_3'] },
    { since: 5 },
    ...texts.map((text) => ({ text })),
  ];
  const names = [...texts, path, `${folder}/${path}`, `${path.slice(0, 3)}…`, 'f_1', 'Vid_2', 'vid_2'];
  const folders = ['/in', '/Z'];
  const paths = files.map((file) => file.path);
  const seen = { names: ['/Z'], below: '/i', without: ['/ü'] };
  const limit = 99;
  const ordered: {
    readonly [G in Exclude<RowGroup, 'stopped by disk' | 'too large'>]: readonly RowsWanted<G>[];
  } = {
    'in state': [{ group: 'in state', state: 'held', limit }],
    retrying: [{ group: 'retrying', dueBy: 8, limit }],
    due: [{ group: 'due', limit }],
    any: [
      { group: 'any', where: { states: ['done', 'queued'], openSince: 3 }, limit: 9, newestFirst: true },
      { group: 'any', limit: 9 },
      ...selections.map((where) => ({ group: 'any', where, limit: 7 }) as const),
    ],
    'came in': [{ group: 'came in', folder: '/in', since: 4 }],
    twins: [{ group: 'twins', of: first, passing: ['f_2'] }],
    stranded: [
      { group: 'stranded', twin: 'f_0' },
      { group: 'stranded', twin: null },
    ],
    'to put away': [
      { group: 'to put away', limit },
      { group: 'to put away', limit, seen },
    ],
    'waiting for disk': [
      { group: 'waiting for disk', limit },
      { group: 'waiting for disk', limit, seen },
    ],
    expired: [{ group: 'expired', now: 12, folders, limit: 9 }],
    crowding: [{ group: 'crowding', mark: { folder: '/in', whenFull: 85 }, limit: 2, without: 1 }],
    'to amend': [{ group: 'to amend', limit }],
    abandoned: [{ group: 'abandoned', ends: ['superseded', 'vanished', 'failed'], limit }],
    unrouted: [{ group: 'unrouted' }],
    'to compare': [{ group: 'to compare', limit }],
    'to adopt': [{ group: 'to adopt' }],
  };
  const wanted: readonly RowsWanted[] = Object.values(ordered).flat();
  return {
    ...Object.fromEntries(
      selections.flatMap((selection): [string, Question][] => {
        const name = JSON.stringify(selection);
        return [
          [`page ${name}`, ({ selection: store }) => store.page(selection, { limit: 7 })],
          [`count ${name}`, ({ count }) => count({ ...selection, newerThan: '3' })],
          [`ids ${name}`, ({ selection: store }) => store.ids(selection, 99)],
          [`facets ${name}`, ({ selection: store }) => store.facets(selection)],
        ];
      }),
    ),
    ...Object.fromEntries(names.map((name): [string, Question] => [`find ${name}`, (rows) => rows.find(name)])),
    ...Object.fromEntries(
      (['queued', 'awaiting upload'] as const).map((state): [string, Question] => [
        `heads ${state}`,
        ({ heads }) => heads(state, 2, ['f_1']),
      ]),
    ),
    snapshot: ({ snapshot }) => snapshot({ held: () => ['f_0'], working: 3, needing: 9 }),
    'by state': ({ totals }) => totals('by state'),
    'waiting since': ({ totals }) => totals('waiting since'),
    backlog: ({ totals }) => totals('backlog'),
    'feeds ahead': async ({ totals }) => (await totals('feeds ahead')).toSorted(),
    deletions: ({ totals }) => totals('deletions'),
    adoption: ({ totals }) => totals('adoption'),
    ...Object.fromEntries(
      wanted.map((each): [string, Question] => [`rows ${JSON.stringify(each)}`, ({ rows }) => rows(each)]),
    ),
    lines: async ({ lines }) => sorted(await lines(['f_1'])),
    before: async ({ before }) => sorted([...(await before(['f_0', 'f_1', 'f_9'], 5, ['f_2']))]),
    lastStarts: ({ lastStarts }) => lastStarts(9),
    count: ({ count }) => count({ states: ['queued', 'held'] }),
    'count but for paused folders': ({ count }) =>
      count({ states: ['queued', 'processing', 'retrying'], paused: folders }),
    waiting: ({ waiting }) => waiting(),
    'files on their way to a feed': ({ count }) => count({ states: ['queued', 'processing'], feed: 'feed_b' }, 1),
    'stopped by disk': async ({ rows }) =>
      sorted(await rows({ group: 'stopped by disk', folder, after: '', limit: 99 })),
    'too large': async ({ rows }) => sorted(await rows({ group: 'too large', after: '', limit: 99 })),
    'atLocation where a host can read': ({ atLocation }) => atLocation(version, seen),
    'all that is expected': ({ roots }) => roots.expected(folder, paths, 'all'),
    'all that is needed': ({ roots }) => roots.expected(folder, paths, 'unfinished'),
    'a video of ours': ({ count }) => count({ videoId: 'vid_1' }, 1),
    'a video of others': ({ count }) => count({ videoId: 'vid_0' }, 1),
    lastPassage: ({ lastPassage }) => lastPassage(),
    fullMarks: async ({ fullMarks }) => sorted(await fullMarks(folders)),
    unanswered: async ({ unanswered }) =>
      (await unanswered()).map(({ token, fileId, title }) => `${token} ${fileId} ${title}`).toSorted(),
    atPath: ({ atPath }) => atPath(folder, path),
    atLocation: ({ atLocation }) => atLocation(version),
    pathsNamed: async ({ pathsNamed }) => (await pathsNamed(folder, path.split('.')[0] ?? '')).toSorted(),
    known: async ({ known }) => {
      const told: unknown[] = [];
      await known(folder, (file) => void told.push(file));
      return told;
    },
    movedBy: ({ movedBy }) => movedBy('/in'),
    'sent to a channel': ({ count }) => count({ sentTo: { kind: 'channel', name: 'ch_a' } }, 1),
    'sent to a feed': ({ count }) => count({ sentTo: { kind: 'feed', name: 'feed_b' } }, 1),
    history: async ({ history }) => (await history('f_0')).map(withoutTime),
    ended: async ({ counts }) =>
      sorted(await counts({ where: { ended: { from: 2, to: 7 } }, by: ['state'], withBytes: true })),
    latestLines: async ({ latestLines }) => (await latestLines(9)).map(({ state }) => state),
    latestPublished: ({ latestPublished }) => latestPublished(99),
    totals: (rows) => dayTotals(rows, 2, 8),
    doneAfter: ({ doneAfter }) => doneAfter({ from: 0, to: 9 }),
    passages: async ({ passages }) => (await passages(2, ['queued', 'held', 'done'], 9)).map(withoutTime),
    lastStates: async ({ lastStates }) =>
      sorted([...(await lastStates(['f_0', 'f_1', 'f_2'], ['queued', 'done'], 99))]),
  };
}

/** Where nothing is said of the order. */
function sorted(found: readonly unknown[]): readonly string[] {
  return found.map((one) => JSON.stringify(one)).toSorted();
}

/** Each store is written to at its own time. */
function withoutTime(line: object): object {
  return { ...line, at: 0 };
}

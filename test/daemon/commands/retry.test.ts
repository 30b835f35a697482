import { describe, expect, test } from 'vitest';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { retry } from '../../../src/daemon/commands/retry.ts';
import type { FileEvent } from '../../../src/pipeline/file/machine.ts';
import type { FileSelection } from '../../../src/pipeline/file/selection.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import { failure, ready, someFacts, somePlan, uploaded } from '../../pipeline/some-facts.ts';

const held = (id: string, lastFailure: Facts['lastFailure'], other: Partial<Facts> = {}): Facts =>
  someFacts({ id, path: `${id}.mp4`, end: 'held', why: lastFailure?.message ?? null, lastFailure, ...other });
const failed = (id: string, lastFailure: Facts['lastFailure']): Facts => ({ ...held(id, lastFailure), end: 'failed' });

const truncated = held('truncated', failure('permanent', { code: 'flawed', message: 'moov is missing' }));
const empty = held('empty', failure('permanent', { code: 'flawed', message: 'the file is empty' }));
const unreadable = held('unreadable', failure('permanent', { code: 'unreadable', message: 'sudo setfacl' }));
const directory = held('directory', failure('permanent', { code: 'closed_directory', message: 'sudo setfacl' }), {
  plan: null,
});
const deleted = held('deleted', failure('gone', { code: 'not_found' }), uploaded);
const unclear = held('unclear', failure('unclear', { code: 'import_in_doubt' }), {
  sourceUrl: 'https://example.com/a',
});
const ruleless = held('ruleless', failure('permanent', { code: 'no_rule', message: 'no rule matches' }), {
  plan: null,
});
const refused = failed('refused', failure('permanent', { code: 'title_taken', status: 422 }));
const channelless = failed('channelless', failure('permanent', { code: 'not_found', status: 404 }));
const broken = failed('broken', failure('permanent', { code: 'processing_failed' }));
const tired = failed('tired', failure('transient', { code: 'EPIPE' }));
const waiting = someFacts({ id: 'waiting', notBefore: 9, lastFailure: failure('suspended', { code: 'unauthorized' }) });
const skipped = someFacts({ id: 'skipped', end: 'skipped', lastFailure: failure('duplicate', { code: 'duplicate' }) });

const onDisk = (id: string, disposal: 'waiting' | 'refused' | 'moved'): Facts =>
  held(id, failure('permanent', { code: 'EACCES' }), { ...ready, end: 'done', disposal });
const stuck = onDisk('stuck', 'waiting');
const kept = onDisk('kept', 'refused');
const moved = onDisk('moved', 'moved');

const all = [
  truncated,
  empty,
  deleted,
  unclear,
  ruleless,
  refused,
  channelless,
  broken,
  tired,
  waiting,
  skipped,
  stuck,
  kept,
  moved,
];
const cured = ['refused', 'channelless', 'broken', 'tired', 'waiting'];
const states = ['failed', 'held', 'retrying'];

function open(files: readonly Facts[] = all) {
  const armed: string[] = [];
  const putAway: string[] = [];
  const events: FileEvent[] = [];
  const daemon = {
    fleet: null,
    ledger: {
      selection: {
        ids: async ({ states: wanted = [] }: FileSelection) => ({
          ids: files.filter((facts) => wanted.includes(stateOf(facts))).map(({ id }) => id),
          next: null,
        }),
      },
      load: async (wanted: string) => files.find(({ id }) => id === wanted) ?? null,
      rows: async () => files.filter(({ disposal }) => disposal === 'waiting'),
      find: async (name: string) => files.filter(({ id }) => id === name),
    },
    conductor: {
      apply: async (id: string, event: FileEvent) => (armed.push(id), events.push(event), 'applied'),
      putAwayAgain: async (id: string) => putAway.push(id) > 0,
      checkVideo: async () => 'there',
      pace: () => ({ processingMs: 60_000 }),
      pause: () => null,
      createsPauses: () => [],
      probeNow: () => undefined,
    },
    folders: { reroute: async () => 'known' },
    rows: { held: () => [] },
    config: () => ({
      file: '/etc/dropcast.yaml',
      poll: { intervalMs: 15_000 },
      folders: [{ rules: [{ key: somePlan.rule, line: 12 }] }],
    }),
  } as unknown as Daemon;
  return { daemon, armed, putAway, events };
}

test('a retry of all takes files that may have been fixed, and says which it leaves and why', async () => {
  const { daemon, armed, putAway } = open();
  const { retried, refused, left } = await retry(daemon, { names: [], selection: { states } });
  expect([armed, putAway]).toEqual([cured, ['stuck']]);
  expect([retried, refused]).toEqual([[...cured, 'stuck'], []]);
  expect(left).toMatchObject([
    {
      files: 2,
      examples: [expect.stringContaining('/'), expect.stringContaining('/')],
      why: expect.stringContaining('empty, incomplete or not a video'),
    },
    { files: 1, why: expect.stringContaining('deleted') },
    { files: 1, why: expect.stringContaining('import') },
    { files: 1, why: expect.stringContaining('rule') },
  ]);
});

test('a forced retry of all takes the rest too, but for what has no rule', async () => {
  const { daemon } = open();
  const { retried, left } = await retry(daemon, { names: [], selection: { states }, force: true });
  expect(retried.toSorted()).toEqual(['truncated', 'empty', 'deleted', 'unclear', 'stuck', ...cured].toSorted());
  expect(left).toMatchObject([{ files: 1, why: expect.stringContaining('rule') }]);
});

test('a file or directory that dropcast may not read needs its command, not a retry, however it is selected', async () => {
  const { daemon } = open([unreadable, directory]);
  for (const force of [false, true]) {
    const { retried, left } = await retry(daemon, { names: [], selection: { states }, force });
    expect(retried).toEqual([]);
    expect(left.map(({ why }) => why)).not.toContainEqual(expect.stringMatching(/--force|rule/));
    const named = await retry(daemon, { names: ['unreadable', 'directory'], force });
    expect(named.refused.map(({ why }) => why)).toEqual(['sudo setfacl', 'sudo setfacl']);
  }
});

test('a retry of the skipped takes the duplicates', async () => {
  const { daemon } = open();
  expect(await retry(daemon, { names: [], selection: { states: ['skipped'] } })).toMatchObject({
    retried: ['skipped'],
    left: [],
  });
});

test.for([
  { name: 'truncated', force: false, why: /moov is missing.*not changed since.*--force/ },
  { name: 'empty', force: false, why: /the file is empty.*--force/ },
  { name: 'truncated', force: true, why: null },
  { name: 'deleted', force: false, why: null },
  { name: 'unclear', force: false, why: null },
  { name: 'skipped', force: false, why: null },
  { name: 'ruleless', force: true, why: /no rule matches.*change the rules/ },
])('a retry of one file, $name, forced: $force', async ({ name, force, why }) => {
  const { daemon } = open();
  const { retried, refused } = await retry(daemon, { names: [name], force });
  if (why === null) expect([retried, refused]).toEqual([[name], []]);
  else expect([retried, refused]).toEqual([[], [{ name, why: expect.stringMatching(why) }]]);
});

test('a local file that could not be deleted or moved is tried again, its video is not', async () => {
  const { daemon, armed, putAway } = open();
  const { retried, refused } = await retry(daemon, { names: ['stuck', 'kept', 'moved'] });
  expect([armed, putAway, retried]).toEqual([[], ['stuck', 'kept'], ['stuck', 'kept']]);
  expect(refused).toEqual([{ name: 'moved', why: 'done, and the service still has its video: nothing to retry' }]);
});

test('only a done file is put away again: a changed one has nothing to retry, and one that is held is sent again', async () => {
  const changed = { ...kept, id: 'changed', end: 'superseded' } as const;
  const gone = { ...kept, id: 'gone', end: 'held', lastFailure: failure('gone') } as const;
  const { daemon, armed, putAway } = open([changed, gone]);
  const { refused } = await retry(daemon, { names: ['changed', 'gone'] });
  expect([armed, putAway]).toEqual([['gone'], []]);
  expect(refused).toEqual([{ name: 'changed', why: 'superseded: nothing to retry' }]);
});

test('a retry that is planned says how many files it takes and what they cost, and does nothing', async () => {
  const { daemon, armed, putAway } = open();
  const planned = await retry(daemon, { names: [], selection: { states } }, { isPlanned: true });
  expect(planned).toMatchObject({ planned: true, files: cured.length + 1, requests: 16 });
  expect([armed, putAway]).toEqual([[], []]);
});

describe('a retry to another channel', () => {
  test('sends what failed or is held without a video, and names the line to fix', async () => {
    const { daemon, events } = open();
    const result = await retry(daemon, { names: ['channelless'], channel: 'ch_x' });
    expect(events).toEqual([{ type: 'SEND_ELSEWHERE', channel: 'ch_x' }]);
    expect(result).toMatchObject({
      retried: ['channelless'],
      mend: [{ rule: somePlan.rule, channel: 'ch_main', at: '/etc/dropcast.yaml:12' }],
    });
  });

  test.each([
    ['deleted', /has video vid_1 in channel ch_main.*cannot move/],
    ['ruleless', /no rule matches it/],
    ['waiting', /only files that failed, are held or wait/],
    ['skipped', /only files that failed, are held or wait/],
  ])('is refused for a file that is %s', async (name, why) => {
    const { daemon, armed } = open();
    const { refused } = await retry(daemon, { names: [name], channel: 'ch_x', force: true });
    expect([armed, refused]).toEqual([[], [{ name, why: expect.stringMatching(why) }]]);
  });
});

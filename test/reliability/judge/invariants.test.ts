import { expect, test } from 'vitest';
import type { Evidence, Exit, RecordOnService } from './evidence.ts';
import { invariants, violationsOf } from './invariants.ts';
import type { Invariant } from './invariants.ts';

const sha256 = 'a'.repeat(64);
const other = 'b'.repeat(64);
const version = { path: '/in/a.mpg', sha256, isLeft: true, titles: ['a'] };
const ready: RecordOnService = {
  id: 'vid_1',
  title: 'a',
  status: 'ready',
  bodies: [sha256],
  isDeleted: false,
  isForeign: false,
};
const row = {
  id: 'f_1',
  path: '/in/a.mpg',
  state: 'done',
  sha256,
  videoId: 'vid_1',
  title: 'a',
  why: null,
};
const fine: Exit = { command: 'once', code: 0, signal: null, sent: null, stderr: '', isStuck: false };

/** One file, uploaded: nothing is wrong with it. */
const good: Evidence = {
  versions: [version],
  disk: [{ path: '/in/a.mpg', sha256 }],
  records: [ready],
  journal: [
    { method: 'POST', path: '/v1/videos', status: null },
    { method: 'PUT', path: '/put/vid_1', status: 'pending' },
  ],
  rows: [row],
  history: new Map([['f_1', ['queued', 'awaiting upload', 'processing', 'done']]]),
  listed: [],
  exports: new Map([['links.csv', 'a,vid_1,https://player.example.com/vid_1\r\n']]),
  linkFiles: new Map([['/in/a.mpg.dropcast.json', 'vid_1']]),
  exits: [fine],
  leaks: [],
  allows: { needsPerson: [], duplicates: false, requestsPerVideo: 5, requests: 10, exitCodes: [] },
};

const empty: RecordOnService = { ...ready, id: 'vid_2', status: 'pending', bodies: [] };

/** For each invariant what breaks it. */
const breaches: Readonly<Record<Invariant, readonly Partial<Evidence>[]>> = {
  'every file on disk is ready, or a person is notified': [
    { records: [], rows: [] },
    { records: [], rows: [{ ...row, state: 'superseded', why: 'changed' }] },
    { records: [{ ...ready, status: 'processing' }], rows: [{ ...row, state: 'processing' }] },
    { records: [{ ...ready, isDeleted: true }], rows: [row] },
    { records: [], rows: [{ ...row, state: 'failed', why: 'the service is away' }], exits: [] },
    {
      records: [],
      rows: [{ ...row, state: 'held', why: null }],
      allows: { ...good.allows, needsPerson: ['/in/a.mpg'] },
      exits: [],
    },
  ],
  'no content is lost': [
    { disk: [], records: [] },
    { disk: [], records: [{ ...ready, status: 'failed' }] },
  ],
  'no content is a video twice': [{ records: [ready, { ...ready, id: 'vid_2' }] }],
  'no record gets a second complete body': [{ records: [{ ...ready, bodies: [sha256, sha256] }] }],
  'no mixture of two versions is sent': [{ records: [ready, { ...ready, id: 'vid_2', bodies: [other] }] }],
  'no file that is known to be incomplete is sent': [{ versions: [{ ...version, isBroken: true }] }],
  'exit code 0 means that no person is needed': [
    {
      rows: [row, { ...row, id: 'f_2', path: '/in/b.mpg', state: 'held' }],
      disk: [...good.disk, { path: '/in/b.mpg', sha256: other }],
    },
  ],
  'a video has the title of its file': [{ records: [{ ...ready, title: 'of another' }] }],
  'every empty record is in use or listed': [
    { records: [ready, empty] },
    { records: [ready, empty], rows: [row, { ...row, videoId: 'vid_2', state: 'superseded' }] },
    { records: [ready, empty, { ...empty, id: 'vid_3' }], listed: [{ videoId: null, title: 'a' }] },
  ],
  'requests stay under their bound': [
    { journal: Array.from({ length: 6 }, () => ({ method: 'GET', path: '/v1/videos/vid_1', status: 'processing' })) },
    { journal: Array.from({ length: 11 }, () => ({ method: 'GET', path: '/v1/videos', status: null })) },
  ],
  'only its own empty or failed records are deleted': [
    { journal: [{ method: 'DELETE', path: '/v1/videos/vid_1', status: 'ready' }] },
    {
      journal: [{ method: 'DELETE', path: '/v1/videos/vid_9', status: 'pending' }],
      records: [ready, { ...empty, id: 'vid_9', isForeign: true }],
    },
  ],
  'every process ends, in time and with an exit code that says how': [
    { exits: [{ ...fine, isStuck: true }] },
    { exits: [{ ...fine, code: null, signal: 'SIGSEGV' }] },
    { exits: [{ ...fine, code: 1 }] },
    { exits: [{ ...fine, stderr: 'dropcast crashed: TypeError\n    at file:///main.js:1:1' }] },
  ],
  'rows move only along the edges of the machine': [
    { history: new Map([['f_1', ['queued', 'awaiting upload', 'superseded', 'queued']]]) },
    { history: new Map([['f_1', ['queued', 'awaiting upload', 'done']]]) },
  ],
  'each export has every finished video once': [
    { exports: new Map([['links.csv', '']]) },
    { exports: new Map([['links.csv', 'a,vid_1,\r\na,vid_1,\r\n']]) },
  ],
  'each finished video has a whole link file next to it': [
    { linkFiles: new Map() },
    { linkFiles: new Map([['/in/a.mpg.dropcast.json', '']]) },
    { linkFiles: new Map([...(good.linkFiles ?? []), ['/in/.dropcast-f_1.link', 'vid_1']]) },
  ],
  'the key never goes to the upload host': [{ leaks: ['vid_1'] }],
};

test('the judge finds nothing where nothing is wrong', () => {
  expect(violationsOf(good)).toEqual([]);
});

test.for(Object.keys(invariants) as Invariant[])('the judge sees each breach of: %s', (invariant) => {
  const found = breaches[invariant].map((breach) => violationsOf({ ...good, ...breach }).map((one) => one.invariant));
  for (const [n, names] of found.entries()) expect(names, `breach ${n}`).toContain(invariant);
});

test.for<{ name: string; facts: Partial<Evidence> }>([
  {
    name: 'a file that needs a person, who is notified',
    facts: {
      records: [],
      rows: [{ ...row, state: 'failed', why: '422' }],
      allows: { ...good.allows, needsPerson: ['/in/a.mpg'], exitCodes: [1] },
      exits: [{ ...fine, code: 1 }],
    },
  },
  {
    name: 'an overwritten version',
    facts: { versions: [version, { ...version, sha256: other, isLeft: false }] },
  },
  { name: 'an uploaded file that was deleted', facts: { disk: [] } },
  {
    name: 'an empty record of a row on its way',
    facts: { records: [ready, empty], rows: [row, { ...row, videoId: 'vid_2', state: 'retrying' }] },
  },
  {
    name: 'an empty record that is listed',
    facts: { records: [ready, empty], listed: [{ videoId: 'vid_2', title: 'a' }] },
  },
  {
    name: 'two empty records of one title, of which one is listed by its token alone',
    facts: {
      records: [ready, empty, { ...empty, id: 'vid_3' }],
      listed: [
        { videoId: null, title: 'a' },
        { videoId: 'vid_2', title: 'a' },
      ],
    },
  },
  { name: 'a foreign empty record', facts: { records: [ready, { ...empty, isForeign: true }] } },
  {
    name: 'a process that the test killed',
    facts: { exits: [{ ...fine, code: null, signal: 'SIGKILL', sent: 'SIGKILL' }] },
  },
])('the judge allows $name', ({ facts }) => {
  expect(violationsOf({ ...good, ...facts })).toEqual([]);
});

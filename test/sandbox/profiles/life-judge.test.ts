import { expect, test } from 'vitest';
import type { FileView } from '../../../src/view/files/file-view.ts';
import type { JournalEntry } from '../../../packages/sandbox/src/http/journal-entry.ts';
import { defaultSwitches } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import { flawsOf, lifeInvariants, type LifeEvidence, type LifeInvariant } from './life-judge.ts';
import type { Told } from './life.ts';

const file = (facts: Partial<FileView>): FileView =>
  ({
    path: '/in/a.mp4',
    state: 'done',
    video_id: 'vid_a',
    title: 'Late',
    why: null,
    source_url: null,
    ...facts,
  }) as FileView;
const request = (facts: Partial<JournalEntry>): JournalEntry =>
  ({
    number: 1,
    operation: 'videos.list',
    method: 'GET',
    path: '/v1/videos',
    query: '',
    status: 200,
    fault: null,
    ...facts,
  }) as JournalEntry;
const put = (id: string, status: number): JournalEntry =>
  request({ operation: 'uploads.put', method: 'PUT', path: `/uploads/${id}/[token]`, status });

const words = { title: 'Late', description: 'D', tags: ['t'] };
const link = file({ path: '/in/l.url', video_id: 'vid_l', title: 'l', source_url: 'http://s/1' });
const old = file({ path: '/in/old.mp4', video_id: 'vid_old', title: 'old' });
const video = { id: 'vid_a', ...words, status: 'ready', source_url: null };
const imported = { ...video, id: 'vid_l', title: 'l', source_url: 'http://s/1' };
const archived = { ...video, id: 'vid_old', title: 'old' };

const told: Told = {
  words: new Map([['/in/a.mp4', words]]),
  imports: ['http://s/1'],
  unplayable: ['/in/u.mpg'],
  adopted: new Map([['/in/old.mp4', 'vid_old']]),
  kills: 0,
  wasLimited: false,
  rung: [204],
  failed: [],
  tooLarge: 0,
  said: {
    files: [file({}), link, old, file({ path: '/in/u.mpg', state: 'failed', video_id: 'vid_u' })],
    counts: { done: 3, failed: 1, held: 0 },
    others: 0,
    plan: { upload: { files: 0, bytes: 0 }, imports: 0 },
    check: { problems: [{ severity: 'warning', message: 'suspects' }] },
  },
};

const sound: LifeEvidence = {
  told,
  switches: defaultSwitches,
  videos: [video, imported, archived],
  requests: [request({}), put('vid_a', 200), put('vid_old', 200)],
  expired: new Set(['vid_e']),
  feed: '<guid>vid_a</guid>Late <guid>vid_l</guid>l',
};

const saying = (files: readonly FileView[], counts: Told['said']['counts'] = told.said.counts): LifeEvidence => ({
  ...sound,
  told: { ...told, said: { ...told.said, files, counts } },
});
const asking = (...requests: readonly JournalEntry[]): LifeEvidence => ({
  ...sound,
  requests: [...sound.requests, ...requests],
});
const others = told.said.files.slice(1);

/** Each with the one thing that is wrong. */
const wrong: Readonly<Record<LifeInvariant, LifeEvidence>> = {
  'every file ends': saying([file({ state: 'processing' }), ...others], { processing: 1, done: 2, failed: 1 }),
  'only unplayable files need a person': saying([file({ state: 'failed' }), ...others], { done: 2, failed: 2 }),
  'a file that is done has the video that it says': {
    ...sound,
    videos: [{ ...video, status: 'failed' }, imported, archived],
  },
  'a video says what the sidecar of its file says, however late it came': {
    ...sound,
    videos: [{ ...video, tags: [] }, imported, archived],
  },
  'a link is one video': { ...sound, videos: [...sound.videos, { ...imported, id: 'vid_l2' }] },
  'the archive is adopted without an upload': asking(put('vid_old', 200)),
  'the feed has every video that is ready': { ...sound, feed: '<guid>vid_a</guid>a <guid>vid_l</guid>l' },
  'no request is refused by the service': asking(request({ status: 422 })),
  'files that are too large for the service are held until it takes them': {
    ...sound,
    told: { ...told, tooLarge: 1 },
  },
  'a feed is published for several videos at once': asking(
    ...Array.from({ length: 30 }, () => request({ operation: 'feeds.publish' })),
  ),
  'webhooks ring where they are signed, and are refused where they are not': {
    ...sound,
    switches: { ...defaultSwitches, webhook_form: 'unsigned' },
  },
  'no other use of the key is claimed falsely': {
    ...sound,
    told: { ...told, said: { ...told.said, others: 990 } },
  },
  'a plan has nothing left to do': {
    ...sound,
    told: { ...told, said: { ...told.said, plan: { upload: { files: 1, bytes: 1 }, imports: 0 } } },
  },
  'check --online finds no mistake': {
    ...sound,
    told: { ...told, said: { ...told.said, check: { problems: [{ severity: 'error', message: 'no such feed' }] } } },
  },
  'the counts are those of the files': saying(told.said.files, { done: 4, failed: 1 }),
};

test('a sound life has no flaw', () => {
  expect(flawsOf(sound)).toEqual([]);
});

test.each(Object.keys(lifeInvariants) as LifeInvariant[])('%s', (invariant) => {
  expect(flawsOf(wrong[invariant]).map((flaw) => flaw.invariant)).toEqual([invariant]);
});

const unsigned = (...requests: readonly JournalEntry[]): LifeEvidence => ({
  ...asking(...requests),
  switches: { ...defaultSwitches, upload_headers: 'without_type' },
});

test.each<[string, LifeEvidence]>([
  ['four uploads of one file after three starts', unsigned(...Array.from({ length: 4 }, () => put('vid_a', 403)))],
  ['the uploads of too many files', unsigned(...Array.from({ length: 13 }, (_, n) => put(`vid_${n}`, 403)))],
  ['an upload to another service', asking(put('vid_a', 403))],
])('%s may not be refused for their content type', (_, evidence) => {
  expect(flawsOf(evidence).map(({ invariant }) => invariant)).toEqual(['no request is refused by the service']);
});

const limited = (...requests: readonly JournalEntry[]): LifeEvidence => ({
  ...asking(...requests),
  told: { ...told, tooLarge: 2 },
  switches: { ...defaultSwitches, max_upload_size: '413' },
});

test('a third upload may not be refused for its size, nor one with its body', () => {
  const refused = put('vid_a', 413);
  const invariants = (evidence: LifeEvidence) => flawsOf(evidence).map(({ invariant }) => invariant);
  expect(invariants(limited(refused, refused))).toEqual([]);
  expect(invariants(limited(refused, refused, refused))).toEqual(['no request is refused by the service']);
  expect(invariants(limited({ ...refused, bytesIn: 3_000_000 }))).toEqual(['no request is refused by the service']);
});

test.each<[string, LifeEvidence]>([
  ['an upload to an address that expired', asking(put('vid_e', 403))],
  [
    'a question after a deletion',
    asking(
      request({ operation: 'videos.delete', path: '/v1/videos/vid_x' }),
      request({ path: '/v1/videos/vid_x', status: 404 }),
    ),
  ],
  ['a request that a fault hit', asking(request({ status: 503, fault: 'status' }))],
  ['one upload of a file with a content type that was not signed', unsigned(put('vid_a', 403))],
])('%s may be refused', (_, evidence) => {
  expect(flawsOf(evidence)).toEqual([]);
});

test('what a retry fixed needed a person', () => {
  const mended: LifeEvidence = { ...sound, told: { ...told, failed: [file({ state: 'failed' })] } };
  expect(flawsOf(mended).map(({ invariant }) => invariant)).toEqual(['only unplayable files need a person']);
});

test('an import whose answer was lost may wait for a person, with a video or without', () => {
  const why = 'the import request got no answer, so the video may exist';
  const held = saying([file({}), { ...link, state: 'held', why }, ...others.slice(1)], { done: 2, held: 1, failed: 1 });
  expect(flawsOf(held)).toEqual([]);
  expect(flawsOf({ ...held, videos: [video, archived] })).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import type { Arrival } from '../../src/intake/arrival.ts';
import { createIntake } from '../../src/intake/intake.ts';
import type { Accepted } from '../../src/intake/intake.ts';
import { isRoutedRegularly, reapplied, rerouted } from '../../src/intake/reroute.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Checksum } from '../../src/pipeline/file/checksums.ts';
import { differentFrom } from '../../src/pipeline/file/failure.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { channelRefusal, ignoredBy } from '../../src/pipeline/file/reasons.ts';
import type { Route } from '../../src/routing/plan.ts';
import { after as next, rowsOf as heldRows } from '../pipeline/held-rows.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';
import { created, failure, ready, someFacts, somePlan, someVersion, uploaded } from '../pipeline/some-facts.ts';
import { TestClock } from '../pipeline/test-clock.ts';
import { someArrival } from './some-arrival.ts';

const take: Route = { kind: 'take', plan: somePlan };
const elsewhere: Route = { kind: 'take', plan: { ...somePlan, title: 'Another' } };
const nowhere: Route = { kind: 'held', code: 'no_rule', why: 'no rule matches' };
const brokenSidecar: Route = { kind: 'held', code: 'sidecar', why: 'sidecar broken' };

/** Rows by what they are, for the table below. */
const queued = someFacts();
const done = someFacts({ ...ready, sha256: 'aa', end: 'done', published: { feed_news: 1 }, disposal: 'kept' });
const touchedInode = { ...someVersion, ctimeNs: '9000' };
/** A whole body of it was sent and never confirmed, and the file was not there any more to send it again. */
const strayed = someFacts({
  ...created,
  uploadStartedAt: 900_000,
  sha256: 'aa',
  end: 'failed',
  lastFailure: failure('transient', { code: 'unconfirmed' }),
});
const unreadable = { flaw: 'user nobody may not read this file (EACCES)', isUnreadable: true };
const unread = someFacts({ end: 'held', plan: null, lastFailure: failure('permanent', { code: 'unreadable' }) });
const onItsWay = ['clip.mp4 awaiting upload'];
const newer = { ...someVersion, mtimeNs: '9000', ctimeNs: '9000' };
const longer = { ...newer, size: 6_000 };

interface Disk {
  /** Paths that are there. */
  readonly paths?: readonly string[];
  /** Content of the file that arrives. */
  readonly sha256?: string | null;
  /** Rows that a step works on. */
  readonly busy?: readonly string[];
  /** What lies beside the file; null: it cannot be read. */
  readonly checksums?: readonly Checksum[] | null;
  /** Happens while the content is hashed. */
  readonly onHash?: (store: MemoryStore) => Promise<unknown>;
}

function open(
  rows: readonly Facts[],
  { paths = ['clip.mp4'], sha256 = 'bb', busy = [], checksums = [], onHash }: Disk = {},
) {
  const store = new MemoryStore(rows);
  for (const id of busy) store.claimed.add(id);
  const clock = new TestClock();
  const policy = { attempts: 3, retryAt: () => 0, now: () => clock.now() };
  let ids = 0;
  const intake = createIntake({
    store,
    rows: heldRows(store),
    clock,
    local: {
      checksums: async () =>
        checksums === null ? { ok: false, failure: failure('mismatch') } : { ok: true, value: checksums },
      hash: async () => {
        await onHash?.(store);
        return sha256 === null ? { ok: false, failure: failure('transient') } : { ok: true, value: sha256 };
      },
    },
    runner: {
      apply: async (id, event) => {
        if (busy.includes(id)) return 'busy';
        const before = store.row(id);
        const after = next(before, event, policy);
        if (JSON.stringify(after) === JSON.stringify(before)) return 'ignored';
        await store.save(after);
        return 'applied';
      },
    },
    newId: () => `f_new${(ids += 1)}`,
    exists: async (_folder, path) => paths.includes(path),
  });
  return { store, intake };
}

/** Every row as `path state`. */
const rowsOf = (store: MemoryStore): string[] => store.all.map((facts) => `${facts.path} ${stateOf(facts)}`);

describe('an arrival', () => {
  test.each<[string, readonly Facts[], Partial<Arrival>, Disk, Accepted, readonly string[]]>([
    ['of a new file is taken in', [], {}, {}, 'new', ['clip.mp4 queued']],
    ['that no rule takes is held', [], { route: nowhere }, {}, 'new', ['clip.mp4 held']],
    ['that is flawed is held', [], { flaw: 'moov is missing' }, {}, 'new', ['clip.mp4 held']],
    ['that cannot be read is held', [], unreadable, {}, 'new', ['clip.mp4 held']],
    [
      'that became unreadable is held, with its empty record',
      [someFacts({ ...created })],
      { ...unreadable, version: touchedInode },
      {},
      'rerouted',
      ['clip.mp4 held'],
    ],
    [
      'that became unreadable while a step works on it is offered again',
      [queued],
      { ...unreadable, version: touchedInode },
      { busy: ['f_1'] },
      'busy',
      ['clip.mp4 queued'],
    ],
    [
      'that became unreadable after it was sent changes nothing',
      [done],
      { ...unreadable, version: touchedInode },
      {},
      'known',
      ['clip.mp4 done'],
    ],
    ['that can be read again is sent', [unread], { version: touchedInode }, {}, 'returned', ['clip.mp4 queued']],
    [
      'that can be read again, and that no rule takes, is held for that',
      [unread],
      { version: touchedInode, route: nowhere },
      {},
      'returned',
      ['clip.mp4 held'],
    ],
    ['of a known file changes nothing', [queued], {}, {}, 'known', ['clip.mp4 queued']],
    [
      'with another time of inode change only (chmod) changes nothing',
      [queued],
      { version: touchedInode },
      {},
      'known',
      ['clip.mp4 queued'],
    ],
    [
      'whose row was given up is new, even if it looks as it did',
      [someFacts({ end: 'superseded' })],
      {},
      {},
      'new',
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    [
      'that looks as it did before its row was given up is new',
      [someFacts({ end: 'superseded' })],
      { version: touchedInode },
      {},
      'new',
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    [
      'that looks as it was sent, after a chmod or with other bytes, is left unread',
      [done],
      { version: touchedInode },
      {},
      'unread',
      ['clip.mp4 done'],
    ],
    [
      'that looks as it was sent is left alone where the folder ignores changes',
      [done],
      { version: touchedInode, onChange: 'ignore' },
      {},
      'known',
      ['clip.mp4 done'],
    ],
    [
      'that failed before it was sent still needs a person after a chmod',
      [someFacts({ end: 'failed', why: 'refused' })],
      { version: touchedInode },
      {},
      'known',
      ['clip.mp4 failed'],
    ],
    [
      'that was flawed and no longer is, is sent, even if it looks as it did',
      [someFacts({ end: 'held', why: 'moov is missing', lastFailure: failure('permanent', { code: 'flawed' }) })],
      { version: touchedInode },
      {},
      'changed',
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    [
      'that is flawed now is held, even if it looks as it did',
      [queued],
      { version: touchedInode, flaw: 'moov is missing' },
      {},
      'changed',
      ['clip.mp4 superseded', 'clip.mp4 held'],
    ],
    [
      'of a link that was imported and has the same address changes nothing',
      [{ ...done, sha256: null, sourceUrl: 'https://example.com/' }],
      { version: newer, sourceUrl: 'https://example.com/' },
      {},
      'touched',
      ['clip.mp4 done'],
    ],
    [
      'of a link that was imported and has another address is a change',
      [{ ...done, sha256: null, sourceUrl: 'https://example.com/' }],
      { version: touchedInode, sourceUrl: 'https://example.com/other' },
      {},
      'changed',
      ['clip.mp4 done', 'clip.mp4 queued'],
    ],
    ['of a vanished file brings it back', [someFacts({ end: 'vanished' })], {}, {}, 'returned', ['clip.mp4 queued']],
    [
      'under a new name is a rename',
      [queued],
      { path: 'new.mp4' },
      { paths: ['new.mp4'] },
      'renamed',
      ['new.mp4 queued'],
    ],
    ['in another folder is a rename', [queued], { folder: '/other' }, { paths: [] }, 'renamed', ['clip.mp4 queued']],
    [
      'under a second name is a hard link: another file',
      [queued],
      { path: 'link.mp4' },
      { paths: ['clip.mp4', 'link.mp4'] },
      'new',
      ['clip.mp4 queued', 'link.mp4 queued'],
    ],
    [
      'of a file that had vanished before its rename was seen brings it back',
      [someFacts({ end: 'vanished' })],
      { path: 'new.mp4' },
      { paths: ['new.mp4'] },
      'renamed',
      ['new.mp4 queued'],
    ],
    [
      'with new content replaces what was not sent',
      [queued],
      { version: longer },
      {},
      'changed',
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    [
      'with new content in its place leaves what is done',
      [done],
      { version: { ...longer, ino: '999' } },
      {},
      'changed',
      ['clip.mp4 done', 'clip.mp4 queued'],
    ],
    [
      'that grew in its place after it was done supersedes the half video',
      [done],
      { version: longer },
      {},
      'changed',
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    [
      'that grew in its place while the service processes it supersedes the half video',
      [someFacts({ ...uploaded, sha256: 'aa' })],
      { version: longer },
      {},
      'changed',
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    [
      'with new content leaves a possible upload to resolve on its own',
      [someFacts({ ...created, sha256: 'aa' })],
      { version: longer },
      {},
      'changed',
      ['clip.mp4 awaiting upload', 'clip.mp4 queued'],
    ],
    [
      'with new content is ignored where the folder says so',
      [done],
      { version: longer, onChange: 'ignore' },
      {},
      'ignored',
      ['clip.mp4 done'],
    ],
    [
      'with a new time and the size of what was sent is left unread',
      [done],
      { version: newer },
      {},
      'unread',
      ['clip.mp4 done'],
    ],
    [
      'over a file that was superseded is new',
      [someFacts({ end: 'superseded' })],
      { version: longer },
      {},
      'new',
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    [
      'over a file that we deleted is new',
      [{ ...done, disposal: 'deleted' }],
      { version: longer },
      {},
      'new',
      ['clip.mp4 done', 'clip.mp4 queued'],
    ],
    [
      'while a step works on the file has to come again',
      [queued],
      { version: longer },
      { busy: ['f_1'] },
      'busy',
      ['clip.mp4 queued'],
    ],
    [
      'of a renamed file while a step works on it has to come again',
      [queued],
      { path: 'new.mp4' },
      { paths: [], busy: ['f_1'] },
      'busy',
      ['clip.mp4 queued'],
    ],
  ])('%s', async (_name, rows, other, disk, accepted, after) => {
    const { store, intake } = open(rows, disk);
    expect(await intake.accept(someArrival(other))).toBe(accepted);
    expect(rowsOf(store)).toEqual(after);
    // And again, as after a crash in the answer: nothing more happens.
    const again = accepted === 'unread' ? 'unread' : expect.stringMatching('known|renamed');
    if (accepted !== 'busy') expect(await intake.accept(someArrival(other))).toEqual(again);
    expect(rowsOf(store)).toEqual(after);
  });

  test('is not taken twice when it is offered twice at the same time', async () => {
    const { store, intake } = open([]);
    expect(await Promise.all([intake.accept(someArrival()), intake.accept(someArrival())])).toEqual(['new', 'busy']);
    expect(rowsOf(store)).toEqual(['clip.mp4 queued']);
  });

  test('of a file moved over another supersedes that one', async () => {
    const over = someFacts({ id: 'f_2', version: { ...longer, ino: '200' }, path: 'other.mp4', end: 'failed' });
    const { store, intake } = open([queued, over], { paths: ['other.mp4'] });
    expect(await intake.accept(someArrival({ path: 'other.mp4' }))).toBe('renamed');
    expect(rowsOf(store)).toEqual(['other.mp4 queued', 'other.mp4 superseded']);
    expect(await intake.accept(someArrival({ path: 'other.mp4' }))).toBe('known');
    await intake.gone('/inbox', 'other.mp4');
    expect(rowsOf(store)).toEqual(['other.mp4 vanished', 'other.mp4 superseded']);
  });

  test('of a renamed file goes where the rules send its new name, as long as nothing was sent', async () => {
    const { store, intake } = open([queued], { paths: ['new.mp4'] });
    await intake.accept(someArrival({ path: 'new.mp4', route: elsewhere }));
    expect(store.row().plan?.title).toBe('Another');
  });

  // `after_ready: { move: "done" }` moves it below another rule, away from its sidecar.
  test.each([
    ['by us', { disposal: 'pending' as const }],
    ['by a person', { disposal: 'kept' as const }],
    ['by a person, and is to be deleted later,', { disposal: 'later' as const }],
  ])('of a finished file that was moved %s does not touch the metadata of the video', async (_name, state) => {
    const { store, intake } = open([{ ...done, ...state }], { paths: ['done/clip.mp4'] });
    const moved = someArrival({ path: 'done/clip.mp4', route: elsewhere });
    expect(await intake.accept(moved)).toBe('renamed');
    expect(await intake.accept(moved)).toBe('known');
    expect(store.row()).toMatchObject({ path: 'done/clip.mp4', plan: somePlan, amendment: null });
    expect(store.row().disposal).toBe(state.disposal === 'pending' ? 'moved' : state.disposal);
  });
});

describe('a finished file that is to be deleted later', () => {
  const kept = { ...done, disposal: 'later' } as const;
  const { signal } = new AbortController();

  test('is kept when it is touched, because it is still in use', async () => {
    const { store, intake } = open([kept], { sha256: 'aa' });
    expect(await intake.compare(someArrival({ version: newer }), signal)).toBe('touched');
    expect(store.row()).toMatchObject({ disposal: 'kept', why: 'kept: it was touched after it was done' });
  });

  test('is still deleted after a chmod, as the whole folder may have had one', async () => {
    const { store, intake } = open([kept], { sha256: 'aa' });
    expect(await intake.compare(someArrival({ version: touchedInode }), signal)).toBe('known');
    expect(store.row()).toMatchObject({ disposal: 'later', version: touchedInode });
  });
});

describe('a file of which only the content tells', () => {
  const { signal } = new AbortController();
  const twin = { ...done, id: 'f_0', path: 'earlier.mp4' };
  const skipped = someFacts({ end: 'skipped', lastFailure: failure('duplicate', { twin: 'f_0' }) });

  test.each<[string, readonly Facts[], Partial<Arrival>, string, Accepted, readonly string[]]>([
    [
      'continues after a touch if it only failed because it was touched',
      [strayed],
      { version: newer },
      'aa',
      'touched',
      onItsWay,
    ],
    [
      'continues after a chmod if it only failed because of it',
      [strayed],
      { version: touchedInode },
      'aa',
      'known',
      onItsWay,
    ],
    ['is the same after a touch', [done], { version: newer }, 'aa', 'touched', ['clip.mp4 done']],
    ['is the same after a chmod', [done], { version: touchedInode }, 'aa', 'known', ['clip.mp4 done']],
    ['is another', [done], { version: newer }, 'bb', 'changed', ['clip.mp4 done', 'clip.mp4 queued']],
    [
      'is another although its time was restored',
      [done],
      { version: touchedInode },
      'bb',
      'changed',
      ['clip.mp4 done', 'clip.mp4 queued'],
    ],
    [
      'is another than the one that failed',
      [someFacts({ ...uploaded, end: 'failed', remoteStatus: 'failed' })],
      { version: touchedInode },
      'bb',
      'changed',
      ['clip.mp4 superseded', 'clip.mp4 queued'],
    ],
    [
      'is still a duplicate',
      [twin, skipped],
      { version: touchedInode },
      'aa',
      'known',
      ['earlier.mp4 done', 'clip.mp4 skipped'],
    ],
    [
      'is no longer a duplicate',
      [twin, skipped],
      { version: touchedInode },
      'bb',
      'changed',
      ['earlier.mp4 done', 'clip.mp4 skipped', 'clip.mp4 queued'],
    ],
  ])('%s', async (_name, rows, other, sha256, accepted, after) => {
    const { store, intake } = open(rows, { sha256 });
    expect(await intake.compare(someArrival(other), signal)).toBe(accepted);
    expect(rowsOf(store)).toEqual(after);
    expect(await intake.accept(someArrival(other))).toBe('known');
  });

  test('is left unread when it cannot be read', async () => {
    const { store, intake } = open([done], { sha256: null });
    expect(await intake.compare(someArrival({ version: touchedInode }), signal)).toBe('unread');
    expect(rowsOf(store)).toEqual(['clip.mp4 done']);
  });

  test('and that a step finds changed comes again, and is new', async () => {
    const sent = someFacts({ ...created, sha256: 'aa' });
    const onHash = (store: MemoryStore): Promise<unknown> => store.save({ ...store.row(), end: 'superseded' });
    const { store, intake } = open([sent], { sha256: 'aa', onHash });
    expect(await intake.compare(someArrival({ version: newer }), signal)).toBe('busy');
    expect(await intake.accept(someArrival({ version: newer }))).toBe('new');
    expect(rowsOf(store)).toEqual(['clip.mp4 superseded', 'clip.mp4 queued']);
  });

  test('and that was renamed too keeps its row under the new name, and is compared', async () => {
    const { store, intake } = open([done], { paths: ['new.mp4'] });
    const renamed = someArrival({ path: 'new.mp4', version: touchedInode });
    expect(await intake.accept(renamed)).toBe('unread');
    expect(rowsOf(store)).toEqual(['new.mp4 done']);
    expect(await intake.compare(renamed, signal)).toBe('changed');
    expect(rowsOf(store)).toEqual(['new.mp4 done', 'new.mp4 queued']);
  });
});

describe('a vanished file that comes back', () => {
  const vanished = (other: Partial<Facts> = {}): Facts =>
    someFacts({ end: 'vanished', why: 'the file is no longer there', endedAt: 3, ...other });
  const back = async (facts: Facts, other: Partial<Arrival> = {}): Promise<Facts> => {
    const { store, intake } = open([facts]);
    expect(await intake.accept(someArrival(other))).toBe('returned');
    expect(store.all).toHaveLength(1);
    return store.row();
  };
  const elsewherePlan = { ...somePlan, title: 'Another', channel: 'ch_other' };
  const otherChannel: Route = { kind: 'take', plan: elsewherePlan };

  test('stays held while no rule takes it, and continues once one does', async () => {
    const held = vanished({ plan: null });
    expect(await back(held, { route: nowhere })).toMatchObject({ end: 'held', why: 'no rule matches', plan: null });
    expect(await back(held)).toMatchObject({ end: null, why: null, endedAt: null, plan: somePlan });
  });

  test('follows the sidecar and the rules of now as long as nothing was sent', async () => {
    expect(await back(vanished(), { route: otherChannel })).toMatchObject({ end: null, plan: elsewherePlan });
    expect(await back(vanished(), { route: nowhere })).toMatchObject({ end: 'held', plan: null });
    const asked = vanished({ intent: 'tok_1', suspects: ['tok_0'] });
    expect(await back(asked, { route: otherChannel })).toMatchObject({
      plan: elsewherePlan,
      intent: null,
      suspects: ['tok_0', 'tok_1'],
      amendment: null,
    });
  });

  test('gets another record, which is created with the changed metadata', async () => {
    const plan = { ...somePlan, title: 'Another' };
    expect(await back(vanished(created))).toMatchObject({ end: null, dying: true, plan: somePlan, amendment: null });
    const other = await back(vanished(created), { route: elsewhere });
    expect(other).toMatchObject({ end: null, dying: true, plan, amendment: null });
    expect(await back(vanished(created), { route: nowhere })).toMatchObject({ end: null, plan: somePlan });
  });

  test('gets another record for another channel', async () => {
    const facts = await back(vanished({ ...created, amendment: { title: 'Old' } }), { route: otherChannel });
    expect(facts).toMatchObject({ end: null, dying: true, plan: elsewherePlan, amendment: null, videoId: 'vid_1' });
  });

  test('is held while it is flawed, and continues once it is not', async () => {
    const flaw = 'moov is missing';
    for (const facts of [vanished(), vanished(created)])
      expect(await back(facts, { flaw })).toMatchObject({ end: 'held', why: flaw, lastFailure: { message: flaw } });
    const mended = await back(vanished({ lastFailure: failure('permanent', { code: 'flawed' }) }));
    expect(mended).toMatchObject({ end: null, lastFailure: null });
  });

  test.each(['gone', 'unclear'] as const)('still waits for a person when it was %s', async (kind) => {
    const facts = await back(vanished({ ...created, lastFailure: failure(kind) }));
    expect(facts).toMatchObject({ end: 'held', why: `it was ${kind}`, videoId: 'vid_1' });
  });

  test('gives its own reason for being missing, whatever it was before', async () => {
    const { store, intake } = open([someFacts({ plan: null, end: 'held', why: 'no rule matches', endedAt: 3 })]);
    await intake.gone('/inbox', 'clip.mp4');
    expect(store.row()).toMatchObject({ end: 'vanished', why: expect.stringContaining('no longer there') });
    await intake.accept(someArrival({ route: nowhere }));
    expect(store.row()).toMatchObject({ end: 'held', why: 'no rule matches' });
  });
});

describe('a path that is gone', () => {
  test('while a step works on its file has to be reported again', async () => {
    const { intake } = open([queued], { busy: ['f_1'] });
    expect(await intake.gone('/inbox', 'clip.mp4')).toBe('busy');
    expect(await intake.gone('/inbox', 'unknown.mp4')).toBe('ignored');
  });

  test.each([
    [queued, 'vanished'],
    [someFacts(created), 'vanished'],
    [someFacts({ ...created, sha256: 'aa' }), 'awaiting upload'],
    [someFacts(uploaded), 'processing'],
    [done, 'done'],
  ])('leaves a file that is %#: %s', async (facts, state) => {
    const { store, intake } = open([facts]);
    await intake.gone('/inbox', 'clip.mp4');
    await intake.gone('/inbox', 'unknown.mp4');
    expect(store.states()).toEqual([state]);
  });
});

describe('another route', () => {
  const noRule = failure('permanent', { code: 'no_rule', message: 'no rule matches' });
  const held = someFacts({ plan: null, end: 'held', why: 'no rule matches', endedAt: 3, lastFailure: noRule });

  test('frees a file that was held for want of one', () => {
    const free = { plan: somePlan, end: null, why: null, endedAt: null, lastFailure: null };
    expect(rerouted(held, take, 9)).toEqual(free);
  });

  test('says why it is still held, with the code', () => {
    const lastFailure = { kind: 'permanent', code: 'sidecar', message: 'sidecar broken' };
    expect(rerouted(held, brokenSidecar, 9)).toEqual({ why: 'sidecar broken', lastFailure });
    expect(rerouted(held, nowhere, 9)).toBeNull();
  });

  test.each([
    ['that waits for its sidecar', { ...held, lastFailure: failure('permanent', { code: 'sidecar' }) }, true],
    ['that waits for a channel', someFacts({ lastFailure: failure('suspended', { code: 'unknown_channel' }) }), true],
    ['that no rule takes', held, false],
    ['that is flawed', { ...held, lastFailure: failure('permanent', { code: 'flawed' }) }, false],
    ['that no rule takes, of a name with the word sidecar', { ...held, why: 'no rule matches sidecar.mp4' }, false],
  ])('is looked for from time to time for a file %s: %#', (_name, facts, isChecked) => {
    expect(isRoutedRegularly(facts)).toBe(isChecked);
  });

  test('does not free a file that is flawed', async () => {
    const { store, intake } = open([]);
    await intake.accept(someArrival({ flaw: 'moov is missing', route: nowhere }));
    await intake.reroute(store.row('f_new1'), take);
    expect(store.row('f_new1')).toMatchObject({ end: 'held', why: 'moov is missing', plan: somePlan });
  });

  test('is applied before anything was sent', () => {
    expect(rerouted(queued, elsewhere, 9)).toEqual({ plan: { ...somePlan, title: 'Another' } });
  });

  test('that holds the file, a broken sidecar, holds it before anything was sent', () => {
    const lastFailure = { kind: 'permanent', code: 'no_rule', message: 'no rule matches' };
    expect(rerouted(queued, nowhere, 9)).toMatchObject({ plan: null, end: 'held', endedAt: 9, lastFailure });
    expect(rerouted(someFacts(created), nowhere, 9)).toBeNull();
    expect(rerouted(someFacts({ end: 'failed' }), nowhere, 9)).toBeNull();
  });

  test('is sent as an amendment once a record may exist', () => {
    const plan = { ...somePlan, title: 'Another', description: 'Long', tags: [], channel: 'ch_other' };
    for (const facts of [someFacts({ intent: 'token' }), someFacts(created), done]) {
      expect(rerouted(facts, { kind: 'take', plan }, 9)).toEqual({
        plan: { ...plan, channel: 'ch_main' },
        amendment: { title: 'Another', description: 'Long', tags: [] },
      });
    }
  });

  test('adds to an amendment that was not sent yet', () => {
    const facts = someFacts({ ...created, amendment: { title: 'First', tags: ['a'] } });
    expect(rerouted(facts, elsewhere, 9)?.amendment).toEqual({ title: 'Another', tags: ['a'] });
  });

  test('with nothing but another channel changes nothing in a video', () => {
    expect(rerouted(done, { kind: 'take', plan: { ...somePlan, channel: 'ch_other' } }, 9)).toBeNull();
  });

  const missing = failure('suspended', { code: 'unknown_feed', feed: 'feed_news' });
  const stuck = someFacts({ ...ready, lastFailure: missing });

  test.each([
    ['no feed at all', stuck, []],
    [
      'only feeds that have it',
      someFacts({
        ...ready,
        plan: { ...somePlan, publish: ['feed_tv', 'feed_news'] },
        published: { feed_tv: 5 },
        lastFailure: missing,
      }),
      ['feed_tv'],
    ],
  ])(
    'that names %s finishes a video that waits for a feed which the service does not have',
    (_name, facts, publish) => {
      const route = { kind: 'take', plan: { ...somePlan, title: 'Another', publish } } as const;
      const end = { end: 'done', endedAt: 9, why: null, lastFailure: null, disposal: 'kept' };
      expect(rerouted(facts, route, 9)).toMatchObject({ plan: { publish }, amendment: { title: 'Another' }, ...end });
      expect(reapplied(facts, route, 9)).toMatchObject({
        is: 'changed',
        row: { plan: { publish }, ...end },
        publishes: publish,
      });
    },
  );

  test('that names another feed ends the wait for the one that the service does not have', () => {
    const plan = { ...somePlan, publish: ['feed_tv'] };
    expect(rerouted(stuck, { kind: 'take', plan }, 9)).toMatchObject({ lastFailure: null });
    const again = reapplied(stuck, { kind: 'take', plan }, 9);
    expect(again).toMatchObject({ is: 'changed', row: { plan: { publish: ['feed_tv'] }, lastFailure: null } });
  });

  test.each([
    ['is followed before the video is ready', someFacts(uploaded), ['feed_tv']],
    ['only adds feeds while the video waits for its feeds', someFacts(ready), ['feed_news', 'feed_tv']],
    ['takes the place of a feed that the service does not have', stuck, ['feed_tv']],
    ['is followed by a file whose feed did not take it', someFacts({ ...ready, end: 'failed' }), ['feed_tv']],
    ['does not publish what is done anew', done, undefined],
  ])('with other feeds %s', (_name, facts, publish) => {
    const plan = { ...somePlan, publish: ['feed_tv'] };
    expect(rerouted(facts, { kind: 'take', plan }, 9)?.plan?.publish).toEqual(publish);
  });

  test('keeps what proved the file complete, and is none if only that differs', () => {
    const proofs = [{ path: 'clip.mp4.done', sha256: 'aa' }];
    const proven = someFacts({ plan: { ...somePlan, proofs } });
    expect(rerouted(proven, { kind: 'take', plan: somePlan }, 9)).toBeNull();
    expect(rerouted(proven, elsewhere, 9)?.plan?.proofs).toEqual(proofs);
  });

  test('is ignored for a file that was moved away', () => {
    expect(rerouted({ ...done, disposal: 'moved' }, elsewhere, 9)).toBeNull();
  });

  test('has to come again while a step works on the file', async () => {
    const { intake } = open([queued], { busy: ['f_1'] });
    expect(await intake.reroute(queued, elsewhere)).toBe('busy');
  });
});

describe('a file that is held because it differs from its checksum', () => {
  const lastFailure = failure('mismatch', { digests: { md5: 'aa', sha256: 'ab' } });
  const differing = someFacts({
    ...created,
    uploadStartedAt: 3,
    end: 'held',
    why: 'it differs',
    endedAt: 4,
    lastFailure,
  });
  const says = (digest: string, algorithm: Checksum['algorithm'] = 'md5'): Checksum => ({
    algorithm,
    digest,
    goesWithIt: true,
    from: { path: 'clip.md5', sha256: 'cc' },
  });
  const route: Route = { kind: 'take', plan: somePlan };

  const held = 'clip.mp4 held';
  const again = 'clip.mp4 queued';
  const saysBb = differentFrom(says('bb'), lastFailure.digests ?? {});
  const unread = { ...failure('mismatch', { code: 'checksum_unreadable' }) };

  test.each<[string, Failure, readonly Checksum[] | null, Accepted, string]>([
    ['stays held while that is there', saysBb, [says('bb')], 'known', held],
    ['stays held while none of two is right', saysBb, [says('bb'), says('dd')], 'known', held],
    ['stays held, for another digest, once that is as wrong', saysBb, [says('dd')], 'rerouted', held],
    ['stays held, for the first, once another wrong one comes', saysBb, [says('dd'), says('bb')], 'rerouted', held],
    ['stays held while it cannot be read', saysBb, null, 'known', held],
    ['stays held while what could not be read cannot', unread, null, 'known', held],
    ['is sent again once that is right', saysBb, [says('aa')], 'rerouted', again],
    ['is sent again once a correct one arrives next to it', saysBb, [says('bb'), says('aa')], 'rerouted', again],
    [
      'is sent again once a right one of another kind comes',
      saysBb,
      [says('bb'), says('ab', 'sha256')],
      'rerouted',
      again,
    ],
    ['is sent again for one that was never compared', saysBb, [says('bb'), says('dd', 'sha1')], 'rerouted', again],
    ['is sent again once that is gone', saysBb, [], 'rerouted', again],
    ['is sent again once that can be read', unread, [says('bb')], 'rerouted', again],
    ['is sent again when its earlier state is unknown', failure('mismatch'), [says('bb')], 'rerouted', again],
  ])('%s', async (_what, failed, checksums, accepted, row) => {
    const facts = { ...differing, why: failed.message, lastFailure: failed };
    const { intake, store } = open([facts], { checksums });
    expect(await intake.reroute(facts, route)).toBe(accepted);
    expect(rowsOf(store)).toEqual([row]);
    // The service is asked what its record has before another one takes its place.
    expect(store.row()).toMatchObject({ videoId: 'vid_1', uploadStartedAt: 3, dying: row === again });
    if (row !== held) return;
    const { why, lastFailure: failureNow } = store.row();
    expect(why).toBe(failureNow?.message);
    if (checksums !== null) expect(why).toContain(`clip.md5 says ${checksums[0]?.digest}`);
    expect(await intake.reroute(store.row(), route)).toBe('known');
  });

  test('has to come again while a step works on it', async () => {
    for (const checksums of [[says('aa')], [says('dd')]]) {
      const { intake } = open([differing], { checksums, busy: ['f_1'] });
      expect(await intake.reroute(differing, route)).toBe('busy');
    }
  });

  test('is sent again once it was repaired in place, and looks as before', async () => {
    const { intake, store } = open([differing], { checksums: [says('bb')] });
    expect(await intake.accept(someArrival({ version: touchedInode }))).toBe('rerouted');
    expect(rowsOf(store)).toEqual(['clip.mp4 queued']);
  });

  test('is superseded by another copy of it', async () => {
    const { intake, store } = open([differing], { checksums: [says('bb')] });
    expect(await intake.accept(someArrival({ version: { ...someVersion, ino: '77', mtimeNs: '88' } }))).toBe('changed');
    expect(rowsOf(store)).toEqual(['clip.mp4 superseded', 'clip.mp4 queued']);
  });
});

test('a failed file that changes is superseded, and its new content is new', async () => {
  const facts = someFacts({ ...created, end: 'failed', lastFailure: failure('permanent') });
  const { store, intake } = open([facts]);
  await intake.accept(someArrival({ version: longer }));
  expect(rowsOf(store)).toEqual(['clip.mp4 superseded', 'clip.mp4 queued']);
});

describe('a file that was there before dropcast watched its folder', () => {
  const message = 'was in the folder before dropcast watched it (existing: ignore)';
  const left = someFacts({
    end: 'skipped',
    why: message,
    lastFailure: failure('permanent', { code: 'existing', message }),
  });
  const waiting = { ...left, end: 'held' } as const;
  const adopted = { ...done, sha256: null };

  test.each<[string, Partial<Arrival>, readonly string[]]>([
    ['ignored', { leaving: 'ignore' }, ['clip.mp4 skipped']],
    ['ignored, and no rule takes it', { leaving: 'ignore', route: nowhere }, ['clip.mp4 skipped']],
    ['ignored, and it is damaged', { leaving: 'ignore', flaw: 'moov is missing' }, ['clip.mp4 skipped']],
    ['to be adopted', { leaving: 'adopt' }, ['clip.mp4 held']],
    ['to be adopted, and no rule takes it', { leaving: 'adopt', route: nowhere }, ['clip.mp4 held']],
  ])('is %s', async (_, other, rows) => {
    const { store, intake } = open([]);
    expect(await intake.accept(someArrival(other))).toBe('left');
    expect(rowsOf(store)).toEqual(rows);
    expect(store.row('f_new1').lastFailure?.code).toBe('existing');
  });

  test.each([
    ['left alone', left],
    ['held', waiting],
    ['adopted', adopted],
  ])('stays %s after a chmod, because its content is unknown', async (_, facts) => {
    const { store, intake } = open([facts]);
    expect(await intake.accept(someArrival({ version: touchedInode }))).toBe('known');
    expect(store.all).toHaveLength(1);
    expect(store.row()).toMatchObject({ end: facts.end, version: touchedInode });
  });

  test('is held as any other once it proves to be damaged: `adopt --confirm` does not upload it', async () => {
    const { store, intake } = open([waiting]);
    expect(await intake.accept(someArrival({ flaw: 'moov is missing' }))).toBe('rerouted');
    expect(store.row()).toMatchObject({ end: 'held', why: 'moov is missing', lastFailure: { code: 'flawed' } });
    expect(await intake.accept(someArrival({ flaw: 'moov is missing' }))).toBe('known');
  });

  test.each([left, adopted])(
    'stays as it is when it proves to be damaged, unless it waits for `adopt`: %#',
    async (facts) => {
      const { store, intake } = open([facts]);
      expect(await intake.accept(someArrival({ flaw: 'moov is missing' }))).toBe('known');
      expect(store.row()).toMatchObject({ end: facts.end, why: facts.why });
    },
  );

  test.each([
    ['left alone', left],
    ['adopted', adopted],
  ])('is another file with another content when it was %s', async (_, facts) => {
    const { store, intake } = open([facts]);
    expect(await intake.accept(someArrival({ version: longer }))).toBe('changed');
    expect(rowsOf(store)).toEqual([`clip.mp4 ${facts.end}`, 'clip.mp4 queued']);
  });

  test.each([left, waiting])('gets another plan with another rule or sidecar, and nothing more', async (facts) => {
    const { store, intake } = open([{ ...facts, plan: null }]);
    await intake.reroute(store.row(), elsewhere);
    expect(store.row()).toMatchObject({ end: facts.end, plan: { title: 'Another' } });
    await intake.reroute(store.row(), nowhere);
    expect(store.row()).toMatchObject({ end: facts.end, plan: { title: 'Another' } });
  });

  test.each([left, waiting])('is uploaded on request, unless no rule matches it', async (facts) => {
    const { store, intake } = open([{ ...facts, plan: null }]);
    await intake.accept(someArrival({ isWanted: true, route: nowhere }));
    expect(stateOf(store.row())).toBe(facts.end);
    expect(await intake.accept(someArrival({ isWanted: true }))).toBe('returned');
    expect(store.row()).toMatchObject({ end: null, lastFailure: null, onDuplicate: 'skip' });
  });
});

describe('a file that a person ignores', () => {
  const ignored = someFacts({
    end: 'skipped',
    endedAt: 1,
    why: 'ignored by anna',
    lastFailure: ignoredBy('anna', { end: null, lastFailure: null }),
  });

  test.each<[string, Partial<Arrival>]>([
    ['as it was', {}],
    ['with another mode', { version: touchedInode }],
  ])('is left alone %s, at every scan', async (_, other) => {
    const { intake, store } = open([ignored]);
    expect(await intake.accept(someArrival(other))).toBe('known');
    expect(await intake.accept(someArrival(other))).toBe('known');
    expect(store.all).toHaveLength(1);
    expect(store.row()).toMatchObject({ end: 'skipped', why: 'ignored by anna' });
  });

  test('is a new file once its content is another', async () => {
    const { intake, store } = open([ignored]);
    expect(await intake.accept(someArrival({ version: longer }))).toBe('changed');
    expect(store.states()).toEqual(['skipped', 'queued']);
  });

  test('that no rule took gets its plan once one does, and stays ignored', async () => {
    const { intake, store } = open([{ ...ignored, plan: null }]);
    await intake.reroute(store.row(), take);
    expect(store.row()).toMatchObject({ end: 'skipped', plan: somePlan });
  });

  test('is accepted when a person adds it', async () => {
    const { intake, store } = open([ignored]);
    expect(await intake.accept(someArrival({ isWanted: true }))).toBe('returned');
    expect(store.states()).toEqual(['queued']);
  });
});

describe('a channel that a person chose', () => {
  const chosen = { ...somePlan, channel: 'ch_chosen', chosenChannel: 'ch_chosen' } as const;

  test.each<[string, Facts]>([
    ['waits', someFacts({ plan: chosen })],
    ['failed', someFacts({ plan: chosen, end: 'failed' })],
    ['is away', someFacts({ plan: chosen, end: 'vanished' })],
  ])('stays whatever rules and sidecar say of a file that %s; the rest follows them', async (_, facts) => {
    const { intake, store } = open([facts]);
    const said: Route = { kind: 'take', plan: { ...somePlan, channel: 'ch_sidecar', title: 'Another' } };
    if (facts.end === 'vanished') await intake.accept(someArrival({ route: said }));
    else await intake.reroute(facts, said);
    expect(store.row().plan).toEqual({ ...chosen, title: 'Another' });
    expect(rerouted(store.row(), said, 9)).toBeNull();
  });

  test('stays when no rule matches the file any longer', () => {
    expect(rerouted(someFacts({ plan: chosen }), nowhere, 9)).toBeNull();
  });
});

describe('a sidecar that comes late', () => {
  const sidecar = { path: 'clip.yaml', sha256: 'ee' };
  const late = (said: NonNullable<Extract<Route, { kind: 'take' }>['said']>): Route => ({
    kind: 'take',
    plan: { ...somePlan, sidecar, channel: said.channel ?? 'ch_main', publish: said.publish ?? somePlan.publish },
    said,
  });

  test.each([
    ['on its way', someFacts(created)],
    ['done', done],
  ])('cannot move a video that is %s: the row says so once, the rest is sent', async (_, facts) => {
    const { intake, store } = open([facts]);
    const route = late({ channel: 'ch_other', title: 'Late' });
    const titled: Route = route.kind === 'take' ? { ...route, plan: { ...route.plan, title: 'Late' } } : route;
    expect(await intake.reroute(facts, titled)).toBe('rerouted');
    expect(store.row()).toMatchObject({
      plan: { channel: 'ch_main', refusedChannel: 'ch_other' },
      amendment: { title: 'Late' },
    });
    expect(channelRefusal(store.row())).toMatch(/ch_other.*ch_main/);
    expect(store.history.at(-1)?.note).toContain('ch_other');
    expect(await intake.reroute(store.row(), titled)).toBe('known');
  });

  test('that takes its channel back is no longer refused', () => {
    const refused = someFacts({ ...created, plan: { ...somePlan, sidecar, refusedChannel: 'ch_other' } });
    expect(rerouted(refused, { kind: 'take', plan: somePlan }, 9)?.plan?.refusedChannel).toBeUndefined();
  });

  test('with the channel of the video is not refused, nor is one that comes in time', () => {
    expect(rerouted(someFacts(created), late({ channel: 'ch_main' }), 9)?.plan?.refusedChannel).toBeUndefined();
    const inTime = rerouted(someFacts(), late({ channel: 'ch_other' }), 9)?.plan;
    expect([inTime?.channel, inTime?.refusedChannel]).toEqual(['ch_other', undefined]);
  });

  test('may bring a finished video into further feeds, and takes it out of none', () => {
    const change = rerouted(done, late({ publish: ['feed_tv'] }), 9);
    expect(change).toMatchObject({ plan: { publish: ['feed_news', 'feed_tv'] }, amendment: {} });
    const ruled: Route = {
      kind: 'take',
      plan: { ...somePlan, sidecar, publish: ['feed_tv'] },
      said: { title: 'Clip' },
    };
    expect(rerouted(done, ruled, 9)).toEqual({ plan: { ...somePlan, sidecar } });
  });
});

describe('a directory that cannot be opened', () => {
  const directory = { folder: '/inbox', path: 'show', version: someVersion, why: 'user nobody may not open it' };
  const folder = { onDuplicate: 'skip', afterReady: { kind: 'keep' } } as const;

  test('is held once, until it is open, and again when it is closed again', async () => {
    const { store, intake } = open([]);
    for (let report = 0; report < 2; report += 1) await intake.closed(directory, folder);
    expect(rowsOf(store)).toEqual(['show held']);
    expect(store.row('f_new1')).toMatchObject({
      plan: null,
      why: directory.why,
      lastFailure: { code: 'closed_directory' },
    });
    await store.save(next(store.row('f_new1'), { type: 'FILE_GONE' }, { attempts: 3, retryAt: () => 0, now: () => 0 }));
    expect(store.row('f_new1')).toMatchObject({
      end: 'vanished',
      why: 'dropcast may open the directory now, or it is gone',
    });
    await intake.closed(directory, folder);
    expect(rowsOf(store)).toEqual(['show held']);
  });

  test('is not sent by a rule that takes its name', () => {
    const facts = someFacts({
      end: 'held',
      plan: null,
      lastFailure: failure('permanent', { code: 'closed_directory' }),
    });
    expect(rerouted(facts, take, 0)).toBeNull();
  });
});

test('the row of a video that was sent half names that video', async () => {
  const { store, intake } = open([{ ...done, disposal: 'waiting' }]);
  await intake.accept(someArrival({ version: longer }));
  const half = store.row('f_1');
  expect(half).toMatchObject({ end: 'superseded', videoId: 'vid_1', disposal: 'kept' });
  expect(half.why).toContain('`dropcast videos delete vid_1`');
});

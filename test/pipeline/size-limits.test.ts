import { describe, expect, test } from 'vitest';
import type { ConductorSettings, ConductorWorld } from '../../src/pipeline/conductor.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { learnedLimitOf, sizeLimitNote, whyTooLarge } from '../../src/pipeline/file/size-limit.ts';
import { day, hour, minute, outside, startCore } from './running-core.ts';
import { failure, someFacts, somePlan, someVersion } from './some-facts.ts';

const mib = 1024 ** 2;

/** A file of so many MiB. */
const sized = (name: string, size: number, other: Partial<Facts> = {}): Facts =>
  someFacts({
    id: `f_${name}`,
    path: `${name}.mp4`,
    version: { ...someVersion, ino: name, size: size * mib },
    plan: { ...somePlan, publish: [] },
    ...other,
  });

/** A service that takes files up to so many MiB, and what it costs to find that out. */
function limited(rows: readonly Facts[], limit: { mib: number; stated?: number; code?: string }) {
  const kept = outside(rows);
  const puts: string[] = [];
  const host: ConductorWorld['host'] = {
    ...kept.service.host,
    send: async (facts, hooks) => {
      puts.push(facts.id);
      if (facts.version.size <= limit.mib * mib) return kept.service.host.send(facts, hooks);
      const why: Partial<Failure> = {
        status: 413,
        code: limit.code ?? 'payload_too_large',
        message: 'the upload address answered 413',
        sizeLimit: { from: 'service', mostBytes: limit.stated === undefined ? null : limit.stated * mib },
      };
      return { ok: false, failure: failure('permanent', why) };
    },
  };
  const start = (settings: Partial<ConductorSettings> = {}, other: Partial<ConductorWorld> = {}) =>
    startCore(kept, { host, ...other }, settings);
  const { store, service } = kept;
  const states = () => Object.fromEntries(store.all.map(({ path, end }) => [path.replace('.mp4', ''), end]));
  const hasEnded = () => store.all.every(({ end }) => end !== null);
  return { ...kept, start, puts, limit, states, hasEnded, creates: () => service.count('create') };
}

async function pass({ clock, until }: ReturnType<typeof startCore>, ms: number): Promise<void> {
  const end = clock.elapsed() + ms;
  await until(() => clock.elapsed() >= end, minute);
}

describe('uploads.max_size', () => {
  const files = [sized('small', 5), sized('large', 7)];

  test('holds larger files before they cost a request', async () => {
    const { start, states, creates, store, hasEnded, service, puts } = limited(files, { mib: 100 });
    const core = start({ maxSizeBytes: 5 * mib });
    await core.until(hasEnded);
    expect(states()).toEqual({ small: 'done', large: 'held' });
    expect([creates(), puts, service.videos.size]).toEqual([1, ['f_small'], 1]);
    const { lastFailure, why, videoId } = store.row('f_large');
    expect(lastFailure).toMatchObject({ code: 'over_size_limit', sizeLimit: { from: 'setting', mostBytes: 5 * mib } });
    expect(videoId).toBeNull();
    expect(why).toBe(
      'it has 7.34 MB, and uploads.max_size is 5.24 MB: raise the limit and run `dropcast reload`, or replace the file with a smaller one',
    );
  });

  test('lets them continue when a reload raises it, and says the new limit to the others', async () => {
    const { start, states, store, hasEnded } = limited([...files, sized('huge', 20)], { mib: 100 });
    const core = start({ maxSizeBytes: 5 * mib });
    await core.until(hasEnded);
    core.conductor.change({ ...core.settings, maxSizeBytes: 8 * mib });
    await core.until(() => states()['large'] === 'done');
    await core.until(() => store.row('f_huge').why?.includes('8.39 MB') === true && hasEnded());
    expect(states()).toEqual({ small: 'done', large: 'done', huge: 'held' });
  });

  test('lets them continue when a restart finds it raised', async () => {
    const { start, hasEnded, states } = limited(files, { mib: 100 });
    const core = start({ maxSizeBytes: 5 * mib });
    await core.until(hasEnded);
    await core.stop();
    await start().until(() => states()['large'] === 'done');
  });

  test('is not passed by a retry, nor raised by what the service accepts', async () => {
    const { start, hasEnded, creates, store } = limited(files, { mib: 100 });
    const core = start({ maxSizeBytes: 5 * mib });
    await core.until(hasEnded);
    expect(await core.conductor.apply('f_large', { type: 'RETRY' })).toBe('applied');
    await core.until(hasEnded);
    expect([creates(), store.row('f_large').end]).toEqual([1, 'held']);
  });
});

test('sizes that would read the same are said in bytes', () => {
  const learned = { mostBytes: 6_999_999, isStated: false, refusedBytes: 7_000_000, at: 0, said: '413' };
  const of = (size: number) =>
    whyTooLarge(sized('7', size / mib), { maxSizeBytes: Infinity, learned })?.message.split(': ')[0];
  expect(of(7_000_001)).toBe('it has 7,000,001 bytes, and the service refused 7,000,000 bytes (413, 1970-01-01)');
  expect(of(7_000_000)).toBe('it has 7 MB, and the service refused that (413, 1970-01-01)');
  expect(of(8_000_000)).toBe('it has 8 MB, and the service refused 7 MB (413, 1970-01-01)');
});

test('an import sends no bytes, and a file with a record was let through before: neither is held', () => {
  const limit = { maxSizeBytes: 5 * mib, learned: null };
  expect(whyTooLarge(sized('7', 7), limit)).not.toBeNull();
  expect(whyTooLarge(sized('7', 7, { sourceUrl: 'https://elsewhere.example/a' }), limit)).toBeNull();
  expect(whyTooLarge(sized('7', 7, { videoId: 'vid_1' }), limit)).toBeNull();
});

describe('a limit that the upload host teaches', () => {
  const files = [sized('7', 7), sized('5', 5), ...Array.from({ length: 20 }, (_, n) => sized(`${n + 10}`, n + 10))];

  test('costs a few records, all of them deleted; larger files are held without a request, smaller ones are sent', async () => {
    const { start, states, hasEnded, creates, service, puts, store } = limited(files, { mib: 6 });
    const core = start({ uploads: 1 });
    await core.until(hasEnded);
    expect(states()).toEqual({
      ...Object.fromEntries(files.map(({ path }) => [path.replace('.mp4', ''), 'held'])),
      5: 'done',
    });
    // Those with a record already are refused too: at most two for each slot.
    expect(creates()).toBeLessThanOrEqual(4);
    expect(puts.length).toBe(creates());
    expect([...service.videos.values()].map(({ status }) => status)).toEqual(['ready']);
    expect(store.row('f_7')).toMatchObject({
      videoId: null,
      uploadUrl: null,
      dying: false,
      intent: null,
      suspects: [],
    });
    expect(store.row('f_7').why).toMatch(
      /^it has 7\.34 MB, and the service refused that \(413 payload_too_large, 1970-04-11\): /,
    );
    expect(store.row('f_29').lastFailure).toMatchObject({ code: 'over_size_limit', sizeLimit: { from: 'service' } });
  });

  test('is the one that the host states, if it states one', async () => {
    const { start, hasEnded, states, creates, store } = limited([sized('20', 20), sized('7', 7), sized('5', 5)], {
      mib: 6,
      stated: 6,
    });
    const core = start({ uploads: 1 });
    await core.until(() => store.row('f_20').end === 'held' && hasEnded());
    expect(states()).toEqual({ 20: 'held', 7: 'held', 5: 'done' });
    expect(creates()).toBeLessThanOrEqual(3);
    expect(store.row('f_20').why).toContain('it has 21 MB, and the service accepts at most 6.29 MB (');
  });

  test('survives a restart without another request', async () => {
    const { start, hasEnded, creates, store, puts } = limited([sized('7', 7)], { mib: 6 });
    const core = start();
    await core.until(hasEnded);
    await core.stop();
    const before = [creates(), puts.length];
    store.all.push(sized('9', 9));
    const again = start();
    await again.until(hasEnded);
    expect([creates(), puts.length]).toEqual(before);
    expect(store.row('f_9').end).toBe('held');
  });

  test('is tested by the smallest file once a day, and by nothing else', async () => {
    const { start, hasEnded, puts } = limited([sized('7', 7), sized('9', 9), sized('8', 8)], { mib: 6 });
    const core = start({ uploads: 1 });
    await core.until(hasEnded);
    puts.length = 0;
    await pass(core, day - 10 * minute);
    expect(puts).toEqual([]);
    await pass(core, 20 * minute);
    expect(puts).toEqual(['f_7']);
    await pass(core, day);
    expect(puts).toEqual(['f_7', 'f_7']);
    expect(hasEnded()).toBe(true);
  });

  test('ends with the test that succeeds: all others continue', async () => {
    const { start, hasEnded, states, limit } = limited([sized('7', 7), sized('9', 9), sized('8', 8)], { mib: 6 });
    const core = start({ uploads: 1 });
    await core.until(hasEnded);
    limit.mib = 100;
    await pass(core, day + hour);
    await core.until(() => Object.values(states()).every((end) => end === 'done'));
  });

  test('ends when the operator retries one that the service then accepts', async () => {
    const { start, hasEnded, states, limit, store } = limited([sized('7', 7), sized('9', 9)], { mib: 6 });
    const core = start({ uploads: 1 });
    await core.until(hasEnded);
    limit.mib = 8;
    await core.conductor.apply('f_7', { type: 'RETRY' });
    await core.until(() => states()['7'] === 'done' && states()['9'] !== null && store.row('f_9').videoId === null);
    await core.until(() => states()['9'] === 'held');
    expect(learnedLimitOf(await store.note(sizeLimitNote))).toMatchObject({ mostBytes: 9 * mib - 1 });
  });

  test('is forgotten when no file is held by it', async () => {
    const { start, hasEnded, store } = limited([sized('7', 7)], { mib: 6 });
    const core = start();
    await core.until(hasEnded);
    await core.conductor.apply('f_7', { type: 'FILE_GONE' });
    await pass(core, day + hour);
    expect(await store.note(sizeLimitNote)).toBeNull();
  });

  test('is not taught by a file of less than 1 MiB: that is its own failure', async () => {
    const { start, hasEnded, states, store } = limited([sized('0.5', 0.5), sized('7', 7)], { mib: 0.25 });
    const core = start({ uploads: 1 });
    await core.until(hasEnded);
    expect(states()).toEqual({ '0.5': 'failed', 7: 'held' });
    expect(store.row('f_7').lastFailure?.code).toBe('over_size_limit');
  });

  test('is not taught by a refusal that concerns the account', async () => {
    const { start, store, limit, states } = limited([sized('7', 7)], { mib: 6 });
    limit.code = 'plan_limit_reached';
    const core = start();
    await core.until(() => core.conductor.pause() !== null);
    expect(await store.note(sizeLimitNote)).toBeNull();
    expect(states()).toEqual({ 7: null });
  });

  test('that another host has learned holds files here, and one that it has seen end releases them', async () => {
    const kept = limited([sized('7', 7)], { mib: 100 });
    const note = { mostBytes: 6 * mib, isStated: true, refusedBytes: 7 * mib, at: 100 * day, said: 'no' };
    await kept.store.saveNote(sizeLimitNote, note);
    const elsewhere = { isHeld: () => false, hashOf: async () => null };
    const core = kept.start({}, { elsewhere });
    await core.until(kept.hasEnded);
    expect(kept.states()).toEqual({ 7: 'held' });
    await kept.store.saveNote(sizeLimitNote, null);
    await core.until(() => kept.states()['7'] === 'done');
  });
});

test.each([[null], [1], ['x'], [[]], [{}], [{ mostBytes: -1, refusedBytes: 1, at: 1, said: '' }], [{ mostBytes: 1 }]])(
  'a damaged note, %j, is no limit',
  (note) => expect(learnedLimitOf(note)).toBeNull(),
);

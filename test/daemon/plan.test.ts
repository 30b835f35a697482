import { describe, expect, test } from 'vitest';
import { judgeContents } from '../../src/daemon/plan/contents.ts';
import type { PlanWorld } from '../../src/daemon/plan/worlds.ts';
import { summarize } from '../../src/daemon/plan/summary.ts';
import type { PlanView } from '../../src/daemon/plan/summary.ts';
import type { Checksum } from '../../src/pipeline/file/checksums.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { sizeLimitNote } from '../../src/pipeline/file/size-limit.ts';
import type { LearnedLimit } from '../../src/pipeline/file/size-limit.ts';
import type { Answer, LocalFiles } from '../../src/pipeline/file/ports.ts';
import { day, outside, someLocal, startCore } from '../pipeline/running-core.ts';
import { failure, ready, someFacts, somePlan, someVersion } from '../pipeline/some-facts.ts';
import { someRoom } from '../pipeline/some-room.ts';

/** The same numbers for the same seed, from 0 up to a limit. */
function numbersOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

interface SomeFile {
  readonly facts: Facts;
  readonly content: string;
  /** What its sender says of it. */
  readonly said: readonly string[];
}

/** Files that come at once, of few sizes and contents, so that many are alike. */
function filesOf(seed: number): readonly SomeFile[] {
  const number = numbersOf(seed);
  const one = <T>(of: readonly T[]): T => of[number(of.length)] as T;
  const onDuplicate = one(['skip', 'skip', 'skip', 'upload'] as const);
  return Array.from({ length: 1 + number(10) }, (_, n) => {
    const size = 10 + number(2);
    const content = `${size} ${one(['A', 'B'])}`;
    const isLink = number(8) === 0;
    const facts = someFacts({
      id: `f_${n}`,
      path: `${n}.mp4`,
      version: { ...someVersion, ino: String(n), size },
      onDuplicate,
      sourceUrl: isLink ? `https://elsewhere.example/${n}.mp4` : null,
      plan: { ...somePlan, publish: one([[], ['feed_a'], ['feed_a', 'feed_b']]) },
    });
    return { facts, content, said: isLink ? [] : one([[], [], [content], ['another'], ['another', content]]) };
  });
}

/** A file that was done before, of a size that others have. */
const before: SomeFile = {
  facts: someFacts({
    ...ready,
    id: 'f_before',
    videoId: 'vid_before',
    path: 'before.mp4',
    end: 'done',
    sha256: '10 A',
    version: { ...someVersion, ino: 'before', size: 10 },
  }),
  content: '10 A',
  said: [],
};

function worldOf(files: readonly SomeFile[]): Pick<LocalFiles, 'hash' | 'checksums'> {
  const byPath = new Map(files.map((file) => [file.facts.path, file]));
  return {
    hash: async ({ path }): Promise<Answer<string>> => ({ ok: true, value: byPath.get(path)?.content ?? '' }),
    checksums: async ({ path }): Promise<Answer<readonly Checksum[]>> => ({
      ok: true,
      value: (byPath.get(path)?.said ?? []).map((digest) => ({
        algorithm: 'sha256',
        digest,
        goesWithIt: true,
        from: { path: `${path}.sha256`, sha256: '' },
      })),
    }),
  };
}

const pace: PlanWorld['pace'] = {
  bytesPerSecond: null,
  bandwidth: null,
  mayStart: true,
  later: [],
  slots: 4,
  room: someRoom(),
  processingMs: null,
  pollMs: 1_000,
  latePoll: null,
  quota: null,
  quietMs: 2_000,
  atMostMs: 60_000,
};

async function planned(
  known: readonly SomeFile[],
  files: readonly SomeFile[],
  limits: { readonly maxSizeBytes: number; readonly learned: LearnedLimit | null },
): Promise<PlanView> {
  const { store, clock } = outside(known.map(({ facts }) => facts));
  const noBacklog = { toCreate: 0, toSend: 0, bytesToSend: 0, processing: 0, toPublish: 0 };
  const ledger = Object.assign(store, { totals: async (of: string) => (of === 'backlog' ? noBacklog : []) });
  await store.saveNote(sizeLimitNote, limits.learned);
  const config = { folders: [], uploads: limits } as unknown as PlanWorld['config'];
  const world = { config, ledger, clock, pace, refusal: null, durationOf: async () => null };
  const local = worldOf([...known, ...files]);
  const rows = files.map(({ facts }) => facts);
  const contents = await judgeContents(rows, ledger, {
    checksums: (facts) => local.checksums(facts),
    hash: (facts) => local.hash(facts, new AbortController().signal),
  });
  return summarize(world as unknown as Parameters<typeof summarize>[0], { path: null, folders: [], rows, contents });
}

/** What then happens with them, over a service in memory. */
async function happens(known: readonly SomeFile[], files: readonly SomeFile[], limits: Parameters<typeof planned>[2]) {
  const kept = outside([...known, ...files].map(({ facts }) => facts));
  await kept.store.saveNote(sizeLimitNote, limits.learned);
  const local = { ...someLocal, ...worldOf([...known, ...files]) };
  const contents = new Map(files.map(({ facts, content }) => [facts.id, content]));
  const { service, store } = kept;
  const host: typeof service.host = {
    ...service.host,
    // A body whose last part is kept back is a failed upload.
    send: (facts, hooks) =>
      service.host
        .send({ ...facts, id: contents.get(facts.id) ?? '' }, hooks)
        .catch(() => ({ ok: false, failure: failure('bug') })),
    create: async (facts, token, signal) => {
      const answer = await service.host.create(facts, token, signal);
      if (answer.ok && facts.sourceUrl !== null) {
        const video = service.videos.get(answer.value.videoId);
        if (video !== undefined) video.status = 'processing';
        return { ok: true, value: { ...answer.value, uploadUrl: null } };
      }
      return answer;
    },
  };
  const core = startCore(kept, { local, host }, { maxSizeBytes: limits.maxSizeBytes });
  await core.until(() => store.all.every(({ end }) => end !== null));
  const states = store.all.slice(known.length).map(stateOf);
  const count = (state: string): number => states.filter((each) => each === state).length;
  const feeds = new Set(service.asked.filter((request) => request.startsWith('publish ')));
  return {
    done: count('done'),
    skipped: count('skipped'),
    held: count('held'),
    creates: service.count('create'),
    feeds,
  };
}

describe('a plan counts what then happens', () => {
  test.each(Array.from({ length: 150 }, (_, seed) => seed))('with the files of seed %i', async (seed) => {
    const files = filesOf(seed);
    const known = seed % 3 === 0 ? [before] : [];
    const learned = { mostBytes: 10, isStated: false, refusedBytes: 11, at: 100 * day, said: 'no' };
    const limits = { maxSizeBytes: seed % 5 === 0 ? 10 : Infinity, learned: seed % 7 === 0 ? learned : null };
    const plan = await planned(known, files, limits);
    const then = await happens(known, files, limits);
    const { upload, imports, duplicates, held, requests } = plan;
    expect({
      done: upload.files + imports,
      skipped: duplicates.files,
      held: held.length,
      creates: requests.create,
      feeds: requests.publish,
    }).toEqual({ ...then, feeds: then.feeds.size });
  });
});

describe('a plan of new files', () => {
  const files = [someFacts({ id: 'f_1' }), someFacts({ id: 'f_2' }), someFacts({ id: 'f_3' })];
  const contents = { duplicates: new Map(), mismatches: new Map(), possible: new Set<string>() };
  const clock = { now: () => new Date(2026, 10, 22, 14, 0).getTime(), elapsed: () => 0 };
  const world = {
    config: { folders: [], uploads: { maxSizeBytes: Infinity } },
    ledger: null,
    clock,
    pace: { ...pace, bytesPerSecond: 1_000_000 },
    refusal: null,
    durationOf: async ({ id }: Facts) => (id === 'f_3' ? null : 3_600),
  };
  const plan = (more: object, rows: readonly Facts[] = files) =>
    summarize({ ...world, ...more } as unknown as Parameters<typeof summarize>[0], {
      path: null,
      folders: [],
      contents,
      rows,
    });

  test('says that the service refuses new videos, and no end', async () => {
    const refusal = {
      kind: 'suspended',
      holds: 'new files',
      trouble: 'quota',
      why: 'the service answered 403 quota_reached',
      code: 'quota_reached',
      since: clock.now() - 60_000,
      nextProbeAt: clock.now() + 3_600_000,
    };
    expect(await plan({ refusal })).toMatchObject({
      limited_by: 'pause',
      why: 'the service answered 403 quota_reached, since 13:59; next try at 15:00',
      done_at: null,
    });
    expect(await plan({ refusal }, [])).toMatchObject({ limited_by: 'nothing', done_at: clock.now() });
  });

  test('reads their durations if the quota has minutes: an unknown one counts as none', async () => {
    const left = { videos: Infinity, bytes: Infinity, minutes: 100 };
    const day = 86_400_000;
    const quota = { left, most: left, minutesPerVideo: null, resetsInMs: day / 2, periodMs: day };
    const timed = await plan({ pace: { ...world.pace, quota } });
    expect(timed).toMatchObject({
      limited_by: 'quota',
      why: '100 of 100 minutes are left; more from 2026-11-23 02:00 on',
    });
    expect(timed.done_at).toBeGreaterThan(clock.now() + day / 2);
    expect(
      await plan({ pace: { ...world.pace, quota: { ...quota, left: { ...left, minutes: 120 } } } }),
    ).not.toMatchObject({
      limited_by: 'quota',
    });
  });
});

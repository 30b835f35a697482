import { expect, onTestFinished, test } from 'vitest';
import { suspectsOf } from '../../src/view/files/suspects.ts';
import { createConductor } from '../../src/pipeline/conductor.ts';
import type { ConductorWorld } from '../../src/pipeline/conductor.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { FakeHost } from '../pipeline/fake-host.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';
import { failure, someFacts, somePlan, someVersion } from '../pipeline/some-facts.ts';
import { TestClock } from '../pipeline/test-clock.ts';
import { someLocal, someWorld } from '../pipeline/running-core.ts';

const settings = {
  uploads: 2,
  isAuto: false,
  folderUploads: new Map<string, number>(),
  maxSizeBytes: Infinity,
  retry: { attempts: 3, firstMs: 1_000, maxMs: 8_000 },
  poll: { intervalMs: 1_000, giveUpAfterMs: 86_400_000 },
  publish: { quietMs: 0, atMostMs: 60_000 },
  deletesIn: [],
  isMarking: false,
};
const inDoubt = failure('transient', { inDoubt: true });
const away = { changed: failure('changed'), vanished: failure('vanished') };

/** One file, a service, and the pipeline between them. */
function open() {
  const clock = new TestClock();
  const store = new MemoryStore([someFacts({ plan: { ...somePlan, publish: [] } })], () => clock.now());
  const service = new FakeHost();
  const local: { away: Failure | null } = { away: null };
  const world: ConductorWorld = {
    ...someWorld({ clock, store, service }),
    host: { ...service.host },
    local: { ...someLocal, check: async () => local.away, hash: async () => ({ ok: true, value: 'aa' }) },
  };
  const conductor = createConductor(world, settings);
  onTestFinished(() => conductor.stop(AbortSignal.abort()));
  conductor.start();
  const turn = async (): Promise<void> => {
    clock.advance(500);
    conductor.wake();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    store,
    service,
    host: world.host,
    local,
    world,
    conductor,
    until: async (condition: () => boolean) => {
      for (let n = 0; !condition(); n += 1) {
        if (n > 5_000) throw new Error(`it never came to that: ${store.states().join(', ')}`);
        await turn();
      }
    },
    minutes: async (count: number) => {
      for (let n = 0; n < count * 120; n += 1) await turn();
    },
  };
}

type World = ReturnType<typeof open>;
type Sent = Awaited<ReturnType<World['host']['send']>>;

const state = ({ store }: World): string => stateOf(store.row());
const sendEndsWith = (world: World, why: Failure): void => {
  world.host.send = async (): Promise<Sent> => ({ ok: false, failure: why });
};

/** Each way in which a file comes to its end, or to another record, after its create request. */
const ways: readonly (readonly [string, (world: World) => Promise<void>])[] = [
  ['all is well', async (world) => world.until(() => state(world) === 'done')],
  [
    'the file changes during the upload',
    async (world) => {
      world.host.send = async (): Promise<Sent> => {
        world.local.away = away.changed;
        return { ok: false, failure: away.changed };
      };
      await world.until(() => state(world) === 'superseded');
    },
  ],
  [
    'the file disappears during the upload',
    async (world) => {
      world.host.send = async (): Promise<Sent> => {
        world.local.away = away.vanished;
        return { ok: false, failure: away.vanished };
      };
      await world.until(() => state(world) === 'vanished');
    },
  ],
  ...(['FILE_CHANGED', 'FILE_GONE'] as const).map(
    (type) =>
      [
        `${type} comes while it waits for its upload`,
        async (world: World) => {
          sendEndsWith(world, failure('offline', { retryAfterMs: 60_000 }));
          await world.until(() => world.store.row().videoId !== null && state(world) === 'retrying');
          await world.conductor.apply('f_1', { type });
        },
      ] as const,
  ),
  [
    'the upload is refused',
    async (world) => {
      sendEndsWith(world, failure('permanent', { status: 413 }));
      await world.until(() => state(world) === 'failed');
    },
  ],
  [
    'the upload is refused, and then the file changes',
    async (world) => {
      sendEndsWith(world, failure('permanent', { status: 413 }));
      await world.until(() => state(world) === 'failed');
      await world.conductor.apply('f_1', { type: 'FILE_CHANGED' });
    },
  ],
  ...[false, true].map(
    (isRetried) =>
      [
        `the upload host refuses the size${isRetried ? ', also of a retry' : ''}`,
        async (world: World) => {
          // Smaller files teach no limit.
          world.store.all[0] = someFacts({ version: { ...someVersion, size: 2 ** 21 } });
          sendEndsWith(world, failure('permanent', { status: 413, sizeLimit: { from: 'service', mostBytes: null } }));
          await world.until(() => state(world) === 'held');
          if (isRetried) await world.conductor.apply('f_1', { type: 'RETRY' });
          await world.until(() => state(world) === 'held');
          expect(world.service.videos.size).toBe(0);
          expect(world.service.count('create')).toBe(isRetried ? 2 : 1);
        },
      ] as const,
  ),
  [
    'no upload comes through',
    async (world) => {
      sendEndsWith(world, failure('transient'));
      await world.until(() => state(world) === 'failed');
    },
  ],
  [
    'the answers to the create requests are lost',
    async (world) => {
      const { create } = world.service.host;
      world.host.create = async (...args) => {
        await create(...args);
        return { ok: false, failure: inDoubt };
      };
      await world.until(() => state(world) === 'failed');
    },
  ],
  [
    'the first record has no upload address',
    async (world) => {
      const { create } = world.service.host;
      world.host.create = async (...args) => {
        const answer = await create(...args);
        world.host.create = create;
        return answer.ok ? { ok: true, value: { ...answer.value, uploadUrl: null } } : answer;
      };
      await world.until(() => state(world) === 'done');
    },
  ],
  [
    'dropcast is killed before it has the answer',
    async (world) => {
      const { create } = world.service.host;
      const answer = Promise.withResolvers<Awaited<ReturnType<typeof create>>>();
      let isMade = false;
      world.host.create = async (...args) => {
        await create(...args);
        world.host.create = create;
        isMade = true;
        return answer.promise;
      };
      await world.until(() => isMade);
      // What the next start would find on disk.
      expect((await suspectsOf(world.store, null)).suspects).toMatchObject([{ name: 'token 1', title: 'Clip' }]);
      answer.resolve({ ok: false, failure: inDoubt });
      await world.until(() => state(world) === 'done');
    },
  ],
  [
    'the service fails to process it, and it is retried',
    async (world) => {
      world.service.beforeLook = () => {
        for (const video of world.service.videos.values()) if (video.status === 'processing') video.status = 'failed';
      };
      await world.until(() => state(world) === 'failed');
      world.service.beforeLook = () => undefined;
      await world.conductor.apply('f_1', { type: 'RETRY' });
      await world.until(() => state(world) === 'done');
    },
  ],
];

test.each(ways)('no record is left unlisted when %s', async (_name, happens) => {
  const world = open();
  await happens(world);
  const isAccountedFor = async (): Promise<void> => {
    const row = world.store.row();
    const { suspects } = await suspectsOf(world.store, null);
    const empty = [...world.service.videos].filter(([, { status }]) => status === 'pending').map(([id]) => id);
    const unlisted = empty.filter((id) => id !== row.videoId && !suspects.some(({ name }) => name === id));
    const unanswered = suspects.filter(({ video_id: id }) => id === null);
    expect(unlisted.length).toBeLessThanOrEqual(unanswered.length);
    const isInUse = row.end === null || row.end === 'done';
    if (!isInUse && empty.includes(row.videoId ?? '')) expect(suspects.map(({ name }) => name)).toContain(row.videoId);
  };
  await isAccountedFor();
  await world.minutes(3);
  await isAccountedFor();
  // Nobody will fill it: it is gone by now.
  if (['superseded', 'vanished'].includes(state(world))) expect(world.service.videos.size).toBe(0);
  await world.conductor.stop(AbortSignal.abort());
});

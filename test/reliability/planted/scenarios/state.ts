import { randomBytes } from 'node:crypto';
import { appendFile, copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { until } from '../../../support/until.ts';
import type { World } from '../../world/world.ts';
import type { Scenario } from '../scenario.ts';

/** State directories and local files: lost, doubled, put away. */
export const stateScenarios = {
  'an old copy of the ledger is restored': {
    play: async (world) => {
      const ledger = world.scratch.file('state/ledger.db');
      await world.drop('a.mpg');
      await world.once();
      await copyFile(ledger, world.scratch.file('old.db'));
      await world.drop('b.mpg');
      await world.once();
      await rm(`${ledger}-wal`, { force: true });
      await copyFile(world.scratch.file('old.db'), ledger);
      await world.once();
    },
  },

  'two installations watch one folder': {
    world: { allows: { exitCodes: [1, 75, 78] } },
    play: async (world) => {
      await world.configure('second');
      await world.drop('a.mpg');
      const daemon = await world.daemon();
      await world.reaches('a.mpg', 'done');
      const other = world.start(['once', '--wait', '1s'], { state: 'second' });
      await world.end(other);
      await world.stop(daemon);
    },
  },

  'purged and installed again, with files put away before': {
    world: { folder: { after_ready: { move: 'done/{date}' } } },
    play: async (world) => {
      await world.drop('a.mpg');
      await world.once();
      await rm(world.scratch.file('state'), { recursive: true });
      await world.drop('b.mpg');
      await world.once();
    },
  },

  'retry --all meets a file that is known to be cut off': {
    isHurried: true,
    world: { allows: { exitCodes: [1] } },
    play: async (world) => {
      const bytes = await readFile(new URL('../../../media/truncated.mp4', import.meta.url));
      world.allow({ needsPerson: [world.at('truncated.mp4')] });
      await world.people.drop(world.at('truncated.mp4'), bytes, { isBroken: true });
      const daemon = await world.daemon();
      await world.reaches('truncated.mp4', 'held');
      await world.command(['retry', '--all']);
      await world.drop('b.mpg');
      await world.reaches('b.mpg', 'done');
      await world.stop(daemon);
    },
  },

  'a sidecar stays when its video is put away': {
    world: { folder: { after_ready: { move: 'done' } } },
    play: async (world) => {
      await writeFile(world.at('clip.yaml'), 'title: Of the first\n');
      await world.people.drop(world.at('clip.mpg'), randomBytes(2_000), { titles: ['Of the first'] });
      await world.once();
      await world.drop('clip.mpg');
      await world.once();
    },
  },

  'another file has the name that a file is moved to': {
    world: { folder: { after_ready: { move: 'done' } } },
    play: async (world) => {
      await world.people.drop(world.at('done/a.mpg'), randomBytes(3_000), { isForeign: true });
      await world.drop('a.mpg');
      await world.once();
    },
  },

  'a file is overwritten between ready and delete': {
    world: {
      folder: { after_ready: 'delete' },
      host: { processingMs: () => 2_000_000_000 },
      allows: { requestsPerVideo: 500, requests: 5_000 },
    },
    play: async (world) => {
      await world.drop('a.mpg');
      const daemon = await world.daemon();
      await world.reaches('a.mpg', 'processing');
      await world.stop(daemon);
      await world.people.overwrite(world.at('a.mpg'), randomBytes(2_000));
      for (const video of world.service.host.videos.values()) video.status = 'ready';
      const again = await world.daemon();
      await finishing(world, () => world.reaches('a.mpg', 'done'));
      await world.drop('b.mpg');
      await finishing(world, () => world.reaches('b.mpg', 'done'));
      const videosOf = (title: string): number =>
        [...world.service.host.videos.values()].filter((video) => video.title === title && video.status === 'ready')
          .length;
      const isSettled = async (): Promise<boolean> =>
        videosOf('a') === 2 || (await world.file('a.mpg'))?.local === 'deleted';
      await finishing(world, async () => {
        await until('the new bytes are there too, or deleted', isSettled, { withinMs: world.patienceMs });
      });
      await world.stop(again);
    },
  },

  'the receipts have a line that is not ours': {
    play: async (world) => {
      await world.drop('a.mpg');
      await world.once();
      await appendFile(world.scratch.file('state/receipts.jsonl'), 'null\n');
      await world.drop('b.mpg');
      await world.once();
    },
  },

  'once runs again while a file is held': {
    world: { allows: { exitCodes: [1] } },
    play: async (world) => {
      world.allow({ needsPerson: [world.at('a.mpg')] });
      await writeFile(world.at('a.yaml'), 'title: [broken\n');
      await world.drop('a.mpg');
      await world.once();
      await world.once();
    },
  },
} satisfies Record<string, Scenario>;

/** Videos that the service is about to process are ready at once, as long as `work` takes. */
async function finishing(world: World, work: () => Promise<void>): Promise<void> {
  const timer = setInterval(() => {
    for (const video of world.service.host.videos.values()) if (video.status === 'processing') video.status = 'ready';
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

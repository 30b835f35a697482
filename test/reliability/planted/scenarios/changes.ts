import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { until } from '../../../support/until.ts';
import type { World } from '../../world/world.ts';
import type { Scenario } from '../scenario.ts';
import { everythingWasSeen, isReady } from './seen.ts';

/** More than the kernel's socket buffers hold: an upload of it can be stopped in its middle. */
const beyondBuffers = 24 * 1024 * 1024;

/** People and programs change files while dropcast works on them. */
export const changeScenarios = {
  'a file is overwritten while it is sent': {
    play: (world) => changedMidway(world, { isTimeKept: false }),
  },

  'a file is overwritten while it is sent, and its time set back': {
    play: (world) => changedMidway(world, { isTimeKept: true }),
  },

  'a file is overwritten between two parts of a continued upload, and its time set back': {
    isHurried: true,
    world: { host: { resumable: 'tus' } },
    play: async (world) => {
      const path = world.at('a.mpg');
      breakOnce(world, async () => world.people.overwrite(path, randomBytes(beyondBuffers), { isTimeKept: true }));
      world.allow({ requestsPerVideo: 60 });
      await world.drop('a.mpg', randomBytes(beyondBuffers));
      await world.once();
      await world.once();
    },
  },

  'a file is overwritten while its upload is continued, and its time set back': {
    isHurried: true,
    world: { host: { resumable: 'content-range' } },
    play: async (world) => {
      breakOnce(world, async () => {
        // The next upload is the one that continues.
        changeDuringNext(world);
      });
      world.allow({ requestsPerVideo: 60 });
      await world.drop('a.mpg', randomBytes(beyondBuffers));
      await world.once();
      await world.once();
    },
  },

  'a writer pauses with the file open': {
    play: async (world) => {
      const [begin, rest] = [randomBytes(1_000), randomBytes(1_000)];
      world.people.note(world.at('growing.mpg'), Buffer.concat([begin, rest]));
      const writer = await open(world.at('growing.mpg'), 'w');
      await writer.write(begin);
      const daemon = await world.daemon();
      await everythingWasSeen(world);
      await writer.write(rest);
      await writer.close();
      await world.reaches('growing.mpg', 'done');
      await until('it is all there', () => isReady(world, 'growing'));
      await world.stop(daemon);
    },
  },

  'a file arrives after the first scan, and no event reports it': {
    world: { folder: { watch: 'polling' } },
    play: async (world) => {
      const daemon = await world.daemon();
      await world.drop('first.mpg');
      await world.reaches('first.mpg', 'done');
      await world.drop('second.mpg');
      await world.reaches('second.mpg', 'done');
      await world.stop(daemon);
    },
  },

  'equal files come together': {
    play: async (world) => {
      const bytes = randomBytes(5_000);
      await world.drop('one.mpg', bytes);
      await world.drop('two.mpg', bytes);
      await world.people.drop(world.at('three.mpg'), randomBytes(5_000));
      world.people.note(world.at('one.mpg'), bytes, { titles: ['one', 'two'] });
      await world.once();
    },
  },

  'of equal files the first fails in processing': {
    world: {
      host: { processingMs: firstNever() },
      allows: { exitCodes: [1], requestsPerVideo: 200, requests: 2_000 },
    },
    play: async (world) => {
      const bytes = randomBytes(5_000);
      world.allow({ needsPerson: [world.at('first.mpg')] });
      await world.people.drop(world.at('first.mpg'), bytes, { titles: ['first', 'second'] });
      const daemon = await world.daemon();
      await world.reaches('first.mpg', 'processing');
      await world.people.drop(world.at('second.mpg'), bytes, { titles: ['first', 'second'] });
      await world.reaches('second.mpg', 'skipped');
      for (const video of world.service.host.videos.values()) video.status = 'failed';
      await world.reaches('first.mpg', 'failed');
      await world.reaches('second.mpg', 'done');
      await world.stop(daemon);
    },
  },
} satisfies Record<string, Scenario>;

async function changedMidway(world: World, { isTimeKept }: { readonly isTimeKept: boolean }): Promise<void> {
  const path = world.at('a.mpg');
  let isFirst = true;
  world.service.faults.upload = (request) => {
    if (!isFirst) return false;
    isFirst = false;
    request.once('data', () => {
      request.pause();
      void world.people.overwrite(path, randomBytes(beyondBuffers), { isTimeKept }).then(() => request.resume());
    });
    return false;
  };
  await world.drop('a.mpg', randomBytes(beyondBuffers));
  const daemon = await world.daemon();
  await until('the new bytes are there, or given up', async () => {
    const { state } = (await world.file('a.mpg')) ?? {};
    return (
      isReady(world, 'a') ||
      state === 'failed' ||
      state === 'held' ||
      (state === 'superseded' && (await isForgotten(world)))
    );
  });
  await world.stop(daemon);
}

/** Breaks the first body in its middle, after `between`. */
function breakOnce(world: World, between: () => Promise<void>): void {
  let isOver = false;
  world.service.faults.upload = (request) => {
    let received = 0;
    request.on('data', (part: Buffer) => {
      received += part.length;
      if (isOver || received < beyondBuffers / 2) return;
      isOver = true;
      request.pause();
      void between().then(() => request.socket.destroy());
    });
    return false;
  };
}

function changeDuringNext(world: World): void {
  let isOver = false;
  world.service.faults.upload = (request) => {
    request.once('data', () => {
      if (isOver) return;
      isOver = true;
      request.pause();
      const change = world.people.overwrite(world.at('a.mpg'), randomBytes(beyondBuffers), { isTimeKept: true });
      void change.then(() => request.resume());
    });
    return false;
  };
}

/** A scan has passed after the row ended, and it had no effect. */
async function isForgotten(world: World): Promise<boolean> {
  await everythingWasSeen(world);
  await world.takesIn('a.mpg');
  return (await world.file('a.mpg'))?.state === 'superseded';
}

/** Processing of the first video never ends by itself. */
function firstNever(): () => number {
  let count = 0;
  return () => ((count += 1) === 1 ? 2_000_000_000 : 0);
}

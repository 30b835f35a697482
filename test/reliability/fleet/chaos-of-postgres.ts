import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import { bytes, large } from './bytes.ts';
import type { ChaosSchedule, FleetWorld } from './fleet-world.ts';

export const postgresChaos: Readonly<Record<string, ChaosSchedule>> = {
  'PostgreSQL is stopped for 8 s during uploads': {
    play: async (world) => {
      const path = await world.drop('a.mpg', bytes(large));
      await world.drop('b.mpg');
      await world.sender(path);
      await world.cluster.stop('fast');
      await delay(8_000);
      await world.cluster.start();
      await world.settles();
    },
  },

  'PostgreSQL crashes in the middle of transactions, five times': {
    play: async (world) => {
      for (let n = 0; n < 20; n += 1) await world.drop(`${n}.mpg`, bytes(2_000 + n));
      for (let n = 0; n < 5; n += 1) {
        await delay(1_500);
        await world.cluster.stop('immediate');
        await world.cluster.start();
      }
      await world.settles();
    },
  },

  'PostgreSQL fails over to a replica that has everything': {
    options: { hasStandby: true },
    play: async (world) => {
      const path = await world.drop('a.mpg', bytes(large));
      await world.sender(path);
      await world.failOver();
      await world.settles();
    },
  },

  // What docs/fleet.md promises under "Failover" where all members live: no file is lost, none is a video twice, none is completed by two.
  'PostgreSQL fails over to a replica that lacks the last writes': {
    options: { hasStandby: true },
    play: async (world) => {
      for (let n = 0; n < 4; n += 1) await world.drop(`before-${n}.mpg`, bytes(20_000 + n));
      await world.settles();
      await world.standbyFallsBehind();
      await dropUnseen(world);
      await world.failOver();
      await world.settles();
    },
  },

  // A receipt of a member that is dead then comes late: its videos are found by their bytes, or the file is uploaded once more.
  'PostgreSQL fails over to a replica that lacks the last writes, and a member comes back only later': {
    options: { hasStandby: true, mayBeTwice: true },
    play: async (world) => {
      await world.drop('before.mpg', bytes(20_000));
      await world.settles();
      await world.standbyFallsBehind();
      const path = await dropUnseen(world);
      const member = await world.sender(path);
      await member.end('SIGKILL');
      await world.failOver();
      await delay(25_000);
      await member.start();
      await world.settles();
    },
  },
};

/** Files in every state, of which the standby knows nothing. @returns one that is being sent */
async function dropUnseen(world: FleetWorld): Promise<string> {
  const done = await Promise.all([0, 1, 2].map((n) => world.drop(`done-${n}.mpg`, bytes(20_000 + 10 * n))));
  await world.settles();
  const path = await world.drop('sent.mpg', bytes(large));
  for (let n = 0; n < 6; n += 1) await world.drop(`late-${n}.mpg`, bytes(100_000 + n));
  await until('some are on the service', () => world.service.records().length > done.length + 2);
  await world.sender(path);
  return path;
}

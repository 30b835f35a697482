import { setTimeout as delay } from 'node:timers/promises';
import { beyondLeaseMs, bytes, large } from './bytes.ts';
import { until } from '../../support/until.ts';
import type { ChaosSchedule } from './fleet-world.ts';

const tenMinutes = 600_000;

export const membersChaos: Readonly<Record<string, ChaosSchedule>> = {
  'a member is killed while it uploads': {
    isQuick: true,
    play: async (world) => {
      const path = await world.drop('a.mpg', bytes(large));
      await world.drop('b.mpg');
      const member = await world.sender(path);
      await member.end('SIGKILL');
      world.loses(member);
      await world.settles();
    },
  },

  'a member sleeps for longer than its lease, and wakes up': {
    isQuick: true,
    play: async (world) => {
      const path = await world.drop('a.mpg', bytes(large));
      const member = await world.sender(path);
      member.process().send('SIGSTOP');
      await delay(beyondLeaseMs);
      await world.takenOver(path, member);
      member.process().send('SIGCONT');
      await world.settles();
    },
  },

  'a member does not reach PostgreSQL for longer than its lease': {
    play: async (world) => {
      const path = await world.drop('a.mpg', bytes(large));
      const member = await world.sender(path);
      member.proxy.cut();
      await delay(beyondLeaseMs + 6_000);
      member.proxy.mend();
      await world.settles();
    },
  },

  'the network of a member is down for longer than its lease': {
    options: { hasOwnNetwork: true },
    play: async (world) => {
      const [member] = world.members;
      if (member?.network == null) throw new Error('no member has a network of its own');
      const own = await world.drop('own.mpg', bytes(large), member);
      const paths = [own, await world.drop('a.mpg', bytes(large)), await world.drop('b.mpg', bytes(large + 1))];
      await world.drop('c.mpg', bytes(large + 2));
      await until('it sends', async () =>
        (await Promise.all(paths.map((path) => world.sender(path)))).some(({ name }) => name === member.name),
      );
      await member.network.cut();
      await delay(beyondLeaseMs + 6_000);
      await member.network.mend();
      await world.settles();
    },
  },

  'the clocks of two members are ten minutes wrong, in both directions, and one is killed': {
    options: { clocksMs: [tenMinutes, -tenMinutes, 0] },
    play: async (world) => {
      for (const member of world.members) await world.drop(`own-${member.name}.mpg`, bytes(60_000), member);
      const path = await world.drop('a.mpg', bytes(large));
      for (let n = 0; n < 6; n += 1) await world.drop(`${n}.mpg`, bytes(50_000 + n));
      const member = await world.sender(path);
      await member.end('SIGKILL');
      world.loses(member);
      await world.takenOver(path, member);
      await member.start();
      await world.settles();
    },
  },

  'a share and a folder of each, and every member is killed once': {
    play: async (world) => {
      for (const member of world.members) {
        for (let n = 0; n < 3; n += 1) await world.drop(`${member.name}-${n}.mpg`, bytes(50_000 + n));
        await world.drop(`own-${member.name}.mpg`, bytes(60_000), member);
      }
      for (const member of world.members) {
        await delay(2_000);
        await member.end('SIGKILL');
        await member.start();
      }
      await world.settles();
    },
  },

  'files come to a share of two members all the time, and one or the other is killed': {
    play: async (world) => {
      await world.members[2]?.end('SIGTERM');
      const [one, other] = world.members;
      const over = new AbortController();
      const write = async (writer: string): Promise<void> => {
        for (let n = 0; !over.signal.aborted; n += 1) {
          await world.drop(`${writer}/${n}.mpg`, bytes(20_000 + n));
          await delay(400);
        }
      };
      const writing = Promise.all([write('camera1'), write('camera2')]);
      for (const member of [one, other, one, other]) {
        await delay(2_000);
        await member?.end('SIGKILL');
        await delay(1_000);
        await member?.start();
      }
      over.abort();
      await writing;
      await world.settles();
    },
  },

  'the budget of an hour is used up while members are killed': {
    options: { requestsPerHour: 60, mayWait: true },
    play: async (world) => {
      for (let n = 0; n < 60; n += 1) await world.drop(`${n}.mpg`, bytes(2_000 + n));
      for (const member of world.members) {
        await delay(1_500);
        await member.end('SIGKILL');
        await member.start();
      }
      await until('most of the budget is used', () => world.service.host.requests.length >= 0.8 * 60);
      await delay(5_000);
    },
  },
};

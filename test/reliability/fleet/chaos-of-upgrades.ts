import { rejects } from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { bytes } from './bytes.ts';
import { laterRelease } from './releases.ts';
import type { ChaosSchedule } from './fleet-world.ts';

export const upgradeChaos: Readonly<Record<string, ChaosSchedule>> = {
  'members are upgraded one after another while files come, and one of a release that is too old does not start': {
    play: async (world) => {
      const { program } = world;
      const next = await laterRelease(program, world.scratch('next'), { version: '0.2.0', needsAtLeast: [1] });
      const third = await laterRelease(program, world.scratch('third'), { version: '0.3.0', needsAtLeast: [1, 2] });
      const over = new AbortController();
      const write = async (): Promise<void> => {
        for (let n = 0; !over.signal.aborted; n += 1) {
          await world.drop(`${n}.mpg`, bytes(20_000 + n));
          await delay(500);
        }
      };
      const writing = write();
      const [first, second] = world.members;
      if (first === undefined || second === undefined) throw new Error('there are no members');
      for (const member of world.members) {
        await member.end('SIGTERM');
        // It would drop what the first release needs, which still runs.
        if (member === second)
          await rejects(member.start(third), /cannot work with, and that version still runs on ingest3/);
        await member.start(next);
        await delay(2_000);
      }
      await first.end('SIGTERM');
      await first.start(third);
      await second.end('SIGTERM');
      await rejects(second.start(program), /has schema 3, but this dropcast knows only 1: install the newer version/);
      await second.start(next);
      over.abort();
      await writing;
      await world.settles();
    },
  },
};

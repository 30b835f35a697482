import { describe, expect, inject, test } from 'vitest';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { plant } from '../planted/plant.ts';
import { needs } from '../../support/needs.ts';
import { chaos } from './chaos.ts';
import { openFleetWorld } from './fleet-world.ts';
import { hasOwnNetworks } from './own-network.ts';
import type { ChaosSchedule } from './fleet-world.ts';

const played = Object.entries<ChaosSchedule>(chaos)
  .filter(([, { isQuick }]) => isQuick === true || process.env['DROPCAST_LONG'] === '1')
  .filter(([, { options }]) => options?.hasOwnNetwork !== true || hasOwnNetworks());

describe.concurrent('three members on one PostgreSQL: each file is uploaded once', needs('postgres'), () => {
  test.for(played)('%s', async ([, { options, play }]) => {
    await using world = await openFleetWorld({ program: inject('program'), ...options });
    await play(world);
    expect(await world.judge()).toEqual([]);
  });
});

describe.runIf(process.env['DROPCAST_LONG'] === '1')('the judge of a fleet of processes', needs('postgres'), () => {
  test('sees a planted bug: a member that slept continues with the files that it held', async () => {
    await using scratch = await scratchDirectory();
    const program = await plant(inject('program'), scratch.file('planted'), [
      // It neither notices that its lease is over, nor asks before the last part leaves.
      { anchor: '#lose(held) {', instead: '#lose(held) { return;' },
      { anchor: 'return this.#has(held); }', instead: 'return true; }' },
    ]);
    await using world = await openFleetWorld({ program });
    await chaos['a member sleeps for longer than its lease, and wakes up']?.play(world);
    // What it sends is complete some seconds later.
    await until('both have sent it', () => world.service.records().some(({ bodies }) => bodies.length > 1));
    const found = await world.judge();
    expect(found.map(({ invariant }) => invariant)).toContain('no record gets a second complete body');
  });
});

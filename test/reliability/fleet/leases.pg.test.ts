import { expect } from 'vitest';
import { missingStates } from '../simulation/sometimes.ts';
import { leaseStates } from './fleet-settings.ts';
import { fleetPlants } from './plants.ts';
import { testWorld } from './test-world.ts';

testWorld('leases', {
  title: 'leases of three members on a real PostgreSQL, in simulated time',
  promise: 'each file is completed once, by the host that holds it, and taken over in time',
  // The long run plays 5,000.
  lives: 40,
  plants: fleetPlants.filter(({ world }) => world === 'leases'),
  expectOfAll: (reports) => expect(missingStates(reports, leaseStates)).toEqual([]),
});

import { fleetPlants } from './plants.ts';
import { testWorld } from './test-world.ts';

testWorld('fleet', {
  title: 'three whole members on a real PostgreSQL, in simulated time',
  promise: 'each file is uploaded once, within the budget of all, and every publish that is wanted comes',
  // The long run plays 1,000.
  lives: 4,
  plants: fleetPlants.filter(({ world }) => world === 'fleet'),
});

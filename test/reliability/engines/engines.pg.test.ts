import { testWorld } from '../fleet/test-world.ts';
import { enginePlants } from './plants.ts';

const isLong = process.env['DROPCAST_LONG'] === '1';

testWorld('engines', {
  title: 'a whole daemon on SQLite and on PostgreSQL, in simulated time',
  promise: 'the same files, faults and kills leave the same on both',
  // The long run plays 500 besides.
  lives: isLong ? 40 : 3,
  // One takes as long as the lives.
  plants: isLong ? enginePlants : enginePlants.slice(0, 1),
});

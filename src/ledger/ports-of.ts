import { createAdoption } from './adoption.ts';
import { createArrivals } from './arrivals.ts';
import type { Connection } from './connection.ts';
import { createEventRows } from './event-rows.ts';
import { createHistory } from './history.ts';
import { createExpectedRows, createFeedsDue, createFirstStarts, createNotes, createPauseRows } from './records.ts';
import { createFiles } from './files.ts';
import { createLeftovers } from './leftovers.ts';
import { createNewsRows } from './news-rows.ts';
import { createQueues } from './queues.ts';
import { createRowGroups } from './row-groups.ts';
import { createRounds } from './rounds.ts';
import { createSelection } from './selection.ts';
import { createSnapshots } from './snapshot.ts';
import { createTotals } from './totals.ts';
import { createView } from './view.ts';

/** Creates the ports that only read and write rows. They are the same for every store. */
export function portsOf(connection: Connection) {
  return {
    ...createFiles(connection),
    ...createQueues(connection),
    ...createArrivals(connection),
    ...createRowGroups(connection),
    ...createRounds(connection),
    ...createFeedsDue(connection),
    ...createPauseRows(connection),
    ...createNotes(connection),
    ...createAdoption(connection),
    ...createFirstStarts(connection),
    ...createLeftovers(connection),
    ...createView(connection),
    ...createHistory(connection),
    ...createEventRows(connection),
    ...createExpectedRows(connection),
    ...createSnapshots(connection),
    ...createTotals(connection),
    selection: createSelection(connection),
    news: createNewsRows(connection),
  };
}

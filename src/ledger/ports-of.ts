import { createAdoption, createLeftovers } from './leftovers.ts';
import { createAuditRows } from './audit.ts';
import { createArrivals, createFiles } from './files.ts';
import type { Connection } from './connection.ts';
import { createEventRows, createHistory } from './history.ts';
import { createExpectedRows, createFeedsDue, createFirstStarts, createNotes, createPauseRows } from './records.ts';
import { createNewsRows } from './news-rows.ts';
import { createQueues, createRounds } from './queues.ts';
import { createRowGroups } from './row-groups.ts';
import { createCounts, createSelection } from './selection.ts';
import { createSnapshots } from './snapshot.ts';
import { createTotals } from './totals.ts';
import { createView } from './view.ts';

/** Creates the ports that only read and write rows. They are the same for every store. */
export function portsOf(connection: Connection) {
  return {
    ...createFiles(connection),
    ...createCounts(connection),
    ...createQueues(connection),
    ...createArrivals(connection),
    ...createRowGroups(connection),
    ...createRounds(connection),
    ...createFeedsDue(connection),
    ...createPauseRows(connection),
    ...createNotes(connection),
    ...createAdoption(connection),
    ...createAuditRows(connection),
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

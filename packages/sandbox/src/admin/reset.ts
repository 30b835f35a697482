import { openAccount } from '../account.ts';
import { replaceEverything } from '../store/replace-everything.ts';
import { eraseTables } from '../store/tables.ts';
import type { Services } from '../services.ts';

export type ResetParts = Pick<
  Services,
  | 'records'
  | 'settings'
  | 'mediaFiles'
  | 'acceptance'
  | 'requestWindow'
  | 'clock'
  | 'journal'
  | 'faults'
  | 'switchboard'
  | 'events'
>;

/**
 * Restores the state right after the start, with the first key and the demo's channels and feeds, atomically for every
 * client. Uploads in progress are received in full and discarded; imports are aborted.
 */
export async function reset(parts: ResetParts): Promise<void> {
  const { records, settings, acceptance, requestWindow, clock, journal } = parts;
  const { faults, switchboard, events } = parts;
  const isFree = await acceptance.startNewEra(() => {
    const replaced = replaceEverything(parts, new Map(), () => {
      eraseTables(records.database);
      clock.reset(); // may move it forward: nothing that is gone must become due by that
      openAccount(records, settings, settings.now ?? clock.nowMs());
    });
    requestWindow.limit = settings.requestsPerHour;
    faults.reset();
    switchboard.reset();
    journal.clear();
    return replaced;
  });
  events.emit('reset', '');
  await isFree.space;
}

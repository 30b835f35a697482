import { openAccount } from '../account.ts';
import { inTransaction } from '../store/database.ts';
import { eraseTables } from '../store/tables.ts';
import type { Services } from '../services.ts';

export type ResetParts = Pick<
  Services,
  'records' | 'settings' | 'mediaFiles' | 'lifecycle' | 'requestWindow' | 'clock' | 'journal' | 'faults' | 'events'
>;

/**
 * Back to how it was right after its start, the first key and the demo's channels and feeds included: from one moment to the next,
 * for whoever asks. Uploads that are under way go to the end of their bytes and then into nothing; imports are broken off.
 */
export async function reset(parts: ResetParts): Promise<void> {
  const { records, settings, mediaFiles, lifecycle, requestWindow, clock, journal, faults, events } = parts;
  const isFree = await lifecycle.startNewEra(() => {
    clock.reset();
    inTransaction(records.database, () => {
      eraseTables(records.database);
      openAccount(records, settings, clock.nowMs());
    });
    requestWindow.limit = settings.requestsPerHour;
    faults.reset();
    journal.clear();
    return { space: mediaFiles.replace(new Map()) };
  });
  events.emit('reset', '');
  await isFree.space;
}

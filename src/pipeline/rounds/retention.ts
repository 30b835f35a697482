import { folderAway } from '../pause.ts';
import type { Facts } from '../file/facts.ts';
import { isOfHost } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import type { Clock, FullMark, LocalFiles, RetentionStore, VideoHost } from '../file/ports.ts';
import type { RowStore } from '../file/row-groups.ts';
import type { Row, Rows } from '../file/rows.ts';

/** Usage of a file system in bytes. `size` is the usable part, without the share reserved for root. */
export interface Disk {
  readonly used: number;
  readonly size: number;
}

export interface RetentionWorld {
  readonly store: RowStore<'expired' | 'crowding' | 'to put away'> & RetentionStore;
  readonly rows: Pick<Rows, 'claim'>;
  readonly host: Pick<VideoHost, 'status'>;
  readonly local: Pick<LocalFiles, 'check'>;
  readonly clock: Clock;
  /** Returns the file system of a folder; null if it reports no figures. */
  readonly diskOf: (folder: string) => Promise<Disk | null>;
  /**
   * Returns the bytes that deleting a local file would free: 0 if its content has other hard links, null if the file is
   * missing.
   */
  readonly freedBy: (facts: Facts) => Promise<number | null>;
  /** Folders whose rule deletes files, now or later. */
  readonly deletesIn: () => readonly string[];
}

const lookEveryMs = 60_000;
/** Wait while files are being deleted, because the disk usage figures lag. */
const recheckMs = 1_000;
const atOnce = 16;
const pageSize = 256;
const freesNothing = 'not deleted although the disk is full: it has other hard links, so that would free nothing';
/** Wait after the service could not report on a file, or after a folder was unavailable. */
const restMs = 10 * 60_000;
/** How long a confirmation by the service stays valid. The disk may become unavailable before the deletion. */
const believedMs = 10 * 60_000;

/**
 * Hands over local files that are to be deleted later (`after`, `when_full`) to the put-away when they are due
 * (decision record 0053).
 */
export function createRetention(world: RetentionWorld) {
  const { store, rows, host, local, clock } = world;
  const now = createUnhurriedNow(clock);
  const resting = new Map<string, number>();
  /** Id → why the file is deleted, for its history. */
  const due = new Map<string, string>();
  /** Id → when the service confirmed the video. */
  const confirmed = new Map<string, number>();
  /**
   * Bytes already handed over because of a full disk. Some file systems report them as used for another half minute.
   */
  let handedOver: readonly { readonly folder: string; readonly bytes: number; readonly at: number }[] = [];
  let lookAt = -Infinity;
  let hasLooked = false;

  const isResting = (name: string): boolean => (resting.get(name) ?? -Infinity) > clock.elapsed();
  const rest = (name: string): void => void resting.set(name, clock.elapsed() + restMs);

  /** Selects the oldest files until they add up to this many freed bytes. */
  const handOver = async (mark: FullMark, tooMuch: number, why: string): Promise<void> => {
    const name = `${mark.folder} ${mark.whenFull}`;
    let left = isResting(name) ? 0 : tooMuch;
    for (let seen = 0; left > 0 && due.size < atOnce; seen += pageSize) {
      const files = await store.rows({ group: 'crowding', mark, limit: pageSize, without: seen });
      for (const facts of files) {
        if (left <= 0 || due.size >= atOnce) return;
        if (isResting(facts.id)) continue;
        const bytes = (await world.freedBy(facts)) ?? facts.version.size;
        left -= bytes;
        if (bytes === 0) await keepLinked(facts);
        else {
          due.set(facts.id, why);
          handedOver = [...handedOver, { folder: mark.folder, bytes, at: clock.elapsed() }];
        }
      }
      if (files.length < pageSize && due.size === 0) rest(name);
      if (files.length < pageSize) return;
    }
  };

  const keepLinked = async ({ id, why }: Facts): Promise<void> => {
    if (why === freesNothing) return;
    await rows.claim(id, async (row) => {
      if (row.facts.disposal === 'later') await row.write({ why: freesNothing }, freesNothing);
    });
  };

  const findCrowding = async (folders: readonly string[]): Promise<void> => {
    handedOver = handedOver.filter(({ at }) => clock.elapsed() - at < lookEveryMs);
    for (const mark of await store.fullMarks(folders)) {
      const disk = await world.diskOf(mark.folder);
      if (disk === null || disk.size === 0) continue;
      const going = handedOver
        .filter(({ folder }) => folder === mark.folder)
        .reduce((sum, { bytes }) => sum + bytes, 0);
      const tooMuch = disk.used - going - Math.ceil((disk.size * mark.whenFull) / 100) + 1;
      const why = `the disk is ${Math.floor((100 * disk.used) / disk.size)} % full: its local file is deleted`;
      if (tooMuch > 0) await handOver(mark, tooMuch, why);
      // Other folders may share the file system, so it is measured again before more files are selected.
      if (due.size > 0) return;
    }
  };

  const look = async (): Promise<void> => {
    if (clock.elapsed() < lookAt || due.size > 0) return;
    const folders = world.deletesIn().filter((folder) => !isResting(folder));
    lookAt = clock.elapsed() + lookEveryMs;
    const limit = atOnce + resting.size;
    for (const facts of await store.rows({ group: 'expired', now: now(), folders, limit }))
      if (!isResting(facts.id)) due.set(facts.id, `${daysOf(facts)} after it was done, its local file is deleted`);
    if (due.size === 0 && (await store.rows({ group: 'to put away', limit: 1 })).length === 0)
      await findCrowding(folders);
    else if (due.size === 0) lookAt = clock.elapsed() + recheckMs;
    hasLooked = true;
  };

  /** @returns why no other file can be checked now, or null */
  const one = async (row: Row, why: string, signal: AbortSignal): Promise<Failure | null> => {
    const { id, folder, videoId, disposal } = row.facts;
    if (disposal !== 'later' || videoId === null) return null;
    const away = await local.check(row.facts);
    if (away !== null && away.kind !== 'vanished' && away.kind !== 'changed') {
      rest(away.code === folderAway ? folder : id);
      return null;
    }
    // A missing file is checked too, because a crash may have left it where only the put-away finds it.
    const status = await host.status(videoId, signal, 'poll');
    if (!status.ok && status.failure.kind !== 'gone') {
      if (isOfAll(status.failure)) return status.failure;
      rest(id);
      return null;
    }
    if (status.ok && status.value === 'ready') {
      confirmed.set(id, clock.elapsed());
      // The put-away round detects a file that is no longer the one that was sent.
      await row.write({ disposal: 'pending' }, why);
    } else {
      const kept = status.ok
        ? `kept: the status of its video is ${JSON.stringify(status.value)}`
        : 'kept: its video is no longer on the service';
      await row.write({ disposal: 'kept', why: kept }, kept);
    }
    lookAt = -Infinity;
    return null;
  };

  return {
    /** Finds the files that are due. Needs no service. */
    look,
    /** Asks whether the service still has the videos of due files, because weeks may have passed. */
    confirm: async (signal: AbortSignal): Promise<void> => {
      for (const [id, why] of due) {
        if (signal.aborted) return;
        const failure = await rows.claim(id, (row) => one(row, why, signal));
        if (failure !== null) break;
      }
      due.clear();
      for (const [name, until] of resting) if (until <= clock.elapsed()) resting.delete(name);
      for (const [id, at] of confirmed) if (clock.elapsed() - at >= believedMs) confirmed.delete(id);
    },
    /** Whether every file that has become due since the start has been checked with the service. */
    isUpToDate: (): boolean => hasLooked && due.size === 0,
    /**
     * Whether the service has confirmed the video of a file that is to be deleted later; true for other files, which
     * need no confirmation.
     */
    isHosted: ({ id, afterReady }: Facts): boolean =>
      afterReady.kind !== 'delete' ||
      afterReady.later === undefined ||
      clock.elapsed() - (confirmed.get(id) ?? -Infinity) < believedMs,
  };
}

/** Whether a failure affects every request, not only this one. */
function isOfAll(failure: Failure): boolean {
  return failure.kind !== 'transient' || (failure.status === undefined && isOfHost(failure));
}

function daysOf({ afterReady }: Facts): string {
  const afterMs = (afterReady.kind === 'delete' ? afterReady.later?.afterMs : null) ?? 0;
  const [ms, unit] =
    afterMs % dayMs === 0 ? [dayMs, 'day'] : afterMs % hourMs === 0 ? [hourMs, 'hour'] : [1000, 'second'];
  const count = Math.round(afterMs / ms);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Largest forward jump of the wall clock that is trusted while dropcast is running. */
const toleranceMs = 60_000;

/**
 * Returns the wall clock, limited by the monotonic clock counted from the start, so that a file may be deleted late but
 * never early. Time before the start is known only from the wall clock, so it is trusted.
 */
function createUnhurriedNow(clock: Clock): () => number {
  const start = clock.now() - clock.elapsed();
  return () => Math.min(clock.now(), start + clock.elapsed() + toleranceMs);
}

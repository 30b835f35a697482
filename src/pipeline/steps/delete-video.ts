import { unbound } from '../file/facts.ts';
import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { FirstStartStore, RequestPriority, VideoHost } from '../file/ports.ts';
import type { Row } from '../file/rows.ts';

/**
 * Whether the row leaves it open how the upload to its record ended. The row may come from an older copy of the ledger,
 * so dropcast asks the service before it deletes the record. Even if the upload address has died since, an earlier body
 * may have arrived.
 */
export function isUnsure({ videoId, uploadStartedAt, sha256 }: Facts): boolean {
  return videoId !== null && uploadStartedAt !== null && sha256 === null;
}

export type RecordedStore = Pick<FirstStartStore, 'firstStart'>;

/**
 * Whether a record predates the operator's statement, made after restoring an older ledger, that every file of the
 * folder had been uploaded. If the service no longer has such a record, the file was uploaded under another one.
 */
export async function isRecorded({ folder, createdAt }: Facts, store: RecordedStore): Promise<boolean> {
  const start = await store.firstStart(folder);
  return start?.isAdopted === true && BigInt(createdAt ?? 0) * 1_000_000n <= start.askedNs;
}

/**
 * Deletes the video of a row that is `dying`. No other video may be created until the service confirms that this one is
 * gone; otherwise a late DELETE or PUT could hit the wrong video (design 5.5; without `dying`, an exhaustive model of
 * the protocol loses a file).
 *
 * @param note for the history, once the video is gone
 * @returns why it is not deleted yet, or null
 */
export async function bury(
  row: Row,
  signal: AbortSignal,
  of: {
    readonly host: Pick<VideoHost, 'remove' | 'status'>;
    readonly priority: RequestPriority;
    readonly note: string;
  },
): Promise<Failure | null> {
  const { videoId } = row.facts;
  if (videoId === null) {
    await row.write(unbound);
    return null;
  }
  const failure = await deleteVideo(videoId, signal, of);
  if (failure === null) await row.write(unbound, `video ${videoId} ${of.note}`);
  return failure;
}

/**
 * Deletes a video and asks for it, because only a 404 proves that it is gone.
 *
 * @returns why it is not deleted yet, or null
 */
export async function deleteVideo(
  videoId: string,
  signal: AbortSignal,
  { host, priority }: { readonly host: Pick<VideoHost, 'remove' | 'status'>; readonly priority: RequestPriority },
): Promise<Failure | null> {
  const removed = await host.remove(videoId, signal, priority);
  if (!removed.ok) return removed.failure;
  const status = await host.status(videoId, signal, priority);
  if (status.ok) return stillThere(videoId);
  return status.failure.kind === 'gone' ? null : status.failure;
}

const stillThere = (videoId: string): Failure => ({
  kind: 'transient',
  code: 'still_there',
  message: `the service still lists video ${videoId} after it was deleted`,
});

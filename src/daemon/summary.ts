import { needsYouIn } from './overview/needs-you-count.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import type { LedgerView } from '../ledger/view.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { Gate } from '../host/gate.ts';
import { createsWait } from './files/file-view.ts';
import { awaited } from './words/stop-words.ts';
import { pauseWords } from './words/pause-words.ts';
import { uploadsStart } from './outlook/upload-times.ts';
import type { UploadTimes } from './outlook/upload-times.ts';
import type { EventStream } from './events.ts';
import type { Folders } from '../intake/folders.ts';

/** The daemon in a few numbers, cheap enough to be asked for all the time. */
export interface Summary {
  /** Files by the state of their row; a step that works on a file is not seen in it. */
  readonly states: Readonly<Record<string, number>>;
  readonly uploading: number;
  /** Waiting for a create request or an upload slot. */
  readonly queued: number;
  readonly processing: number;
  readonly awaitingPublish: number;
  readonly retrying: number;
  readonly settling: number;
  readonly needsYou: number;
  readonly done: number;
  /** Folders that are frozen: away, unreadable, or another dropcast's. */
  readonly frozen: number;
  /** Why everything, or all that needs a new record, waits; or null. */
  readonly waiting: string | null;
  /** What it waits for, in short (`for the key`), when nothing at all can be sent. */
  readonly awaited?: string;
  /** Of the last hour. */
  readonly requests: { readonly used: number; readonly limit: number };
}

/**
 * Counting 100,000 rows by state takes 3 ms of the processor, so they are counted only after a row was written. All else is in memory.
 *
 * @returns asks for the numbers; rejects when the ledger cannot be read
 */
export function createSummary(parts: {
  readonly ledger: Pick<LedgerView, 'counts'>;
  readonly events: Pick<EventStream, 'listen'>;
  readonly conductor: Pick<Conductor, 'uploads' | 'pause' | 'pauses' | 'createsWaitUntil'>;
  readonly folders: Pick<Folders, 'countSettling' | 'frozen'>;
  readonly gate: Pick<Gate, 'snapshot'>;
  readonly times: Pick<UploadTimes, 'startAt'>;
  readonly fleet: Pick<FleetView, 'whyAway'> | null;
}): () => Promise<Summary> {
  const { ledger, events, conductor, folders, gate, times, fleet } = parts;
  let written = 0;
  events.listen(({ type }) => {
    if (type === 'file' || type === 'elsewhere') written += 1;
  });
  let counted: { readonly at: number; readonly counts: Readonly<Record<string, number>> } | null = null;
  return async () => {
    const at = written;
    // Noted from before: what is written while they are counted is counted the next time.
    if (counted?.at !== at) counted = { at, counts: await ledger.counts() };
    const { counts } = counted;
    const of = (state: string): number => counts[state] ?? 0;
    const uploading = conductor.uploads().length;
    const { used, limit } = gate.snapshot();
    const pause = conductor.pause();
    const queued = of('queued') + Math.max(0, of('awaiting upload') - uploading);
    return {
      states: counts,
      uploading,
      queued,
      processing: of('processing'),
      awaitingPublish: of('awaiting publish'),
      retrying: of('retrying'),
      settling: folders.countSettling(),
      needsYou: needsYouIn(counts),
      done: of('done'),
      frozen: folders.frozen(),
      waiting: fleet?.whyAway() ?? pause?.why ?? (queued === 0 ? null : whyNoneStarts(conductor, times)),
      ...(pause !== null && { awaited: awaited(pause) }),
      requests: { used, limit },
    };
  };
}

function whyNoneStarts(
  conductor: Pick<Conductor, 'createsWaitUntil' | 'pauses'>,
  times: Pick<UploadTimes, 'startAt'>,
): string | null {
  const paused = conductor.pauses.all();
  if (paused !== null) return pauseWords(paused, Date.now());
  const startAt = times.startAt();
  if (startAt !== null) return uploadsStart(startAt, Date.now());
  const until = conductor.createsWaitUntil();
  return until === null ? null : createsWait(until);
}

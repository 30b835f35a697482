import { needsYouIn } from './overview/needs-you-count.ts';
import type { LedgerView } from '../ledger/view.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { Gate } from '../host/gate.ts';
import type { EventStream } from './events.ts';
import type { Folders } from '../intake/folders.ts';
import type { Wait } from '../view/waits.ts';

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
  /** Everything that holds work up. */
  readonly waits: readonly Wait[];
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
  readonly conductor: Pick<Conductor, 'uploads'>;
  readonly folders: Pick<Folders, 'countSettling'>;
  readonly gate: Pick<Gate, 'snapshot'>;
  readonly waits: () => readonly Wait[];
}): () => Promise<Summary> {
  const { ledger, events, conductor, folders, gate, waits } = parts;
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
      waits: waits(),
      requests: { used, limit },
    };
  };
}

import type { LedgerView } from '../ledger/ledger.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { FileStore, IntakeStore } from '../pipeline/file/ports.ts';
import type { Gate } from '../host/gate.ts';
import type { Folders } from '../intake/folders.ts';

/** The daemon in a few numbers, cheap enough to be asked for all the time. */
export interface Brief {
  readonly uploading: number;
  /** Waiting for a create request or an upload slot. */
  readonly queued: number;
  readonly processing: number;
  readonly awaitingPublish: number;
  readonly retrying: number;
  readonly settling: number;
  /** Failed and held. */
  readonly needsYou: number;
  readonly done: number;
  /** Folders that are away or cannot be read. */
  readonly away: number;
  /** Why everything waits, or null. */
  readonly waiting: string | null;
  /** Of the last hour. */
  readonly requests: { readonly used: number; readonly limit: number };
}

type Writing = Pick<FileStore, 'save'> & Pick<IntakeStore, 'insert'>;

/** Counts what is written: as long as nothing is, the numbers of before are still right. */
export function countWrites(store: Writing): { readonly counted: Writing; written(): number } {
  let written = 0;
  return {
    counted: {
      save: async (facts, note) => {
        const saved = await store.save(facts, note);
        written += 1;
        return saved;
      },
      insert: async (facts) => {
        await store.insert(facts);
        written += 1;
      },
    },
    written: () => written,
  };
}

/**
 * Counting 100,000 rows by state takes 3 ms of the processor, so they are counted only after a row was written. All else is in memory.
 *
 * @returns asks for the numbers; rejects when the ledger cannot be read
 */
export function createBrief(parts: {
  readonly ledger: Pick<LedgerView, 'counts'>;
  readonly written: () => number;
  readonly conductor: Pick<Conductor, 'uploads' | 'pause'>;
  readonly folders: Pick<Folders, 'settling' | 'away'>;
  readonly gate: Pick<Gate, 'snapshot'>;
}): () => Promise<Brief> {
  const { ledger, written, conductor, folders, gate } = parts;
  let counted: { readonly at: number; readonly counts: Readonly<Record<string, number>> } | null = null;
  return async () => {
    const at = written();
    // Noted from before: what is written while they are counted is counted the next time.
    if (counted?.at !== at) counted = { at, counts: await ledger.counts() };
    const { counts } = counted;
    const of = (state: string): number => counts[state] ?? 0;
    const uploading = conductor.uploads().length;
    const { used, limit } = gate.snapshot();
    return {
      uploading,
      queued: of('queued') + Math.max(0, of('awaiting upload') - uploading),
      processing: of('processing'),
      awaitingPublish: of('awaiting publish'),
      retrying: of('retrying'),
      settling: folders.settling().length,
      needsYou: of('failed') + of('held'),
      done: of('done'),
      away: folders.away(),
      waiting: conductor.pause()?.why ?? null,
      requests: { used, limit },
    };
  };
}

import type { CausesFound, LedgerSnapshot } from '../../ledger/snapshot.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LineRows } from '../../ledger/queues.ts';
import type { Pause } from '../../pipeline/events.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { viewsOf, type OfFleet } from '../files/file-view.ts';
import { suspectsOf, type SuspectLedger } from '../files/suspects.ts';
import type { Waiting } from '../outlook.ts';
import { countSteps, type StepCounts } from '../stages.ts';
import type { ViewedDaemon } from '../viewed-daemon.ts';
import { causeOf } from './causes.ts';
import type { NeedsYou, Picture } from './picture.ts';

/** Maximum number of rows listed in a picture; `ls` lists all. */
export const mostListed = 20;

export type PictureLedger = LineRows &
  SuspectLedger &
  OfFleet &
  Pick<Ledger, 'snapshot' | 'totals' | 'pauses' | 'selection' | 'counts' | 'latestLines' | 'latestPublished' | 'news'>;

/** The ledger's contents at one moment. */
export interface RowsRead {
  readonly snapshot: LedgerSnapshot;
  readonly waiting: Waiting;
  readonly asShown: StepCounts;
  /** The picture's parts that come from the ledger alone. */
  readonly shown: Pick<
    Picture,
    'counts' | 'retrying' | 'needs_you' | 'needing' | 'working' | 'suspects' | 'adoption' | 'deletions'
  >;
}

export async function readRows(ledger: PictureLedger, daemon: ViewedDaemon | null, listed: number): Promise<RowsRead> {
  const pause = daemon?.conductor.pause() ?? null;
  const snapshot = await ledger.snapshot({
    held: () => daemon?.rows.held() ?? [],
    // Reading a thousand rows takes 20 ms, which is worthwhile only to find refused files.
    working: isLongRefusal(pause) ? 1_000 : mostListed,
    needing: listed,
  });
  const { working, needing, held, counts, nextTryAt } = snapshot;
  const asShown = countSteps(working.filter(({ id }) => held.includes(id)));
  const deletions = await ledger.totals('deletions');
  const isPaused = daemon !== null && daemon.conductor.pauses.list().length > 0;
  return {
    snapshot,
    waiting: { backlog: await ledger.totals('backlog'), lines: isPaused ? await ledger.lines([]) : [] },
    asShown,
    shown: {
      counts: asShown(counts),
      retrying: { files: counts['retrying'] ?? 0, next_at: nextTryAt },
      needs_you: needsYouOf(snapshot),
      needing: await viewsOf(ledger, daemon, [...needing, ...refusedFor(working, pause)].slice(0, listed), held),
      working: await viewsOf(ledger, daemon, firstOf(working, held), held),
      suspects: (await suspectsOf(ledger, daemon)).suspects.length,
      adoption: { ...(await ledger.totals('adoption')), comparing: null },
      deletions: { files: deletions.files, next_at: deletions.nextAt },
    },
  };
}

/** Sorts by arrival, with files that have a running step first. */
function firstOf(working: readonly Facts[], held: readonly string[]): readonly Facts[] {
  const others = working.filter(({ id }) => !held.includes(id)).slice(0, Math.max(0, mostListed - held.length));
  const shown = new Set([...held, ...others.map(({ id }) => id)]);
  return working.filter(({ id }) => shown.has(id));
}

/**
 * How long an upload host may refuse uploads before its files need a person, in milliseconds: it may never accept them.
 * dropcast keeps trying.
 */
const longRefusalMs = 3_600_000;

function isLongRefusal(pause: Pick<Pause, 'holds' | 'since'> | null): boolean {
  return pause?.holds === 'uploads' && Date.now() - pause.since >= longRefusalMs;
}

/** Returns files that their upload host has refused for a long time. */
export function refusedFor(working: readonly Facts[], pause: Pick<Pause, 'holds' | 'since'> | null): readonly Facts[] {
  if (!isLongRefusal(pause)) return [];
  return working.filter(
    ({ notBefore, uploadUrl, uploadedAt, lastFailure }) =>
      notBefore !== null && uploadUrl !== null && uploadedAt === null && lastFailure?.kind === 'offline',
  );
}

/** Converts the causes found in the ledger. Pure. */
export function needsYouOf({ causes, more }: CausesFound): NeedsYou {
  return {
    files: causes.reduce((sum, { files }) => sum + files, more.files),
    causes: causes.map(({ cause, files, extensions, first, examples }) => ({
      ...causeOf({ cause, files, extensions, message: first.lastFailure?.message ?? first.why ?? cause }),
      files,
      since: first.endedAt,
      examples: examples.map(({ id, folder, path, why, lastFailure }) => ({
        id,
        path: `${folder}/${path}`,
        why: why ?? lastFailure?.message ?? null,
      })),
    })),
    more,
  };
}

/**
 * Returns how many of the counted files need a person. Pure.
 *
 * @param counts as in `LedgerSnapshot.counts`
 */
export function needsYouIn(counts: Readonly<Record<string, number>>): number {
  return parts.reduce((sum, part) => sum + (counts[part] ?? 0), 0);
}

/** The ledger's counts that add up to all files matching `needsPerson`. */
const parts = ['failed', 'held', 'not put away', 'without channel', 'without feed'] as const;

import type { FileSelection } from '../../pipeline/file/selection.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Daemon } from '../daemon.ts';
import { shownNow } from '../files/files-view.ts';
import { rearm, whyLeft } from '../retry.ts';

/** What a command on many files does, or would do. */
export interface ManyResult {
  /** That it takes. */
  readonly files: number;
  /** To the service, as far as they are known before. */
  readonly requests: number;
  /** Files of the selection that it leaves, by reason. */
  readonly left: readonly { readonly why: string; readonly files: number }[];
}

/** Rows in memory at once. */
const slice = 500;

/**
 * Retries all files of a selection whose cause may be cured.
 *
 * @param options.isPlanned only counts them
 */
export async function retryMany(
  daemon: Daemon,
  selection: FileSelection,
  { isPlanned = false }: { readonly isPlanned?: boolean } = {},
): Promise<ManyResult> {
  const left = new Map<string, number>();
  let [files, requests] = [0, 0];
  for await (const facts of eachOf(daemon, selection)) {
    const why = whyLeft(facts, false) ?? (isPlanned ? null : await rearm(daemon, facts));
    if (why !== null) left.set(why, (left.get(why) ?? 0) + 1);
    else {
      files += 1;
      requests += requestsOf(facts);
    }
  }
  if (!isPlanned && files > 0) daemon.conductor.probeNow();
  return { files, requests, left: [...left].map(([why, files]) => ({ why, files })) };
}

async function* eachOf(daemon: Daemon, selection: FileSelection): AsyncGenerator<Facts> {
  let after: string | undefined;
  for (;;) {
    const page = await daemon.ledger.selection.page(shownNow(daemon, selection), { limit: slice, after });
    yield* page.files;
    if (!page.isMoreAfter || page.last === null) return;
    after = page.last;
  }
}

/** A failed video is deleted before it gets another record; feeds are published for several at once. */
function requestsOf({ videoId, remoteStatus }: Facts): number {
  if (remoteStatus === 'failed') return 2;
  return videoId === null ? 1 : 0;
}

import type { FileProgress, ProgressView, Requests } from '../../../src/cli/output/progress-view.ts';
import type { RunTotals } from '../../../src/cli/run/run-tally.ts';

/** A file under way, half sent. */
export function file(changes: Partial<FileProgress> = {}): FileProgress {
  return { id: 'f1', name: 'clip.mp4', stage: 'uploading', sentBytes: 6e6, sizeBytes: 12.3e6, why: null, ...changes };
}

type WholeView = ProgressView & { readonly totals: RunTotals; readonly requests: Requests };

export function view(files: readonly FileProgress[], changes: Partial<WholeView> = {}): WholeView {
  return {
    files,
    more: 0,
    totals: { done: 3, failed: 0, held: 0, total: 12, sentBytes: 45e6, totalBytes: 120e6 },
    requests: { used: 12, limit: 1_000, waitingUntil: null },
    ...changes,
  };
}

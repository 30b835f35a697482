import type { FileView } from './file-view.ts';

/** One step in a file's life cycle. Times are epoch milliseconds. */
export interface Span {
  readonly step:
    | 'waiting for a record'
    | 'waiting for its upload'
    | 'uploading'
    | 'importing'
    | 'processing'
    | 'publishing';
  readonly started_at: number;
  /** Null while the step is running. */
  readonly ended_at: number | null;
  /** Until now if still running. Never negative, even if the clock was set back. */
  readonly duration_ms: number;
}

/** Returns how long each step of a file has taken so far. Pure. */
export function spansOf(
  file: Pick<FileView, 'times' | 'state' | 'publish' | 'source_url'>,
  now: number,
): readonly Span[] {
  const { discovered, created, upload_started: started, uploaded, ready, ended } = file.times;
  const isImport = file.source_url !== null;
  const marks: readonly (readonly [Span['step'], number | null, number | null])[] = [
    ['waiting for a record', discovered, created],
    ...(isImport
      ? [['importing', created, uploaded] as const]
      : [['waiting for its upload', created, started ?? uploaded] as const, ['uploading', started, uploaded] as const]),
    ['processing', uploaded, ready],
    ...(file.publish.length === 0 ? [] : [['publishing', ready, ended] as const]),
  ];
  return marks.flatMap(([step, from, to]) => {
    if (from === null) return [];
    // A file that ended early ended in the step it was in.
    const until = to ?? ended;
    return [{ step, started_at: from, ended_at: until, duration_ms: Math.max(0, (until ?? now) - from) }];
  });
}

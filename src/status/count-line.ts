import type { StatusView } from '../daemon/view.ts';

/** How many files are in which state, as one line: `2 settling · 5 queued · 120 done`. */
export function countLine({ counts, settling }: Pick<StatusView, 'counts' | 'settling'>): string {
  const parts = [
    ...(settling > 0 ? [`${settling} settling`] : []),
    ...Object.entries(counts).map(([state, count]) => `${count} ${state}`),
  ];
  return parts.length === 0 ? 'No files yet' : parts.join(' · ');
}

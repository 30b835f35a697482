import type { Comparison } from '../../pipeline/rounds/adopt.ts';

/** Example: `comparing with 12,000 videos: 37 %`. */
export function comparisonWords({ videos, share }: Comparison): string {
  const all = videos === null ? 'the videos of the service' : `${videos.toLocaleString('en')} videos`;
  return `comparing with ${all}${share === null ? '' : `: ${Math.floor(100 * share)} %`}`;
}

/**
 * Pure: how many of an hour's requests are kept for finishing what was begun, and as many again for asking how far it is: a hundredth,
 * at least two, and of a tiny limit a tenth.
 *
 * @param limit requests per hour
 */
export function keptRequests(limit: number): number {
  return Math.min(Math.max(1, Math.round(limit / 10)), Math.max(2, Math.round(limit / 100)));
}

/** What needs requests of this hour beside asking how far the videos are. */
export interface Wanted {
  /** Records that can be created within the hour. */
  readonly creates: number;
  /** Feeds that wait to be published. */
  readonly publishes: number;
}

/**
 * Pure: requests of this hour that nothing else needs.
 *
 * @param left requests that may leave before any fall out of the hour
 */
export function freeRequests(left: number, limit: number, { creates, publishes }: Wanted): number {
  const kept = keptRequests(limit);
  const toFinish = Math.max(publishes, kept);
  return left - toFinish - Math.min(creates, Math.max(0, left - kept - toFinish));
}

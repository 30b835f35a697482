import { videoOfSuspect } from '../file/facts.ts';
import type { Clock, Elsewhere, LeftoverStore, UnansweredCreate } from '../file/ports.ts';
import type { Rows } from '../file/rows.ts';
import type { Logger } from '../../log/logger.ts';

/** Maximum number of unanswered create requests in one hour. Once it is reached, no more are sent. */
const mostPerHour = 20;

const hourMs = 3_600_000;

/** How long this host may take to learn that another host has started a request. */
const toldAfterMs = 10_000;

export type UnconfirmedCreates = ReturnType<typeof createUnconfirmedCreates>;

/**
 * Counts create requests without a usable answer, each of which may have left an empty record on the service (design
 * 5.2). The count comes from the ledger, so a restart does not reset it.
 */
export function createUnconfirmedCreates(world: {
  readonly store: Pick<LeftoverStore, 'unanswered'>;
  readonly rows: Pick<Rows, 'isHeld'>;
  readonly elsewhere: Pick<Elsewhere, 'isHeld'> | null;
  readonly clock: Clock;
  readonly logger: Logger;
}) {
  const { store, rows, elsewhere, clock, logger } = world;
  let until: number | null = null;
  const isUnderWay = ({ fileId, at }: UnansweredCreate): boolean =>
    rows.isHeld(fileId) ||
    (elsewhere !== null && (elsewhere.isHeld(fileId) || (at > clock.now() - toldAfterMs && at <= clock.now())));
  return {
    /** Whether one more create request may be risked. @throws any error from the ledger */
    mayRisk: async (): Promise<boolean> => {
      const before = until;
      // A request from a running step may still be answered.
      const unanswered = (await store.unanswered()).filter(
        (each) => videoOfSuspect(each.token) === null && !isUnderWay(each),
      );
      until = waitUntil(
        unanswered.map(({ at }) => at),
        clock.now(),
      );
      if (until !== null && before === null)
        logger.warn('Create requests wait: too many in the last hour got no usable answer', {
          most: mostPerHour,
          until: new Date(until).toISOString(),
        });
      if (until === null && before !== null) logger.info('Create requests resumed');
      return until === null;
    },
    /** When create requests may resume (epoch milliseconds), as of the last check; null if they are not waiting. */
    waitUntil: (): number | null => until,
  };
}

/**
 * Returns when few enough requests of the last hour will be unanswered to risk another one; null if that is the case
 * now. A time in the future dates from before the clock was set back and no longer counts. Pure.
 *
 * @param times of unanswered requests, in order; epoch milliseconds
 */
function waitUntil(times: readonly number[], now: number): number | null {
  const recent = times.filter((at) => at > now - hourMs && at <= now);
  const oldest = recent.at(-mostPerHour);
  return oldest === undefined ? null : oldest + hourMs;
}

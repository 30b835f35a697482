import type { Clock } from '../file/ports.ts';
import type { Logger } from '../../log/logger.ts';

/** Create requests without a usable answer: each may have left a record without bytes on the service (design 5.2). */
export interface UnconfirmedCreates {
  /** Whether one more create request may be risked. */
  mayRisk(): boolean;
  /** One more had no usable answer. */
  record(): void;
}

/** Of one hour; then no further create request is made. */
const mostPerHour = 20;

const hourMs = 3_600_000;

export function createUnconfirmedCreates(clock: Clock, logger: Logger): UnconfirmedCreates {
  const times: number[] = [];
  const mayRisk = (): boolean => {
    while (times.length > 0 && (times[0] ?? 0) < clock.elapsed() - hourMs) times.shift();
    return times.length < mostPerHour;
  };
  return {
    mayRisk,
    record: () => {
      times.push(clock.elapsed());
      if (!mayRisk()) logger.warn('Create requests wait: too many had no usable answer', { inLastHour: times.length });
    },
  };
}

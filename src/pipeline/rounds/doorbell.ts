import type { Clock } from '../file/ports.ts';

/** Whether somebody rang to say that videos have changed, so that the sweep need not wait its time. */
export interface Doorbell {
  ring(): void;
  /** Whether a sweep may begin because of it, if there is a file that it can be about. */
  isRinging(): boolean;
  /** Whether it can be about a file. @param youngestMs how long the youngest has been in processing */
  isAbout(youngestMs: number): boolean;
  /** A sweep begins: it answers all rings so far. */
  answer(): void;
  /** Until when no ring counts, by the monotonic clock. */
  restsUntil(): number;
  /** No further sweep because of it for this long. */
  rest(ms: number): void;
}

/** A ring may come before the answer to the upload it is about, so it holds good for files that get that far soon after. */
const echoMs = 10_000;

export function createDoorbell(clock: Clock): Doorbell {
  let isUnanswered = false;
  let rungAt = -Infinity;
  let answeredAt = -Infinity;
  let quietUntil = 0;
  return {
    ring: () => {
      isUnanswered = true;
      rungAt = clock.elapsed();
    },
    isRinging: () => clock.elapsed() >= quietUntil && (isUnanswered || clock.elapsed() < rungAt + echoMs),
    isAbout: (youngestMs) => isUnanswered || clock.elapsed() - youngestMs >= answeredAt,
    answer: () => {
      isUnanswered = false;
      answeredAt = clock.elapsed();
    },
    restsUntil: () => quietUntil,
    rest: (ms) => {
      quietUntil = clock.elapsed() + ms;
    },
  };
}

import { AbortedError } from '@dropcast/client';
import type { RequestAtGate, RequestGate } from '@dropcast/client';
import { accountTroubleOf } from '../pipeline/file/account-trouble.ts';
import type { Budget, RequestPriority } from '../pipeline/file/ports.ts';
import type { Gate } from './gate.ts';
import { roomOf } from './budget-window.ts';

/**
 * Counts create requests that the pipeline has counted but not sent. What the service reports as remaining does not
 * include them.
 *
 * @param elapsed the monotonic clock, in milliseconds
 */
export function createUnsentCreates(elapsed: () => number) {
  let countedAt: readonly number[] = [];
  /** Omits those that were never sent, because their file had disappeared, for example. */
  const recent = (): readonly number[] => countedAt.filter((at) => elapsed() - at < forgottenMs);
  return {
    counted: (): void => void (countedAt = [...recent(), elapsed()]),
    sent: (): void => void (countedAt = recent().slice(1)),
    size: (): number => recent().length,
  };
}

export type UnsentCreates = ReturnType<typeof createUnsentCreates>;

const forgottenMs = 60_000;

/** Adapts the gate for the pipeline, which counts a create request before it writes its intent. */
export function budgetOf(gate: Gate, unsent: UnsentCreates): Budget {
  return {
    take: async (priority, signal) => {
      try {
        await gate.take(priority, signal);
        if (priority === 'create') unsent.counted();
        return true;
      } catch (error) {
        if (error instanceof AbortedError) return false;
        throw error;
      }
    },
    room: () => roomOf(gate.snapshot()),
  };
}

/**
 * Adapts the gate for the client. A create request passes immediately, because the pipeline has already counted it.
 *
 * @param onIgnored called once for each kind of impossible value in a header that reports limits
 */
export function clientGateOf(gate: Gate, unsent: UnsentCreates, onIgnored: (header: string) => void): RequestGate {
  const ignored = new Set<string>();
  return {
    pass: async (request) => {
      const priority = priorityOf(request);
      if (priority === 'create') unsent.sent();
      else await gate.take(priority, request.signal);
    },
    // A used-up quota of videos holds back only new files, and the pipeline does that.
    throttled: (retryAfterMs, code) => {
      if (accountTroubleOf({ code }) === null) gate.throttled(retryAfterMs);
    },
    reported: (report) => {
      gate.reported({ ...report, unanswered: report.unanswered + unsent.size() });
      for (const each of report.ignored) {
        if (!ignored.has(each)) onIgnored(each);
        ignored.add(each);
      }
    },
  };
}

/** Returns a request's priority; the least urgent if it has none. */
function priorityOf({ priority }: RequestAtGate): RequestPriority {
  return priority === 'finish' || priority === 'create' ? priority : 'poll';
}

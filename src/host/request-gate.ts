import { AbortedError } from '@dropcast/client';
import type { RequestAtGate, RequestGate } from '@dropcast/client';
import { accountTroubleOf } from '../pipeline/file/account-trouble.ts';
import type { Budget, RequestPriority } from '../pipeline/file/ports.ts';
import type { Gate } from './gate.ts';
import { roomOf } from './budget-window.ts';

/** Adapts the gate for the pipeline, which counts a create request before it writes its intent. */
export function budgetOf(gate: Gate): Budget {
  return {
    take: async (priority, signal) => {
      try {
        await gate.take(priority, signal);
        return true;
      } catch (error) {
        if (error instanceof AbortedError) return false;
        throw error;
      }
    },
    room: () => roomOf(gate.snapshot()),
  };
}

/** Adapts the gate for the client. A create request passes immediately, because the pipeline has already counted it. */
export function clientGateOf(gate: Gate): RequestGate {
  return {
    pass: async (request) => {
      const priority = priorityOf(request);
      if (priority !== 'create') await gate.take(priority, request.signal);
    },
    // A spent quota of videos holds back new videos only, which the pipeline sees to.
    throttled: (retryAfterMs, code) => {
      if (accountTroubleOf({ code }) === null) gate.throttled(retryAfterMs);
    },
  };
}

/** Returns a request's priority; the least urgent if it has none. */
function priorityOf({ priority }: RequestAtGate): RequestPriority {
  return priority === 'finish' || priority === 'create' ? priority : 'poll';
}

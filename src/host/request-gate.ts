import { AbortedError } from '@dropcast/client';
import type { RequestAtGate, RequestGate } from '@dropcast/client';
import type { Budget, RequestPriority } from '../pipeline/file/ports.ts';
import type { Gate } from './gate.ts';
import { roomOf } from './budget-window.ts';

/** The gate as the pipeline uses it: a create request is counted before its intent is written. */
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

/** The gate as the client uses it. A create request passes at once, because the pipeline has already counted it. */
export function clientGateOf(gate: Gate): RequestGate {
  return {
    pass: async (request) => {
      const priority = priorityOf(request);
      if (priority !== 'create') await gate.take(priority, request.signal);
    },
    throttled: (retryAfterMs) => gate.throttled(retryAfterMs),
  };
}

/** A request without a priority is the least urgent. */
function priorityOf({ priority }: RequestAtGate): RequestPriority {
  return priority === 'finish' || priority === 'create' ? priority : 'poll';
}

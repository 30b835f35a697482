import type { DropcastEvent, EventRow, KeptEvents } from '../pipeline/events.ts';
import type { Logger } from '../log/logger.ts';

/** The single event stream that all reporting listens to. */
export interface EventStream extends KeptEvents {
  /** @returns a function that removes the listener */
  listen(listener: (event: DropcastEvent) => void): () => void;
}

/**
 * @param logger logs listeners that throw: a bug, but no reason to stop work or the other listeners
 * @param rowOf see `KeptEvents`
 */
export function createEventStream(
  logger: Logger,
  rowOf: (event: DropcastEvent) => EventRow | null = () => null,
): EventStream {
  const listeners = new Set<(event: DropcastEvent) => void>();
  return {
    rowOf,
    emit: (event) => {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          logger.error('An event listener failed', { event: event.type, err: error });
        }
      }
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

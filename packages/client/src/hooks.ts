import { scrubAddresses } from './transport/scrub.ts';
import type { ResponseNote, VideoClientOptions } from './client-options.ts';
import type { RequestNote } from './request-gate.ts';
import type { SeenExchange } from './transport/exchange.ts';
import type { WaitNote } from './waiting.ts';

type Listeners = Pick<VideoClientOptions, 'onRequest' | 'onResponse' | 'onExchange' | 'onWait' | 'logger'>;

/** Calls the caller's listeners. Their errors must not fail the call. */
export class Hooks {
  readonly #listeners: Listeners;

  constructor({ onRequest, onResponse, onExchange, onWait, logger }: Listeners) {
    this.#listeners = { onRequest, onResponse, onExchange, onWait, logger };
  }

  request(note: RequestNote): void {
    tell('onRequest', () => this.#listeners.onRequest?.(note));
  }

  response(note: ResponseNote): void {
    tell('onResponse', () => this.#listeners.onResponse?.(note));
    tell('logger', () => this.#listeners.logger?.debug({ msg: 'request finished', ...note }));
  }

  exchange(exchange: SeenExchange): void {
    tell('onExchange', () => this.#listeners.onExchange?.(exchange));
  }

  /** @param onWait the call's own listener, notified in addition to the client's */
  wait(note: WaitNote, onWait: Listeners['onWait']): void {
    tell('onWait', () => this.#listeners.onWait?.(note));
    tell('onWait', () => onWait?.(note));
    const level = note.reason === 'not ready' ? 'debug' : 'warn';
    tell('logger', () => this.#listeners.logger?.[level]({ msg: 'waiting', ...note }));
  }
}

/**
 * Calls a listener and turns its errors into warnings. It may be async despite its type, and an unhandled rejection
 * would end the process.
 */
export function tell(name: string, call: () => unknown): void {
  try {
    Promise.resolve(call()).catch((error: unknown) => warn(name, error));
  } catch (error) {
    warn(name, error);
  }
}

function warn(name: string, error: unknown): void {
  const why = error instanceof Error ? scrubAddresses(error.message) : 'not an error object';
  process.emitWarning(`${name} threw: ${why}`, 'DropcastWarning');
}

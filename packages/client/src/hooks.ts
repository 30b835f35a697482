import { scrubAddresses } from './transport/scrub.ts';
import type { ResponseNote, VideoClientOptions } from './client-options.ts';
import type { RequestNote } from './request-gate.ts';
import type { WaitNote } from './waiting.ts';

type Listeners = Pick<VideoClientOptions, 'onRequest' | 'onResponse' | 'onWait'>;

/** The caller's listeners. Their errors must not become errors of the call. */
export class Hooks {
  readonly #listeners: Listeners;

  constructor({ onRequest, onResponse, onWait }: Listeners) {
    this.#listeners = { ...(onRequest && { onRequest }), ...(onResponse && { onResponse }), ...(onWait && { onWait }) };
  }

  request(note: RequestNote): void {
    tell('onRequest', () => this.#listeners.onRequest?.(note));
  }

  response(note: ResponseNote): void {
    tell('onResponse', () => this.#listeners.onResponse?.(note));
  }

  /** @param onWait the listener of the call, which is called in addition to that of the client */
  wait(note: WaitNote, onWait: Listeners['onWait']): void {
    tell('onWait', () => this.#listeners.onWait?.(note));
    tell('onWait', () => onWait?.(note));
  }
}

/** A listener may be an async function, whatever its type says: its rejection would end the process. */
function tell(name: string, call: () => unknown): void {
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

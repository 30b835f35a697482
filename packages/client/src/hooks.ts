import { scrubAddresses } from './transport/scrub.ts';
import type { RequestNote, ResponseNote, VideoClientOptions } from './client-options.ts';

/** The caller's listeners. An error of theirs must not become one of the call. */
export class Hooks {
  readonly #listeners: Pick<VideoClientOptions, 'onRequest' | 'onResponse'>;

  constructor({ onRequest, onResponse }: Pick<VideoClientOptions, 'onRequest' | 'onResponse'>) {
    this.#listeners = { ...(onRequest && { onRequest }), ...(onResponse && { onResponse }) };
  }

  request(note: RequestNote): void {
    tell('onRequest', () => this.#listeners.onRequest?.(note));
  }

  response(note: ResponseNote): void {
    tell('onResponse', () => this.#listeners.onResponse?.(note));
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

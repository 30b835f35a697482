import type { Handler } from '../http/handler.ts';

/** One thing that the admin side can be asked. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** For the index: what it does, in a sentence. */
  readonly says: string;
  readonly handler: Handler;
}

import type { Context } from 'hono';

/** Answers one operation of the API. */
export type Handler = (context: Context) => Response | Promise<Response>;

/** One thing that the admin side can be asked. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** For the index: what it does, in a sentence. */
  readonly says: string;
  readonly handler: Handler;
}

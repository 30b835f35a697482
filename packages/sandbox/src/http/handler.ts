import type { Context } from 'hono';

/** Answers one operation of the API. */
export type Handler = (context: Context) => Response | Promise<Response>;

/** An endpoint of the admin side. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Its purpose in one sentence, shown in the index. */
  readonly says: string;
  readonly handler: Handler;
}

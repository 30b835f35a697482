import type { Context } from 'hono';

/** Answers one operation of the API. */
export type Handler = (context: Context) => Response | Promise<Response>;

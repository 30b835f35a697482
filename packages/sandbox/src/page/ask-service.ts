import { Hono, type Context } from 'hono';

import { createAdminRoutes } from '../admin/routes.ts';
import { ApiError, errorResponse, type ErrorCode } from '../http/api-error.ts';
import { createApi } from '../http/api.ts';
import type { Services } from '../services.ts';

/** A request to the API or the admin side. */
export interface Question {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** The body exactly as sent, instead of `body`. */
  readonly content?: string;
}

/** Sends a request to the service. @returns the answer's `data`. @throws ApiError if the service refuses */
export type AskService = (question: Question) => Promise<unknown>;

/**
 * Lets the page make changes through the operations of the API and the admin side, like any other client, but without
 * key or rate limit. The requests stay within the process, so no fault affects them and the journal does not record
 * them.
 */
export function askService(services: Services): AskService {
  const service = new Hono().route('/', createApi(services)).route('/', createAdminRoutes(services));
  service.onError((error) => errorResponse(error, services.onDefect));
  const headers = { Authorization: `Bearer ${services.adminToken}`, 'Content-Type': 'application/json' };
  return async ({ method, path, body, content = body === undefined ? undefined : JSON.stringify(body) }) => {
    const response = await service.request(path, { method, headers, ...(content !== undefined && { body: content }) });
    const text = await response.text();
    const answer = (text === '' ? {} : JSON.parse(text)) as Answer;
    if (answer.error) throw new ApiError(answer.error.code, answer.error.message);
    return answer.data;
  };
}

interface Answer {
  readonly data?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

/** The requests behind a form, and the address that the browser goes to afterwards. */
export interface Action {
  readonly path: string;
  readonly asks: (sent: Sent) => Question | readonly Question[];
  readonly leadsTo: string | ((answer: unknown, sent: Sent) => string);
}

export interface Sent {
  readonly form: URLSearchParams;
  /** Returns a path parameter, encoded for use as a path part. */
  readonly part: (name: string) => string;
}

/**
 * Sends the action's requests. @returns the address that shows the result. @throws ApiError if the service refuses, and
 * 400 without a form
 */
export async function act(context: Context, { asks, leadsTo }: Action, ask: AskService): Promise<string> {
  const sent: Sent = {
    form: new URLSearchParams([
      ...new URL(context.req.url).searchParams,
      ...new URLSearchParams(await context.req.text()),
    ]),
    part: (name) => encodeURIComponent(context.req.param(name) ?? ''),
  };
  let answer: unknown;
  for (const question of [asks(sent)].flat()) answer = await ask(question);
  return typeof leadsTo === 'string' ? leadsTo : leadsTo(answer, sent);
}

import { Hono } from 'hono';
import { createAdminRoutes } from '../admin/routes.ts';
import { ApiError, errorResponse, type ErrorCode } from '../http/api-error.ts';
import { createApi } from '../http/api.ts';
import type { Services } from '../services.ts';

/** A request to the API or the admin side. */
export interface Question {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

/** The `data` of the answer. @throws ApiError its refusal */
export type AskService = (question: Question) => Promise<unknown>;

/**
 * Lets the page change things exactly as everybody else does: by the operations of the API, here without key and limit, and of the
 * admin side. Within the process, so that no fault hits it and the journal does not note it.
 */
export function askService(services: Services): AskService {
  const service = new Hono().route('/', createApi(services)).route('/', createAdminRoutes(services));
  service.onError((error) => errorResponse(error, services.onDefect));
  const headers = { Authorization: `Bearer ${services.adminToken}`, 'Content-Type': 'application/json' };
  return async ({ method, path, body }) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await service.request(path, { method, headers, ...content });
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

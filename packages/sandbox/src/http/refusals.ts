import { ApiError, isDefect, toApiError } from './api-error.ts';
import { methodsAt } from './operations.ts';

/** @returns the refusal as an answer; errors that are no refusals are reported and become `server_error`. */
export function errorResponse(error: unknown, onDefect: (error: unknown) => void): Response {
  const refusal = toApiError(error);
  if (isDefect(error)) onDefect(error);
  const headers = { 'Content-Type': 'application/json', ...refusal.headers };
  return new Response(refusal.body, { status: refusal.status, headers });
}

/** The answer of a port that serves no API. */
export function nothingHere(): Response {
  return errorResponse(new ApiError('not_found', 'There is nothing at this path.'), () => undefined);
}

/** The answer at a path that no route took. @throws ApiError 404 or 405 */
export function answerElsewhere(method: string, path: string): Response {
  const methods = methodsAt(path);
  if (methods.length === 0) throw new ApiError('not_found', 'There is nothing at this path.');
  const allow = { Allow: methods.join(', ') };
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: allow });
  throw new ApiError('method_not_allowed', `This path allows ${allow.Allow}.`, allow);
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HostOptions } from './video-host.ts';

/** Answers in the form of the specification. */
export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): true {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  return true;
}

export function refusal(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): true {
  return answer(response, status, { error: { code, message: `${code}, says the test` } }, headers);
}

/** Lets the judge do its work, but cuts the connection instead of answering. */
export function loseAnswer(request: IncomingMessage, response: ServerResponse): false {
  response.end = () => {
    request.socket.destroy();
    return response;
  };
  return false;
}

/** Refuses videos for channels that are not in the list at that moment. */
export function knowsOnly(channels: readonly string[], status: 404 | 422 = 422): NonNullable<HostOptions['meddle']> {
  return (request, response, body) =>
    isCreate(request) &&
    channels.every((channel) => !body.includes(`"${channel}"`)) &&
    refusal(response, status, status === 404 ? 'not_found' : 'invalid_channel');
}

export function isCreate(request: IncomingMessage): boolean {
  return request.method === 'POST' && (request.url ?? '').endsWith('/videos');
}

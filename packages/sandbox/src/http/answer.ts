import type { ServerResponse } from 'node:http';
import type { ApiError } from './api-error.ts';

/** A JSON answer on a plain Node response. */
export function answerJson(response: ServerResponse, status: number, body: string, headers: Headers = {}): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length, ...headers });
  response.end(body);
}

export function answerRefusal(response: ServerResponse, refusal: ApiError, headers: Headers = {}): void {
  answerJson(response, refusal.status, refusal.body, { ...refusal.headers, ...headers });
}

type Headers = Readonly<Record<string, string>>;

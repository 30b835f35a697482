import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { HeldAnswer } from '../faults/held-answer.ts';
import type { Switches } from './switch-table.ts';

/** Adds the headers that the switches select to an answer of the API. */
export function withAddedHeaders(
  answer: HeldAnswer,
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  { request_id: id, conditional_reads: conditional }: Switches,
): HeldAnswer {
  const identified = id === 'none' ? answer : withHeader(answer, 'x-request-id', randomUUID());
  const isRead = request.method === 'GET' && answer.status === 200;
  return conditional === 'none' || !isRead ? identified : conditionally(identified, request.headers['if-none-match']);
}

/** Adds an ETag, or answers 304 if the client already has this body (RFC 9110, 13.1.2 and 15.4.5). */
function conditionally(answer: HeldAnswer, known: string | undefined): HeldAnswer {
  const etag = `"${createHash('sha256').update(answer.body).digest('base64url').slice(0, 27)}"`;
  const tagged = withHeader(answer, 'etag', etag);
  const tags = new Set((known ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, '')));
  if (!tags.has(etag) && !tags.has('*')) return tagged;
  const { 'content-type': _, 'content-length': __, ...headers } = tagged.headers;
  return { status: 304, headers, body: Buffer.alloc(0) };
}

function withHeader(answer: HeldAnswer, name: string, value: string): HeldAnswer {
  return { ...answer, headers: { ...answer.headers, [name]: value } };
}

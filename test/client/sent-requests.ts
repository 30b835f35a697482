import { channel } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { afterEach, beforeAll, expect } from 'vitest';

import { checkRequest } from '../contract/contract.ts';

/**
 * For a test file: every request that the client makes, to a mock or to a real server, must be one that openapi.yaml knows.
 * Uploads to made-up addresses are left out.
 */
export function judgeRequests(): void {
  const problems: string[] = [];
  beforeAll(() => {
    const judge = (message: unknown) => watch((message as { request: ClientRequest }).request, problems);
    channel('http.client.request.created').subscribe(judge);
    return () => channel('http.client.request.created').unsubscribe(judge);
  });
  afterEach(() => {
    expect(problems.splice(0)).toEqual([]);
  });
}

/** The library may write a body in pieces; the last one may come with the end. */
function watch(request: ClientRequest, problems: string[]): void {
  const { method, write, end } = request;
  if (method === 'PUT' || request.path.startsWith('/uploads/')) return;
  const chunks: Buffer[] = [];
  const note = (chunk: unknown) => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  Object.assign(request, {
    write: (...given: Parameters<typeof write>) => (note(given[0]), write.apply(request, given)),
    end: (...given: Parameters<typeof end>) => (note(given[0]), end.apply(request, given)),
  });
  request.once('finish', () => {
    // A proxy is asked for the whole address.
    const { pathname, search } = new URL(request.path, 'http://127.0.0.1');
    // The base address of some tests has no version.
    const url = `${pathname.startsWith('/v1/') ? '' : '/v1'}${pathname}${search}`;
    const requestHeaders = new Headers(request.getHeaders() as Record<string, string>);
    if (requestHeaders.get('user-agent')?.startsWith('dropcast-client/') !== true) return;
    problems.push(...checkRequest({ method, url, requestHeaders, requestBody: Buffer.concat(chunks).toString() }));
  });
}

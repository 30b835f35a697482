import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { basename, dirname } from 'node:path';
import { ApiError, type ErrorCode } from '../http/api-error.ts';

interface FileToSend {
  readonly path: string;
  readonly mediaType: string;
  /** Strong ETag. Default: a weak one made from size and time. */
  readonly etag?: string;
}

/**
 * The part of the file that was sent, as seen by the server: some 100 kB may still be in transit when a client
 * disconnects.
 */
export interface SentBytes {
  /** Position of the first byte. */
  readonly start: number;
  readonly bytesSent: number;
  /** Whether the client requested a range (206) instead of the whole file. */
  readonly isRange: boolean;
}

/**
 * Answers GET or HEAD with a file, using `send`. Supports If-Range, ETag and its conditions, and single ranges; a
 * request for several gets the whole file, as RFC 9110 section 14.2 allows.
 * @returns the bytes sent, once the response has finished; undefined without content (HEAD, 304)
 * @throws ApiError for a missing file (404), a range outside the file (416) and a failed condition (412)
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: FileToSend,
): Promise<SentBytes | undefined> {
  const { default: send } = await import('send');
  const options = { root: dirname(file.path), dotfiles: 'allow', index: false, cacheControl: false } as const;
  const sending = send(request, encodeURIComponent(basename(file.path)), options);
  sending.once('file', (_path, { size }) => widenSuffix(request, size));
  sending.once('headers', () => setHeaders(response, file));
  let bytesSent = 0;
  sending.once('stream', (content) => content.on('data', (chunk: Buffer) => (bytesSent += chunk.length)));
  const refused = new Promise<never>((_resolve, reject) =>
    sending.on('error', (error: SendError) => reject(refusalOf(error))),
  );
  const ended = finished(response).catch(() => undefined); // the client disconnected
  sending.pipe(response);
  await Promise.race([ended, refused]);
  return bytesSent > 0 ? { ...rangeOf(response), bytesSent } : undefined;
}

interface SendError extends Error {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Turns 'the last N bytes' of a shorter file into the whole file (RFC 9110 section 14.1.2); `send` would answer 416.
 */
function widenSuffix({ headers }: IncomingMessage, sizeBytes: number): void {
  const [, suffixBytes] = /^ *bytes=-(\d+)$/.exec(headers.range ?? '') ?? [];
  if (Number(suffixBytes) > sizeBytes) headers.range = 'bytes=0-';
}

function setHeaders(response: ServerResponse, { mediaType, etag }: FileToSend): void {
  response.setHeader('Content-Type', mediaType);
  response.setHeader('Cache-Control', 'no-cache'); // revalidate each time, because a video can be deleted
  if (etag) response.setHeader('ETag', etag);
}

function rangeOf(response: ServerResponse): Pick<SentBytes, 'start' | 'isRange'> {
  const isRange = response.statusCode === 206;
  const [, start = '0'] = /^bytes (\d+)-/.exec(String(response.getHeader('Content-Range'))) ?? [];
  return { start: Number(start), isRange };
}

/** Converts an error from `send` to an ApiError. */
function refusalOf(error: SendError): Error {
  const refusal = REFUSALS[error.status];
  return refusal ? new ApiError(...refusal, error.headers) : error;
}

const REFUSALS: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  404: ['not_found', 'There is no such file.'],
  412: ['precondition_failed', 'The file does not match the condition.'],
  416: ['range_not_satisfiable', 'The range is outside the file.'],
};

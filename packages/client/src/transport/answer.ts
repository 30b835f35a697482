import type { IncomingHttpHeaders } from 'node:http';

import {
  AddressDeadError,
  ForbiddenError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  RedirectError,
  RejectedError,
  ServerError,
  UnauthorizedError,
  UnreadableAnswerError,
  UploadConflictError,
  UploadRejectedError,
  UploadServerError,
} from '../errors.ts';
import type { ErrorFacts, ServiceError } from '../errors.ts';
import { parseRetryAfter } from './retry-after.ts';
import type { Scrub } from './scrub.ts';
import { parseJson, plain, readError } from './answer-body.ts';
import type { Reader } from '../wire/reader.ts';

/** An HTTP response as received, independent of the HTTP library. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The address of the request. */
  readonly url: URL;
  /** The service's id for the request, scrubbed. */
  readonly requestId?: string | undefined;
}

/** Maximum length of an origin: scheme and port around a DNS name of at most 253 characters. */
const longestOrigin = 270;

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Returns the wait that a response asks for, in milliseconds. */
function waitOf(answer: Answer, nowMs: number): number | undefined {
  return parseRetryAfter(answer.headers['retry-after'], answer.headers.date, nowMs);
}

/**
 * Reads a 2xx response.
 * @throws {UnreadableAnswerError} the body does not match the specification
 */
export function readAnswer<T>(answer: Answer, read: Reader<T>, what: string): T {
  const json = parseJson(answer.body);
  const value = json === undefined ? undefined : read(json);
  if (value !== undefined) return value;
  const found = json === undefined ? nonJson(answer) : 'JSON of another shape';
  throw new UnreadableAnswerError(`the service answered ${answer.status} to ${what}, but with ${found}`, {
    status: answer.status,
    code: 'unreadable_answer',
    requestId: answer.requestId,
  });
}

/**
 * Accepts any 2xx response whose body the specification leaves open, except a web page, which comes from a proxy or a
 * login portal.
 */
export function readNothing(answer: Answer, what: string): void {
  if (looksLikePage(answer)) readAnswer(answer, () => undefined, what);
}

/** Reads a 2xx response whose body the specification leaves open; null if `read` does not recognise it. */
export function readSomething<T>(answer: Answer, read: Reader<T>, what: string): T | null {
  readNothing(answer, what);
  return read(parseJson(answer.body)) ?? null;
}

/** Builds the error for a non-2xx response from the service. */
export function serviceError(answer: Answer, scrub: Scrub, nowMs: number): ServiceError {
  const { status } = answer;
  if (isRedirect(answer)) return redirectError('service', answer, scrub);
  if (status < 400) return new UnreadableAnswerError(unasked('the service', answer), factsOf(answer, scrub));
  const [message, facts] = describe('the service', answer, scrub, nowMs);
  if (status === 401) return new UnauthorizedError(message, facts);
  if (status === 402) return new PaymentRequiredError(message, facts);
  if (status === 403) return new ForbiddenError(message, facts);
  if (status === 404 || status === 410) return new NotFoundError(message, facts);
  if (status === 429) return new RateLimitedError(message, facts);
  return status >= 500 ? new ServerError(message, facts) : new RejectedError(message, facts);
}

/** Builds the error for a non-2xx response from the upload address. */
export function uploadError(answer: Answer, scrub: Scrub, nowMs: number): ServiceError {
  const { status } = answer;
  if (isIncomplete(answer))
    return new UploadServerError('the upload address answered 308: it does not have the whole file yet', {
      ...factsOf(answer, scrub),
      code: 'incomplete_upload',
    });
  if (isRedirect(answer)) return redirectError('upload address', answer, scrub);
  if (status < 400) return new UploadServerError(unasked('the upload address', answer), factsOf(answer, scrub));
  const [message, facts] = describe('the upload address', answer, scrub, nowMs);
  if ([401, 403, 404, 410].includes(status)) return new AddressDeadError(message, facts);
  if (status === 409) return new UploadConflictError(message, facts);
  if (status >= 500 || [408, 425, 429].includes(status)) return new UploadServerError(message, facts);
  return new UploadRejectedError(message, facts);
}

function describe(who: string, answer: Answer, scrub: Scrub, nowMs: number): [message: string, facts: ErrorFacts] {
  const packed = packingOf(answer);
  const { code, message } = readError(answer.status, packed === null ? answer.body : '', scrub);
  const retryAfterMs = waitOf(answer, nowMs);
  const facts = { status: answer.status, code, retryAfterMs, requestId: requestIdOf(answer, scrub) };
  return [`${who} answered ${answer.status} ${code}${message === '' ? '' : `: ${message}`}`, facts];
}

/** Whether a response is a redirect. 304 is not: it answers only conditional requests. */
function isRedirect({ status }: Answer): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/**
 * Whether an upload host states that it needs more of the file, as in a resumable session of Google Cloud Storage. A
 * 308 with `Location` is a redirect (RFC 9110 section 15.4.9).
 */
export function isIncomplete({ status, headers }: Answer): boolean {
  return status === 308 && headers.location === undefined;
}

function unasked(who: string, { status }: Answer): string {
  return `${who} answered ${status}, which is not an answer to this request`;
}

function factsOf(answer: Answer, scrub: Scrub): ErrorFacts {
  return { status: answer.status, code: 'unreadable_answer', requestId: requestIdOf(answer, scrub) };
}

/** Builds the error for a redirect. Shows only the target's origin, because the rest may be signed. */
function redirectError(by: 'service' | 'upload address', answer: Answer, scrub: Scrub): RedirectError {
  const { location } = answer.headers;
  const target =
    location !== undefined && URL.canParse(location, answer.url)
      ? new URL(location, answer.url).origin.slice(0, longestOrigin)
      : 'nowhere';
  return new RedirectError(
    by,
    `the ${by} answered ${answer.status}, a redirect to ${target}, which is never followed`,
    {
      status: answer.status,
      code: 'redirect',
      requestId: requestIdOf(answer, scrub),
    },
  );
}

/** Returns the response's request id if it looks like one. */
export function requestIdOf(answer: Answer, scrub: Scrub): string | undefined {
  const id = answer.headers['x-request-id'] ?? answer.headers['request-id'];
  return typeof id === 'string' && /^[\w.:/+=-]{1,100}$/.test(id) ? scrub(id) : undefined;
}

function nonJson(answer: Answer): string {
  if (isEmpty(answer)) return 'an empty body';
  const packed = packingOf(answer);
  if (packed !== null)
    return `a body compressed with ${packed}, although the request rules that out: is there a proxy in between?`;
  return looksLikePage(answer) ? 'a web page, as proxies and login portals send' : 'a body that is not JSON';
}

/** Returns the body's compression, according to the header or the first bytes; null if it is not compressed. */
function packingOf({ headers, body }: Answer): string | null {
  const named = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (named !== '' && named !== 'identity' && parseJson(body) === undefined) return plain(named, 20);
  // The gzip magic number (RFC 1952 section 2.3.1); its second byte is invalid UTF-8 and was decoded to U+FFFD.
  return body.startsWith('\u001F\uFFFD') ? 'gzip' : null;
}

function isEmpty(answer: Answer): boolean {
  return answer.body.trim() === '';
}

/**
 * Whether a response is a web page. Empty bodies do not count, because some frameworks label every response as HTML.
 */
function looksLikePage(answer: Answer): boolean {
  if (isEmpty(answer)) return false;
  return /\bhtml\b/i.test(answer.headers['content-type'] ?? '') || startsLikePage(answer.body);
}

/** Length of the part of a body that is searched for the start of a web page. */
const longestPreamble = 8192;

/** Bytes that are not UTF-8, and the zero bytes of UTF-16. */
const noText = /[\0\uFFFD]+/g;

/**
 * Matches what may precede a page: a byte order mark (which `\s` includes), white space, comments and an XML
 * declaration. An unclosed comment hides the rest.
 */
const preamble = /^(?:\s+|<!--[^]*?(?:-->|$)|<\?[^]*?(?:\?>|$))+/;

/**
 * Matches the tags by which browsers recognise HTML (WHATWG MIME Sniffing, section 7.1), and `meta`, which login
 * portals use to redirect.
 */
const pageStart =
  /^<(?:!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta)(?=[\s/>])/i;

/** Whether a body starts like a web page, regardless of its content type. */
export function startsLikePage(body: string): boolean {
  return pageStart.test(body.slice(0, longestPreamble).replaceAll(noText, '').replace(preamble, ''));
}

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

/** An answer as it came over the wire, independent of the HTTP library. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The address of the request. */
  readonly url: URL;
  /** The service's id of the request, scrubbed. */
  readonly requestId?: string | undefined;
}

/** Scheme and port around a name of 253 characters, which is all that name servers know. */
const longestOrigin = 270;

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** How long an answer asks to wait, in milliseconds. */
function waitOf(answer: Answer, nowMs: number): number | undefined {
  return parseRetryAfter(answer.headers['retry-after'], answer.headers.date, nowMs);
}

/**
 * Reads a 2xx answer.
 * @throws {UnreadableAnswerError} it is not what the specification says
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
 * Accepts any 2xx answer whose body the specification leaves open, except a web page: that comes from a proxy or a
 * login portal.
 */
export function readNothing(answer: Answer, what: string): void {
  if (looksLikePage(answer)) readAnswer(answer, () => undefined, what);
}

/** Reads a 2xx answer whose body the specification leaves open; null if it is something else. */
export function readSomething<T>(answer: Answer, read: Reader<T>, what: string): T | null {
  readNothing(answer, what);
  return read(parseJson(answer.body)) ?? null;
}

/** The error for an answer of the service that is not 2xx. */
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

/** The error for an answer of the upload address that is not 2xx. */
export function uploadError(answer: Answer, scrub: Scrub, nowMs: number): ServiceError {
  const { status } = answer;
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

/**
 * Whether an answer leads elsewhere. 304 is an answer to conditional requests alone, and a status below 200 is none at
 * all.
 */
function isRedirect({ status }: Answer): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

function unasked(who: string, { status }: Answer): string {
  return `${who} answered ${status}, which is not an answer to this request`;
}

function factsOf(answer: Answer, scrub: Scrub): ErrorFacts {
  return { status: answer.status, code: 'unreadable_answer', requestId: requestIdOf(answer, scrub) };
}

/** Shows only the origin of the target: the rest may be signed. */
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

/** The request id that an answer gives, if it looks like one. */
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

/** How the body is compressed, whether the answer says so or its first bytes do; null if it is not. */
function packingOf({ headers, body }: Answer): string | null {
  const named = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (named !== '' && named !== 'identity' && parseJson(body) === undefined) return plain(named, 20);
  // RFC 1952 section 2.3.1; the second byte is no UTF-8, and was replaced.
  return body.startsWith('\u001F\uFFFD') ? 'gzip' : null;
}

function isEmpty(answer: Answer): boolean {
  return answer.body.trim() === '';
}

/** Some frameworks give every answer the type of a web page, an empty one too. */
function looksLikePage(answer: Answer): boolean {
  if (isEmpty(answer)) return false;
  return /\bhtml\b/i.test(answer.headers['content-type'] ?? '') || startsLikePage(answer.body);
}

/** How much of an answer is searched for the start of a web page. */
const longestPreamble = 8192;

/** Bytes that are not UTF-8, and the second bytes of UTF-16. */
const noText = /[\0\uFFFD]+/g;

/**
 * A byte order mark (which `\s` includes), white space, comments, and an XML declaration. A comment without an end
 * hides the rest.
 */
const preamble = /^(?:\s+|<!--[^]*?(?:-->|$)|<\?[^]*?(?:\?>|$))+/;

/**
 * The tags by which browsers recognise a web page (WHATWG MIME Sniffing, section 7.1), and `meta`, with which login
 * portals redirect.
 */
const pageStart =
  /^<(?:!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta)(?=[\s/>])/i;

/** Whether a body starts like a web page, whatever its content type says. */
export function startsLikePage(body: string): boolean {
  return pageStart.test(body.slice(0, longestPreamble).replaceAll(noText, '').replace(preamble, ''));
}

import { z } from 'zod';
import { faultRule } from '../faults/fault-rule.ts';
import { openOperations, operations } from '../http/operations.ts';
import { jsonOf, type Details, type InspectedRequest } from './details.ts';
import { differencesOf, isLike, mistakesIn, said, type Pattern } from './pattern.ts';
import { isStatus } from './request-filter.ts';
import { isShortened } from '../http/journal-entry.ts';
import { isKeyId, keyId } from '../admin/keys.ts';

/** Selects requests. Every given field must match; an empty matcher matches every request. */
export interface Matcher {
  /** `videos.create` or `uploads.put`, for example, or a list of alternatives. */
  readonly operation?: string | readonly string[] | undefined;
  /** `POST`, for example, or a list of alternatives. */
  readonly method?: string | readonly string[] | undefined;
  /** Path without the query; `*` matches any characters, `?` one. Upload addresses end with `[token]`. */
  readonly path?: string | undefined;
  /** Patterns by parameter name; a repeated parameter is a list. */
  readonly query?: Readonly<Record<string, Pattern>> | undefined;
  /** Patterns by header name, case-insensitive. */
  readonly headers?: Readonly<Record<string, Pattern>> | undefined;
  /** Fields that the JSON body must have; other fields are ignored. */
  readonly body?: Pattern | undefined;
  /** Text that the body must contain, which need not be JSON. */
  readonly text?: string | undefined;
  /** 404, `4xx`, or 0 for no answer, or a list of alternatives. */
  readonly status?: number | string | readonly (number | string)[] | undefined;
  /** Kind of the fault that affected the request; true for any, false for none. */
  readonly fault?: string | boolean | undefined;
  /** `key_1`, for example; null for requests without a valid key. */
  readonly key?: string | null | undefined;
  readonly video_id?: string | undefined;
  readonly channel_id?: string | undefined;
  readonly feed_id?: string | undefined;
}

const OPERATIONS: readonly string[] = [
  ...[...operations, ...openOperations].map(({ name }) => name),
  'uploads.put',
  'unknown',
];
const KINDS: readonly string[] = faultRule.options.map(({ shape }) => shape.kind.value);

function text(what: string) {
  const says = `must be ${what}`;
  return z.string(says).min(1, says).max(1000, 'must have at most 1000 characters');
}

/** Accepts one value or a list of values. Not a union, which would report only what one of its variants finds wrong. */
function oneOrMore<T>(isOne: (value: unknown) => boolean, says: string) {
  const isValid = (value: unknown) => (Array.isArray(value) ? value.length > 0 && value.every(isOne) : isOne(value));
  return z.custom<T | readonly T[]>(isValid, says);
}

const isOperation = (value: unknown) => OPERATIONS.some((name) => name === value);
const isMethod = (value: unknown) => typeof value === 'string' && /^[A-Z]{1,20}$/.test(value);
const isStatusOrClass = (value: unknown) =>
  /^([1-5]\d\d|0)$/.test(typeof value === 'number' ? String(value) : '') ||
  (typeof value === 'string' && /^[1-5]xx$/.test(value));
const isFault = (value: unknown) => typeof value === 'boolean' || KINDS.some((kind) => kind === value);
const isKey = (value: unknown) => value === null || (typeof value === 'string' && isKeyId(value));

/** A pattern. Every mistake in it is reported with its path. */
const pattern = z
  .custom<Pattern>(() => true)
  .superRefine((given, context) => {
    for (const { path, message } of mistakesIn(given)) context.addIssue({ code: 'custom', path: [...path], message });
  });

const patterns = z.record(z.string(), pattern, 'must be an object of names and patterns');

export const matcher: z.ZodType<Matcher, Matcher> = z.strictObject(
  {
    operation: oneOrMore<string>(
      isOperation,
      `must be an operation or a list of them: ${OPERATIONS.join(', ')}`,
    ).optional(),
    method: oneOrMore<string>(isMethod, 'must be a method in capitals, like GET, or a list of them').optional(),
    path: text('a path, in which * matches any characters').optional(),
    query: patterns.optional(),
    headers: patterns.optional(),
    body: pattern.optional(),
    text: text('a part of the body').optional(),
    status: oneOrMore<number | string>(
      isStatusOrClass,
      'must be a status like 404, a class like "4xx", 0 for no answer, or a list of them',
    ).optional(),
    fault: z
      .custom<string | boolean>(isFault, `must be true, false or a kind of fault (${KINDS.join(', ')})`)
      .optional(),
    key: z.custom<string | null>(isKey, 'must be the id of a key, like key_1, or null').optional(),
    video_id: text('the id of a video').optional(),
    channel_id: text('the id of a channel').optional(),
    feed_id: text('the id of a feed').optional(),
  },
  'must be an object that says which requests are meant, like {"operation": "videos.create"}',
);

/** How a request differs from a matcher. */
export interface Fit {
  /** Sentences without a full stop; empty if the request matches. */
  readonly differences: readonly string[];
  /** Whether the request might match, if the journal had kept all of it. */
  readonly isUnknown: boolean;
}

/**
 * Compares a request with a matcher. Pure. A request in progress has no status yet, so it differs from a matcher with a
 * status, and likewise for other facts that only its answer reveals.
 */
export function fitOf(wanted: Matcher, request: InspectedRequest): Fit {
  const known = [...differencesOfAddress(wanted, request), ...differencesOfAnswer(wanted, request)];
  const [kept, lost] = differencesOfContent(wanted, request);
  return { differences: [...known, ...kept, ...lost], isUnknown: known.length + kept.length === 0 && lost.length > 0 };
}

/** Returns the number of conditions in the matcher. Each field of a pattern counts. */
export function weightOf({ query, headers, body, ...rest }: Matcher): number {
  const others = Object.values(rest).filter((value) => value !== undefined).length;
  return [query, headers, body].reduce<number>((sum, each) => sum + (each === undefined ? 0 : leaves(each)), others);
}

function leaves(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + leaves(each), 0) || 1;
}

function differencesOfAddress(wanted: Matcher, request: InspectedRequest): string[] {
  const { videoId, channelId, feedId, keyId: number } = request;
  const isPath = wanted.path === undefined || isShortened(request.path) || isLike(wanted.path, request.path);
  return [
    ...unlessOneOf('operation', wanted.operation, request.operation),
    ...unlessOneOf('method', wanted.method, request.method),
    ...(isPath ? [] : [`path is ${request.path}, not ${wanted.path}`]),
    ...unlessOneOf('key', wanted.key, number === null ? (isUnderWay(request) ? undefined : null) : keyId(number)),
    ...unlessOneOf('video_id', wanted.video_id, videoId),
    ...unlessOneOf('channel_id', wanted.channel_id, channelId),
    ...unlessOneOf('feed_id', wanted.feed_id, feedId),
  ];
}

type Wanted = string | null | undefined | readonly string[];

/** @param value undefined if it is not known yet */
function unlessOneOf(what: string, wanted: Wanted, value: string | null | undefined): string[] {
  if (wanted === undefined || [wanted].flat().some((one) => one === value)) return [];
  if (value === undefined) return [`its ${what} is not known yet`];
  return [`${what} is ${value ?? 'none'}, not ${[wanted ?? 'none'].flat().join(' or ')}`];
}

function differencesOfAnswer({ status: wanted, fault: kind }: Matcher, request: InspectedRequest): string[] {
  const found: string[] = [];
  const statuses = wanted === undefined ? [] : [wanted].flat().map(String);
  if (statuses.length > 0 && isUnderWay(request)) found.push('it has no answer yet');
  else if (statuses.length > 0 && !statuses.some((one) => isStatus(request.status, one)))
    found.push(`status is ${request.status === 0 ? '0 (no answer)' : request.status}, not ${statuses.join(' or ')}`);
  const isHit =
    kind === undefined || (typeof kind === 'boolean' ? (request.fault !== null) === kind : request.fault === kind);
  if (!isHit)
    found.push(`fault is ${request.fault ?? 'none'}, not ${typeof kind === 'string' ? kind : kind ? 'any' : 'none'}`);
  return found;
}

export function isUnderWay({ status, durationMs }: Pick<InspectedRequest, 'status' | 'durationMs'>): boolean {
  return status === 0 && durationMs === null;
}

/** Compares what the journal may have lost: the ends of long queries and bodies, or all headers and bodies. */
function differencesOfContent(wanted: Matcher, request: InspectedRequest): [kept: string[], lost: string[]] {
  const { query = {}, headers = {}, body, text: part } = wanted;
  const { details } = request;
  const kept: string[] = [];
  const lost: string[] = [];
  if (wanted.path !== undefined && isShortened(request.path)) lost.push('the journal has only the start of its path');
  const parameters = new URLSearchParams(request.query);
  for (const [name, one] of Object.entries(query)) {
    const [first, ...others] = parameters.getAll(name);
    const found = differencesOf(one, others.length > 0 ? [first, ...others] : first, `query.${name}`);
    (isShortened(request.query) ? lost : kept).push(...found);
  }
  if (body === undefined && part === undefined && Object.keys(headers).length === 0) return [kept, lost];
  if (!details) return [kept, [...lost, 'the journal has dropped its headers and body']];
  for (const [name, one] of Object.entries(headers))
    kept.push(...differencesOf(one, headerOf(details, name), `header ${name.toLowerCase()}`));
  const { text: whole, isCut, sizeBytes } = details.requestBody;
  const ofBody = isCut && whole !== null ? lost : kept;
  if (part !== undefined && whole?.includes(part) !== true) ofBody.push(`the body does not contain ${said(part)}`);
  if (body !== undefined && ofBody === lost) lost.push(`the body has ${sizeBytes} bytes, more than the journal keeps`);
  else if (body !== undefined) kept.push(...differencesOfBody(body, details));
  return [kept, lost];
}

function headerOf({ requestHeaders }: Details, name: string): string | undefined {
  return Object.hasOwn(requestHeaders, name.toLowerCase()) ? requestHeaders[name.toLowerCase()] : undefined;
}

function differencesOfBody(wanted: Pattern, { requestBody }: Details): string[] {
  const json = jsonOf(requestBody);
  return json === undefined && requestBody.sizeBytes > 0
    ? ['the body is not JSON']
    : differencesOf(wanted, json, 'body');
}

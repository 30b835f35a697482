import { z } from 'zod';
import { isKeyId, keyId } from '../admin/key-desk.ts';
import { faultRule } from '../faults/fault-rule.ts';
import { openOperations, operations } from '../http/operations.ts';
import { isLike } from './glob.ts';
import { isShortened } from '../http/shortened.ts';
import { jsonOf, type Details, type InspectedRequest } from './details.ts';
import { differencesOf, mistakesIn, said, type Pattern } from './pattern.ts';
import { isStatus } from './request-filter.ts';

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

/**
 * Describes each difference between the request and the matcher in a sentence without a full stop. Pure. Empty if the
 * request matches. A request in progress has no status yet, so it differs from a matcher with a status, and likewise
 * for other facts that only its answer reveals.
 */
export function differencesFrom(wanted: Matcher, request: InspectedRequest): string[] {
  return [
    ...differencesOfAddress(wanted, request),
    ...differencesOfSubject(wanted, request),
    ...differencesOfAnswer(wanted, request),
    ...differencesOfContent(wanted, request),
  ];
}

/**
 * Returns whether it is no longer known if the request matches: the kept parts match, but the matcher needs a part that
 * the journal dropped or never kept. Pure.
 */
export function isUnknown(wanted: Matcher, request: InspectedRequest): boolean {
  const { details } = request;
  const isCut = details !== undefined && details.requestBody.isCut && details.requestBody.text !== null;
  const left = {
    ...wanted,
    ...(isShortened(request.path) && { path: undefined }),
    ...(isShortened(request.query) && { query: undefined }),
    ...(details === undefined && { headers: undefined }),
    ...((details === undefined || isCut) && { body: undefined, text: undefined }),
  };
  return differencesFrom(wanted, request).length > 0 && differencesFrom(left, request).length === 0;
}

/**
 * Returns whether a request in progress may still match, because every part that does not match is still unknown: its
 * status, its key, the subject of its answer, or its body. Pure.
 */
export function mayStillFit(wanted: Matcher, request: InspectedRequest): boolean {
  if (!isUnderWay(request)) return false;
  const { keyId: key, videoId, channelId, feedId, details } = request;
  const left = {
    ...wanted,
    status: undefined,
    ...(key === null && { key: undefined }),
    ...(videoId === null && { video_id: undefined }),
    ...(channelId === null && { channel_id: undefined }),
    ...(feedId === null && { feed_id: undefined }),
    ...(details?.receivedMs === null && { body: undefined, text: undefined }),
  };
  return differencesFrom(wanted, request).length > 0 && differencesFrom(left, request).length === 0;
}

/**
 * Returns the number of conditions in the matcher, which is the number of possible differences. Each field of a pattern
 * counts.
 */
export function weightOf({ query, headers, body, ...rest }: Matcher): number {
  const fields = [query, headers, body].flatMap((each) => (each === undefined ? [] : [leaves(each)]));
  return (
    Object.values(rest).filter((value) => value !== undefined).length + fields.reduce((sum, count) => sum + count, 0)
  );
}

function leaves(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Math.max(
    1,
    Object.values(value).reduce<number>((sum, each) => sum + leaves(each), 0),
  );
}

function differencesOfAddress(
  { operation: wanted, method: verb, path, query = {} }: Matcher,
  request: InspectedRequest,
): string[] {
  const parameters = new URLSearchParams(request.query);
  const valueOf = (name: string) => {
    const [first, ...others] = parameters.getAll(name);
    return others.length > 0 ? [first, ...others] : first;
  };
  return [
    ...unlessOneOf('operation', wanted, request.operation),
    ...unlessOneOf('method', verb, request.method),
    ...(path === undefined || isLike(path, request.path) ? [] : [`path is ${request.path}, not ${path}`]),
    ...Object.entries(query).flatMap(([name, one]) => differencesOf(one, valueOf(name), `query.${name}`)),
  ];
}

function unlessOneOf(what: string, wanted: string | readonly string[] | undefined, value: string): string[] {
  if (wanted === undefined || [wanted].flat().includes(value)) return [];
  return [`${what} is ${value}, not ${[wanted].flat().join(' or ')}`];
}

function differencesOfSubject(wanted: Matcher, request: InspectedRequest): string[] {
  const { videoId, channelId, feedId, keyId: number } = request;
  const key = number === null ? null : keyId(number);
  if (wanted.key === null && key === null && isUnderWay(request)) return ['its key is not known yet'];
  const compared = [
    ['key', wanted.key, key],
    ['video_id', wanted.video_id, videoId],
    ['channel_id', wanted.channel_id, channelId],
    ['feed_id', wanted.feed_id, feedId],
  ] as const;
  return compared.flatMap(([name, one, value]) =>
    one === undefined || one === value ? [] : [`${name} is ${value ?? 'none'}, not ${one ?? 'none'}`],
  );
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

function isUnderWay({ status: code, durationMs }: InspectedRequest): boolean {
  return code === 0 && durationMs === null;
}

function differencesOfContent({ headers = {}, body, text: part }: Matcher, request: InspectedRequest): string[] {
  if (body === undefined && part === undefined && Object.keys(headers).length === 0) return [];
  const { details } = request;
  if (!details) return ['the journal has dropped its headers and body'];
  return [
    ...Object.entries(headers).flatMap(([name, one]) =>
      differencesOf(one, headerOf(details, name), `header ${name.toLowerCase()}`),
    ),
    ...(part === undefined || details.requestBody.text?.includes(part) === true
      ? []
      : [`the body does not contain ${said(part)}`]),
    ...(body === undefined ? [] : differencesOfBody(body, details)),
  ];
}

function headerOf({ requestHeaders }: Details, name: string): string | undefined {
  return Object.hasOwn(requestHeaders, name.toLowerCase()) ? requestHeaders[name.toLowerCase()] : undefined;
}

function differencesOfBody(wanted: Pattern, { requestBody }: Details): string[] {
  if (requestBody.isCut && requestBody.text !== null)
    return [`the body has ${requestBody.sizeBytes} bytes, more than the journal keeps`];
  const json = jsonOf(requestBody);
  if (json === undefined && requestBody.sizeBytes > 0) return ['the body is not JSON'];
  return differencesOf(wanted, json, 'body');
}

import { z } from 'zod';
import { ApiError } from './api-error.ts';
import type { Context } from 'hono';

/**
 * assumed: the specification gives no limit for API bodies (api-spec section 8). A video's metadata needs a fraction of
 * this.
 */
const MAX_BODY_BYTES = 1024 * 1024;

/** Reads and checks a JSON body. @throws ApiError 400, 413, 415 or 422 */
export async function jsonBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  { maxBytes = MAX_BODY_BYTES, unknown = 'refuse' }: BodyOptions = {},
): Promise<T> {
  const bytes = await limitedBody(request, maxBytes);
  if (bytes.length === 0) throw new ApiError('bad_request', 'This request needs a JSON body.');
  requireJsonType(request.headers.get('content-type'));
  return checkedJson(bytes, schema, unknown);
}

/** Parses and checks JSON in UTF-8. @throws ApiError 400 or 422 */
export function checkedJson<T>(bytes: Buffer, schema: z.ZodType<T>, unknown: Unknown = 'refuse'): T {
  return checked(parsedJson(bytes), schema, { where: 'body', unknown });
}

/** How to treat names that are not in the schema. */
type Unknown = 'refuse' | 'ignore';

interface BodyOptions {
  readonly maxBytes?: number;
  readonly unknown?: Unknown;
}

/** Like `jsonBody`, for requests whose parameters are all optional: an empty body counts as an empty object. */
export async function jsonBodyIfAny<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const bytes = await limitedBody(request, MAX_BODY_BYTES);
  if (bytes.length === 0) return checked({}, schema, { where: 'body' });
  requireJsonType(request.headers.get('content-type'));
  return checked(parsedJson(bytes), schema, { where: 'body' });
}

/**
 * Checks that a request has no body (api-spec section 4.3). Accepts an empty JSON object, because generic HTTP tools
 * send one.
 */
export async function noBody(request: Request, unknown: Unknown = 'refuse'): Promise<void> {
  const bytes = await limitedBody(request, MAX_BODY_BYTES);
  if (bytes.length === 0) return;
  requireJsonType(request.headers.get('content-type'));
  checked(parsedJson(bytes), z.strictObject({}), { where: 'body', unknown });
}

/**
 * Reads and checks the query. @throws ApiError 422, also for repeated parameters, and for unknown ones unless they are
 * ignored
 */
export function query<T extends object>(request: Request, schema: z.ZodType<T>, unknown: Unknown = 'refuse'): T {
  const parameters = new URL(request.url).searchParams;
  const names = [...parameters.keys()];
  const asked = checked(Object.fromEntries(parameters), schema, { where: 'query', unknown });
  const repeated = names.find((name, index) => Object.hasOwn(asked, name) && names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw new ApiError('invalid_request', `${quoted(repeated)} is given more than once in the query.`);
  return asked;
}

/** Checks that a request has no parameters. @throws ApiError 422 */
export function noQuery(request: Request, unknown: Unknown): void {
  query(request, z.strictObject({}), unknown);
}

async function limitedBody(request: Request, maxBytes: number): Promise<Buffer> {
  const tooLarge = new ApiError('payload_too_large', `A request body may have at most ${maxBytes} bytes.`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of receivedChunks(request)) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Yields the body's chunks. A client that disconnects partway through its body is not a server error. */
async function* receivedChunks(request: Request): AsyncGenerator<Uint8Array> {
  try {
    yield* request.body ?? [];
  } catch {
    throw new ApiError('bad_request', 'The body was cut off.');
  }
}

function requireJsonType(contentType: string | null): void {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType === 'application/json') return;
  throw new ApiError('unsupported_media_type', 'Send the body as JSON, with Content-Type: application/json.');
}

function parsedJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw notJson();
  }
}

function notJson(): ApiError {
  return new ApiError('bad_request', 'The body is not valid JSON in UTF-8.');
}

function checked<T>(
  value: unknown,
  schema: z.ZodType<T>,
  { where, unknown = 'refuse' }: { readonly where: 'body' | 'query'; readonly unknown?: Unknown },
): T {
  const result = parsed(value, schema, where);
  if (result.success) return result.data;
  const extra = new Set(result.error.issues.flatMap((issue) => (isUnknownHere(issue) ? issue.keys : [])));
  if (unknown === 'ignore' && extra.size > 0) return checked(without(extra, value), schema, { where });
  throw new ApiError('invalid_request', mistakesAsText(result.error, where));
}

/**
 * Validates a value. zod's length checks run on non-strings too, and throw a TypeError for an object whose `length` has
 * a `toString` that is not a function.
 */
function parsed<T>(value: unknown, schema: z.ZodType<T>, where: string): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new ApiError('invalid_request', `The ${where} has a value of the wrong kind.`);
  }
}

/** Describes each mistake and its place in a sentence. @param where name of the validated value as a whole */
export function mistakesAsText(error: z.ZodError, where: string): string {
  return error.issues
    .slice(0, MAX_ISSUES)
    .map((issue) => sentenceOf(issue, where))
    .join(' ');
}

/** Matches unknown names at the top level only. Nested objects may have names that the client chooses. */
function isUnknownHere(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueUnrecognizedKeys {
  return issue.code === 'unrecognized_keys' && issue.path.length === 0;
}

function without(names: ReadonlySet<string>, value: unknown): object {
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => !names.has(name)));
}

const MAX_ISSUES = 5;

function sentenceOf(issue: z.core.$ZodIssue, where: string): string {
  const place = issue.path.length === 0 ? `The ${where}` : issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys')
    return `${place} has the unknown field ${issue.keys.slice(0, MAX_ISSUES).map(quoted).join(', ')}.`;
  return `${place}: ${issue.message}.`;
}

/** Quotes a name that the client chose: shortened, and escaped as in JSON. */
function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 60));
}

/** A query parameter that is an integer from 1 to `max`. */
export function pageNumber(max: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, `must be an integer from 1 to ${max}`)
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, `must be an integer from 1 to ${max}`);
}

/**
 * A text from the client. assumed: the specification gives no lengths, so these are generous. NUL and broken surrogate
 * pairs are refused, because no feed could carry them (XML 1.0 section 2.2).
 */
export function textField(maxCharacters: number) {
  return z
    .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a string') })
    .max(maxCharacters, `must have at most ${maxCharacters} characters`)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must be well-formed Unicode without NUL');
}

/** A text that must not be blank. */
export function nameField(maxCharacters: number) {
  return textField(maxCharacters).refine((value) => value.trim() !== '', 'must not be empty');
}

/** Answers one operation of the API. */
export type Handler = (context: Context) => Response | Promise<Response>;

/** An endpoint of the admin side. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Its purpose in one sentence, shown in the index. */
  readonly says: string;
  readonly handler: Handler;
}

/** An id with the prefix of its resource type (api-spec section 2), like `ch_news`. */
export function idField(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}[A-Za-z0-9_-]{1,60}$`), `must be ${prefix} and letters, digits, _ or -`);
}

/** A time in ISO 8601 with a zone, not before 1970. @returns ms since 1970 */
export const timeField = z.iso
  .datetime({ offset: true, message: 'must be a time like 2026-11-20T12:00:00Z' })
  .transform((text) => Date.parse(text))
  .refine((ms) => ms >= 0, 'must not be before 1970');

/** Returns a name reduced to characters that an address may contain. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return slug === '' ? 'unnamed' : slug;
}

/** Accepts http and https addresses without user name and password. */
export function isWebAddress(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '';
}

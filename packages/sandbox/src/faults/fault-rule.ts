import { validateHeaderName, validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { operations } from '../http/operations.ts';

/**
 * A fault and the requests that it hits, in the admin API's format. A rule hits matching calls from number `nth` on, at
 * most `times` of them, each with `probability`; it is removed after `ttl_ms`.
 */
export type FaultRule = z.output<typeof faultRule>;

export type FaultKind = FaultRule['kind'];
export type FaultOf<K extends FaultKind> = Extract<FaultRule, { kind: K }>;

/** Every operation that a fault can hit. The admin API and the web page are never affected. */
const faultyOperations = ['*', 'uploads.put', ...operations.map(({ name }) => name)];

const id = z.string('must be a string').min(1, 'must not be empty').max(200, 'must have at most 200 characters');
const DAY_MS = 86_400_000;
const LONGEST_TTL_MS = 30 * DAY_MS;

function count(max: number, min = 1) {
  const message = `must be an integer from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
}

const probability = 'must be above 0 and at most 1';

const when = {
  channel_id: id.optional(),
  video_id: id.optional(),
  /**
   * First call to hit, counted from 1 among the matching calls since the rule was added. Without `times`, only that
   * call.
   */
  nth: count(1_000_000).optional(),
  times: count(1_000_000).optional(),
  probability: z.number(probability).gt(0, probability).max(1, probability).optional(),
  /** Lifetime of the rule, by the sandbox's clock. */
  ttl_ms: count(LONGEST_TTL_MS).optional(),
};

function fault<const K extends string, P extends z.ZodRawShape>(kind: K, parameters: P) {
  const known = `must be ${faultyOperations.join(', ')}`;
  const operation = z.enum(faultyOperations, known).default('*');
  return z.strictObject({ kind: z.literal(kind), operation, ...when, ...parameters });
}

/** Defines a fault that applies to one operation only. */
function faultOf<const K extends string, P extends z.ZodRawShape>(operation: string, kind: K, parameters: P) {
  const only = z.literal(operation, `must be ${operation}, the only operation for ${kind}`).default(operation);
  return z.strictObject({ kind: z.literal(kind), operation: only, ...when, ...parameters });
}

const message = z.string('must be a string').max(1000, 'must have at most 1000 characters');
const code = z.string('must be a string').regex(/^[\w.-]{1,100}$/, 'must be a word');
const longPause = count(3_600_000, 0);
const bodyBytes = count(Number.MAX_SAFE_INTEGER, 0).default(0);
const of = z.enum(['request', 'answer'], 'must be request or answer');

/** Whether all headers are valid; Node would throw on an invalid one in the middle of a response. */
function isHeader(headers: Record<string, string>): boolean {
  return Object.entries(headers).every(([name, value]) => {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
      return !['content-length', 'transfer-encoding', 'connection'].includes(name.toLowerCase());
    } catch {
      return false;
    }
  });
}

const headerFields = z
  .record(z.string(), z.string('must be a string'), 'must be an object of strings')
  .refine(isHeader, 'must be header fields, without Content-Length, Transfer-Encoding and Connection');

const retryAfterText = z
  .string('must be a string')
  .max(100, 'must have at most 100 characters')
  .refine((text) => isHeader({ 'Retry-After': text }), 'must be valid in a header');

const errorStatus = 'must be an integer from 400 to 599';

/** All assumed: the specification defines the format of errors, but not when each of them occurs. */
export const faultRule = z.discriminatedUnion(
  'kind',
  [
    // These faults only send a response.
    fault('status', {
      status: z.int(errorStatus).min(400, errorStatus).max(599, errorStatus),
      /** Error code. Default: the one that belongs to the status. */
      code: code.optional(),
      message: message.default('A fault of the sandbox.'),
      headers: headerFields.optional(),
    }),
    fault('rate_limited', {
      retry_after: z
        .enum(['seconds', 'date', 'absent', 'absurd'], 'must be seconds, date, absent or absurd')
        .default('seconds'),
      seconds: count(86_400, 0).default(1),
      /** Header value for `absurd`. */
      text: retryAfterText.default('-1'),
    }),
    fault('html_502', {}),
    fault('redirect', {
      status: z.literal([301, 302, 303, 307, 308], 'must be 301, 302, 303, 307 or 308').default(307),
      location: z
        .string('must be a string')
        .refine((text) => text.length <= 2000 && isHeader({ Location: text }), 'must be a valid Location header')
        .default('https://elsewhere.invalid/'),
    }),
    faultOf('uploads.put', 'expired_address', {}),
    faultOf('uploads.put', 'second_put_refused', {}),
    // These carry out the request, but over a slow or broken connection. Byte counts refer to the body.
    fault('delay', { ms: longPause }),
    fault('slow_read', { bytes_per_second: count(1_000_000_000) }),
    fault('stall', { of, after_bytes: bodyBytes }),
    fault('reset', { of, after_bytes: bodyBytes }),
    fault('answer_lost', {}),
    faultOf('videos.create', 'drop_after_create', {}),
    // These carry out the request and change the response if it is JSON.
    fault('truncated_json', {}),
    fault('wrong_content_type', {
      content_type: z
        .string('must be a string')
        .refine(
          (text) => text.length <= 200 && isHeader({ 'Content-Type': text }),
          'must be a valid Content-Type header',
        )
        .default('text/html; charset=utf-8'),
    }),
    fault('unknown_status', { status: code.default('transcoding') }),
    fault('extra_fields', {}),
    // These change the outcome of processing, not the response. They count videos whose bytes have arrived.
    faultOf('*', 'stuck_processing', {}),
    faultOf('*', 'failed_processing', {
      code: code.default('injected_fault'),
      message: message.default('A fault of the sandbox made this video fail.'),
    }),
  ],
  'must be a kind of fault, such as status, delay or answer_lost (docs/sandbox.md lists them)',
);

/** The complete list of faults that replaces the current one. */
export const faultRules = z.array(faultRule, 'must be an array of faults').max(1000, 'must have at most 1000 faults');

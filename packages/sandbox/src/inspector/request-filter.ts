import { z } from 'zod';
import type { JournalEntry } from '../http/journal-entry.ts';
import type { InspectedRequest } from './details.ts';
import { isLike } from './pattern.ts';
import { keyId } from '../admin/keys.ts';

const text = z.string().min(1, 'must not be empty').max(500, 'must have at most 500 characters').optional();
const number = z
  .string()
  .regex(/^\d{1,15}$/, 'must be the number of a request')
  .transform(Number)
  .optional();
const time = z.iso
  .datetime({ offset: true, error: 'must be a time like 2026-01-31T12:00:00Z' })
  .transform((said) => Date.parse(said))
  .optional();

/** Query parameters that select requests. */
export const requestFilter = z.strictObject({
  operation: text,
  method: z
    .string()
    .regex(/^[A-Za-z]{1,20}$/, 'must be a method like GET')
    .transform((method) => method.toUpperCase())
    .optional(),
  status: z
    .string()
    .regex(/^([1-5]\d\d|[1-5]xx|0)$/, 'must be a status like 404, a class like 4xx, or 0 for no answer')
    .optional(),
  /** Id of an API key, or `none`. */
  key: text,
  video_id: text,
  channel_id: text,
  feed_id: text,
  /** Part of the path, or the whole path if it contains `*` or `?`. */
  path: text,
  /** Text anywhere in the bodies. */
  text,
  /** Kind of fault, `any`, or `none`. */
  fault: text,
  since: time,
  until: time,
  /** `after` selects only requests with higher numbers, `before` only those with lower ones. */
  after: number,
  before: number,
});

type RequestFilter = Partial<z.output<typeof requestFilter>>;

/** Returns whether the request passes the filter. Pure. Reads the details only if everything else matches. */
export function isWanted(request: InspectedRequest, filter: RequestFilter): boolean {
  return isEntryWanted(request, filter) && (filter.text === undefined || hasText(request, filter.text));
}

/** Like `isWanted`, but ignores the text in the bodies. */
function isEntryWanted(entry: JournalEntry, filter: RequestFilter): boolean {
  const { operation, method, status, path, since, until, after, before } = filter;
  return (
    (operation === undefined || entry.operation === operation) &&
    (method === undefined || entry.method === method) &&
    (status === undefined || isStatus(entry.status, status)) &&
    (path === undefined || isPath(entry.path, path)) &&
    (since === undefined || entry.atMs >= since) &&
    (until === undefined || entry.atMs <= until) &&
    (after === undefined || entry.number > after) &&
    (before === undefined || entry.number < before) &&
    isSubjectWanted(entry, filter)
  );
}

function isSubjectWanted(entry: JournalEntry, filter: RequestFilter): boolean {
  const { key, fault, video_id: videoId, channel_id: channelId, feed_id: feedId } = filter;
  return (
    (videoId === undefined || entry.videoId === videoId) &&
    (channelId === undefined || entry.channelId === channelId) &&
    (feedId === undefined || entry.feedId === feedId) &&
    (key === undefined || key === (entry.keyId === null ? 'none' : keyId(entry.keyId))) &&
    (fault === undefined || (fault === 'any' ? entry.fault !== null : (entry.fault ?? 'none') === fault))
  );
}

/** Compares a status. @param wanted 404, 4xx, or 0 for no answer */
export function isStatus(status: number, wanted: string): boolean {
  return wanted.endsWith('xx') ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted);
}

/** Compares a path. @param wanted part of the path, or the whole path if it contains `*` or `?` */
function isPath(path: string, wanted: string): boolean {
  return /[*?]/.test(wanted) ? isLike(wanted, path) : path.includes(wanted);
}

function hasText({ details }: InspectedRequest, wanted: string): boolean {
  const bodies = [details?.requestBody.text, details?.answerBody.text];
  return bodies.some((body) => body?.toLowerCase().includes(wanted.toLowerCase()) === true);
}

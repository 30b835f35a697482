import { ApiError } from '../http/api-error.ts';
import { pageNumber, query, type Endpoint } from '../http/input.ts';
import type { Journal } from '../http/journal.ts';
import type { JournalEntry } from '../http/journal-entry.ts';
import { isoTime } from '../http/wire.ts';
import { jsonOf, type InspectedRequest, type ShownBody } from '../inspector/details.ts';
import { isWanted, requestFilter } from '../inspector/request-filter.ts';
import { keyId } from './keys.ts';

/** Endpoints for the request journal. */
export function requestEndpoints(journal: Journal): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/requests',
      says: 'Lists the latest requests, oldest first; ?operation, method, status (404, 4xx), key, video_id, path, text, fault, since, until, after, before, limit.',
      handler: (context) => {
        const { limit, ...filter } = query(context.req.raw, listQuery);
        const found = journal.inspected().filter((request) => isWanted(request, filter));
        const page = filter.after === undefined ? found.slice(-limit) : found.slice(0, limit);
        return context.json({ data: page.map(entryView), meta: { total: found.length } });
      },
    },
    {
      method: 'DELETE',
      path: '/_sandbox/requests',
      says: 'Clears the request journal.',
      handler: (context) => {
        journal.clear();
        return context.body(null, 204);
      },
    },
    {
      method: 'GET',
      path: '/_sandbox/requests/:number',
      says: 'Returns everything about a request: headers, bodies, timing, and the fault that hit it.',
      handler: (context) => context.json({ data: requestView(requestAt(journal, context.req.param('number'))) }),
    },
  ];
}

const listQuery = requestFilter.extend({ limit: pageNumber(1000).default(100) });

/** @param number as written in the address @throws ApiError 404 */
export function requestAt(journal: Journal, number: string | undefined): InspectedRequest {
  const found = /^\d{1,15}$/.test(number ?? '') ? journal.find(Number(number)) : undefined;
  if (!found) throw new ApiError('not_found', 'There is no such request. The journal may have been cleared.');
  return found;
}

function entryView(entry: JournalEntry) {
  return {
    number: entry.number,
    at: isoTime(entry.atMs),
    operation: entry.operation,
    method: entry.method,
    path: entry.path,
    query: entry.query,
    status: entry.status,
    duration_ms: entry.durationMs,
    bytes_in: entry.bytesIn,
    bytes_out: entry.bytesOut,
    key_id: entry.keyId === null ? null : keyId(entry.keyId),
    video_id: entry.videoId,
    channel_id: entry.channelId,
    feed_id: entry.feedId,
    fault: entry.fault,
  };
}

function requestView(request: InspectedRequest) {
  const { details } = request;
  if (!details) return { ...entryView(request), details: null };
  const { requestHeaders, requestBody, answerHeaders, answerBody, receivedMs, firstByteMs, sentMs, faultRule } =
    details;
  return {
    ...entryView(request),
    details: {
      request: { headers: requestHeaders, body: bodyView(requestBody) },
      answer: { headers: answerHeaders, body: bodyView(answerBody) },
      timing: { request_received_ms: receivedMs, answer_begun_ms: firstByteMs, answer_sent_ms: sentMs },
      fault_rule: faultRule ?? null,
    },
  };
}

/** Shows JSON as JSON, other text as text, and only the first bytes of anything else. Null without a body. */
function bodyView(body: ShownBody) {
  const { type, sizeBytes, isComplete, isCut, text, firstBytes } = body;
  if (sizeBytes === 0) return null;
  const json = jsonOf(body);
  const content =
    json !== undefined ? { json } : text !== null ? { text } : { first_bytes: firstBytes.toString('hex') };
  return { type, size: sizeBytes, complete: isComplete, cut: isCut, ...content };
}

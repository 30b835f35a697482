import { type Operation, operations } from '@dropcast/sandbox/contract/document';
import { schemaErrors } from '@dropcast/sandbox/contract/schema-check';
import type { RecordedExchange } from '../recording.ts';
import { isAt, isUploadPath } from '@dropcast/sandbox/http/operations';
import type { Switches } from '@dropcast/sandbox/profiles/switch-table';

/** Returns exchanges that follow a success of the same operation on the same target. */
export function repeated(exchanges: readonly RecordedExchange[], name: string): readonly RecordedExchange[] {
  const done = new Set<string>();
  return exchanges.filter((exchange) => {
    if (operationOf(exchange)?.name !== name) return false;
    const isRepeated = done.has(exchange.target);
    if (isSuccess(exchange)) done.add(exchange.target);
    return isRepeated;
  });
}

/**
 * Omits exchanges about a video from its deletion onwards. The address of a deleted video reveals nothing about a
 * second file.
 */
export function beforeDeletion(exchanges: readonly RecordedExchange[]): readonly RecordedExchange[] {
  const deleted = new Set<string | undefined>();
  return exchanges.filter((exchange) => {
    const id = videoOf(exchange);
    if (operationOf(exchange)?.name === 'videos.delete' && isSuccess(exchange)) deleted.add(id);
    return !deleted.has(id);
  });
}

/**
 * Returns the first uploads to each address, not counting refused ones, of videos that the program did not know to be
 * deleted.
 */
export function firstUploads(exchanges: readonly RecordedExchange[]): readonly RecordedExchange[] {
  const gone = new Set(exchanges.filter(isMissing).map(videoOf));
  const mayHaveArrived = new Set<string>();
  return beforeDeletion(exchanges).filter((exchange) => {
    if (operationOf(exchange)?.name !== 'uploads.put') return false;
    const isFirst = !mayHaveArrived.has(exchange.target);
    const status = exchange.broken === undefined ? (exchange.answer?.status ?? 0) : 0;
    // A host of tus answers 405 to a PUT.
    if (![403, 404, 405, 410, 429].includes(status)) mayHaveArrived.add(exchange.target);
    return isFirst && !gone.has(videoOf(exchange));
  });
}

/** Whether the exchange shows that another client had deleted the video. */
function isMissing(exchange: RecordedExchange): boolean {
  return operationOf(exchange)?.name === 'videos.get' && exchange.answer?.status === 404;
}

/** Returns the id of the video in the path of the request. */
function videoOf(exchange: RecordedExchange): string | undefined {
  return pathOf(exchange.target)
    .split('/')
    .at(operationOf(exchange)?.name === 'uploads.put' ? 2 : 3);
}

export function isSuccess({ answer }: Pick<RecordedExchange, 'answer'>): boolean {
  return answer !== undefined && answer.status >= 200 && answer.status < 300;
}

/** Whether a status reveals something about the video. Refused access, rate limits and server errors do not. */
export function doesTell(status: number): boolean {
  return status < 500 && ![401, 403, 408, 429].includes(status);
}

/** Whether the body has unknown fields and would be valid without them. */
export function hasOnlyUnknownFields({ request }: RecordedExchange, { body: expected }: Operation): boolean {
  if (request.body === undefined || !('json' in request.body)) return false;
  const schema = expected?.content['application/json']?.schema;
  const errors = schema === undefined ? [] : schemaErrors(schema, request.body.json);
  return errors.length > 0 && errors.every(({ keyword }) => /^(?:additional|max)Properties$/.test(keyword));
}

export function queryOf({ target }: RecordedExchange): URLSearchParams {
  return new URLSearchParams(target.split('?')[1]);
}

type Order = 'newest first' | 'oldest first' | 'no order by time';

/** Returns the order of a list by creation time; null if the answer does not show it. */
export function orderOf(exchange: RecordedExchange): Order | null {
  const times = timesIn(jsonOf(exchange));
  const pairs = times.slice(1).map((time, index) => Math.sign(time - (times[index] ?? 0)));
  if (pairs.every((sign) => sign === 0)) return null;
  if (pairs.every((sign) => sign <= 0)) return 'newest first';
  return pairs.every((sign) => sign >= 0) ? 'oldest first' : 'no order by time';
}

function timesIn(json: unknown): readonly number[] {
  const list = typeof json === 'object' && json !== null && 'data' in json ? json.data : json;
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    const time = typeof item === 'object' && item !== null && 'created_at' in item ? item.created_at : null;
    const ms = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    return Number.isNaN(ms) ? [] : [ms];
  });
}

/**
 * Returns the operation of an exchange. HEAD is GET without a body (RFC 9110 section 9.3.2). PATCH to an upload address
 * sends a file by tus.
 */
export function operationOf({ method, target }: Pick<RecordedExchange, 'method' | 'target'>): Operation | undefined {
  const pathname = pathOf(target);
  const isSent = method === 'PATCH' && isUploadPath(pathname);
  const asked = isSent ? 'PUT' : method === 'HEAD' ? 'GET' : method;
  return operations.find(
    (operation) => operation.method === asked && isAt(operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), pathname),
  );
}

/**
 * Whether an upload host asks for the rest of a file with 308, as in a resumable session of Google Cloud Storage. With
 * `Location`, 308 is a redirect (RFC 9110 section 15.4.9).
 */
export function isIncomplete({ answer }: Pick<RecordedExchange, 'answer'>): boolean {
  return answer?.status === 308 && answer.headers['location'] === undefined;
}

/** Returns the JSON body of the answer; undefined if there is none. */
export function jsonOf({ answer }: RecordedExchange): unknown {
  return answer?.body !== undefined && 'json' in answer.body ? answer.body.json : undefined;
}

/** Returns the path of a recorded target. */
export function pathOf(target: string): string {
  return target.split('?')[0] ?? '';
}

interface ShownWord {
  readonly value: Switches['processing_word'];
  readonly exchange: number;
}

/**
 * Finds the status words used for videos in processing. A video may stay pending briefly after its upload, so `pending`
 * counts as such a word only if no other one appears.
 */
export function processingWords(exchanges: readonly RecordedExchange[]): readonly ShownWord[] {
  const uploadedAt = endsOfUploads(exchanges);
  const shown = exchanges.filter(isSuccess).flatMap((exchange) =>
    wordsIn(exchange).flatMap(({ id, status }): readonly ShownWord[] => {
      if (status === 'processing' || status === 'transcoding') return [{ value: status, exchange: exchange.number }];
      const wasUploaded = (uploadedAt.get(id) ?? Number.POSITIVE_INFINITY) < Date.parse(exchange.at);
      const isReceipt = operationOf(exchange)?.name === 'uploads.put';
      return status === 'pending' && (wasUploaded || isReceipt)
        ? [{ value: 'pending', exchange: exchange.number }]
        : [];
    }),
  );
  const others = shown.filter(({ value }) => value !== 'pending');
  return others.length > 0 ? others : shown;
}

/** Returns when each video's file had arrived, in milliseconds; a second upload changes nothing. */
function endsOfUploads(exchanges: readonly RecordedExchange[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const exchange of exchanges) {
    const id = videoOf(exchange) ?? '';
    if (operationOf(exchange)?.name === 'uploads.put' && isSuccess(exchange) && !ends.has(id))
      ends.set(id, Date.parse(exchange.at) + exchange.ms);
  }
  return ends;
}

/** Returns the status of each video in the answer. */
function wordsIn(exchange: RecordedExchange): readonly { readonly id: string; readonly status: unknown }[] {
  const name = operationOf(exchange)?.name ?? '';
  if (!name.startsWith('videos.') && name !== 'uploads.put') return [];
  const json = jsonOf(exchange);
  const data = typeof json === 'object' && json !== null && 'data' in json ? json.data : json;
  return [data].flat().flatMap((video: unknown) => {
    if (typeof video !== 'object' || video === null || !('status' in video)) return [];
    const id = 'id' in video ? String(video.id) : '';
    return [{ id, status: video.status }];
  });
}

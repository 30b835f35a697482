import type { Operation } from '@dropcast/sandbox/contract/document';
import { isUploadPath } from '@dropcast/sandbox/http/operations';
import { mostUploadBytes, openPoints, type SwitchName, type Switches } from '@dropcast/sandbox/profiles/switch-table';
import type { RecordedExchange } from '../recording.ts';
import { departuresOf } from './departures.ts';
import {
  beforeDeletion,
  firstUploads,
  hasOnlyUnknownFields,
  isSuccess,
  orderOf,
  queryOf,
  repeated,
  isIncomplete,
  jsonOf,
  operationOf,
  pathOf,
  processingWords,
} from './telling-exchanges.ts';

/** A value of a switch, with the exchange that shows it. */
export interface Shown<Value> {
  readonly value: Value;
  readonly exchange: number;
}

/** How to recognise the value of a sandbox switch in a recording. */
interface Recognition<Value> {
  /** Description of the evidence, for the documentation. */
  readonly from: string;
  shown(exchanges: readonly RecordedExchange[]): readonly Shown<Value>[];
}

/** An exchange with a complete answer, prepared for `Read` functions. */
interface Answered {
  readonly exchange: RecordedExchange;
  readonly operation: Operation | undefined;
  readonly status: number;
  /** JSON body of the answer; undefined if there is none. */
  readonly json: unknown;
}

/** Recognitions by switch; null if a recording cannot show the value. */
export const recognitions: { readonly [Name in SwitchName]: Recognition<Switches[Name]> | null } = {
  unknown_fields: {
    from: 'a `POST` or `PATCH` whose body is valid but for fields that openapi.yaml does not have',
    shown: each(({ exchange, operation, status }) =>
      operation !== undefined && hasOnlyUnknownFields(exchange, operation) ? ignoredOrRefused(status) : null,
    ),
  },
  unknown_parameters: {
    from: 'a request with a query parameter that openapi.yaml does not have',
    shown: each(({ exchange, operation, status }) =>
      operation !== undefined && operation.name !== 'uploads.put' && hasUnknownParameter(exchange, operation)
        ? ignoredOrRefused(status)
        : null,
    ),
  },
  per_page_over_100: {
    from: '`GET /videos` with a `per_page` over 100: refused, or answered with at most 100 videos',
    shown: each(({ exchange, operation, status, json }) => {
      if (operation?.name !== 'videos.list' || !(Number(queryOf(exchange).get('per_page')) > 100)) return null;
      if (isRefused(status)) return 'refuse';
      const list = dataOf(json);
      return isSuccess(exchange) && Array.isArray(list) && list.length <= 100 ? 'clamp' : null;
    }),
  },
  list_order: {
    from: '`created_at` in a list of videos that were not all created at the same time',
    shown: each(({ exchange, operation }) => {
      const order = operation?.name === 'videos.list' ? orderOf(exchange) : null;
      if (order === 'newest first') return 'newest';
      return order === 'oldest first' ? 'oldest' : null;
    }),
  },
  invalid_status: {
    from: 'the status of a refusal, 422 or 400, of a request whose body is JSON where there must be one',
    shown: each(({ exchange, operation, status }) =>
      operation !== undefined && operation.name !== 'uploads.put' && isReadable(exchange, operation)
        ? asValue(openPoints.invalid_status.values, status)
        : null,
    ),
  },
  error_body: {
    from: 'the body of an error of the API',
    shown: each(({ exchange, operation, status }) =>
      status >= 400 && operation?.name !== 'uploads.put' ? errorForm(exchange) : null,
    ),
  },
  retry_after: {
    from: '`Retry-After` of a 429',
    shown: each(({ exchange, status }) => {
      if (status !== 429) return null;
      const value = exchange.answer?.headers['retry-after'];
      if (value === undefined) return 'absent';
      if (/^\d+$/.test(value)) return 'seconds';
      return Number.isNaN(Date.parse(value)) ? null : 'date';
    }),
  },
  rate_limit: null,
  rate_limit_headers: {
    from: 'the headers of an answer of the API',
    shown: each(({ exchange, operation }) =>
      operation === undefined || operation.name === 'uploads.put' ? null : rateLimitForm(exchange),
    ),
  },
  request_id: {
    from: 'the headers of an answer of the API',
    shown: each(({ exchange, operation }) => {
      if (operation === undefined || operation.name === 'uploads.put' || !isSuccess(exchange)) return null;
      return exchange.answer?.headers['x-request-id'] === undefined ? 'none' : 'x_request_id';
    }),
  },
  conditional_reads: {
    from: 'the headers of the answer to a `GET`',
    shown: each(({ exchange, operation }) => {
      if (operation === undefined || exchange.method !== 'GET' || !isSuccess(exchange)) return null;
      return exchange.answer?.headers['etag'] === undefined ? 'none' : 'etag';
    }),
  },
  create_status: {
    from: 'the status of a creation',
    shown: successes(['videos.create'], ({ status }) => asValue(openPoints.create_status.values, status)),
  },
  create_body: {
    from: 'the answer to a creation',
    shown: successes(['videos.create'], ({ json }) => (isObject(dataOf(json)) ? envelopeOf(json) : null)),
  },
  get_body: {
    from: 'the answer to `GET /videos/:id`',
    shown: successes(['videos.get'], ({ json }) => (isObject(dataOf(json)) ? envelopeOf(json) : null)),
  },
  get_fields: {
    from: 'the names of the fields in the answer to `GET /videos/:id`',
    shown: successes(['videos.get'], ({ json }) => {
      const video = dataOf(json);
      if (hasAny(video, ['channel_id', 'description', 'tags', 'source_url'])) return 'all';
      if (hasAny(video, ['title', 'created_at', 'embed_url'])) return 'list';
      return hasAny(video, ['status']) ? 'minimal' : null;
    }),
  },
  list_body: {
    from: 'a list of videos, channels or feeds',
    shown: successes(['videos.list', 'channels.list', 'feeds.list'], ({ json }) =>
      Array.isArray(dataOf(json)) ? envelopeOf(json) : null,
    ),
  },
  update_answer: {
    from: 'the answer to a `PATCH`',
    shown: successes(['videos.update', 'channels.update'], ({ exchange, json }) => {
      if (hasNoBody(exchange)) return 'empty';
      if (hasAny(dataOf(json), ['status', 'created_at', 'slug'])) return 'whole';
      return hasAny(dataOf(json), ['id', 'title', 'name']) ? 'partial' : null;
    }),
  },
  delete_answer: {
    from: 'the status of a deletion',
    shown: successes(['videos.delete'], ({ status }) => asValue(openPoints.delete_answer.values, status)),
  },
  second_delete: {
    from: 'a deletion of a video that this program had deleted',
    shown: (exchanges) =>
      each(({ exchange, status }) => {
        if (isSuccess(exchange)) return '204';
        return status === 404 ? '404' : null;
      })(repeated(exchanges, 'videos.delete')),
  },
  upload_status: {
    from: 'the status of an upload by `PUT`',
    shown: successes(['uploads.put'], ({ exchange, status }) =>
      exchange.method === 'PUT' ? asValue(openPoints.upload_status.values, status) : null,
    ),
  },
  upload_redirect: {
    from: 'an upload that is answered with 307',
    shown: each(({ exchange, operation, status }) => {
      if (operation?.name !== 'uploads.put') return null;
      if (status === 307) return '307';
      return isSuccess(exchange) ? 'none' : null;
    }),
  },
  upload_headers: {
    from: 'fields of the answer to a creation; `without_type`: an upload without Content-Type that is taken where one with it was refused with 403',
    shown: (exchanges) => [
      ...successes(['videos.create'], ({ json }) => {
        const video = dataOf(json);
        return openPoints.upload_headers.values.find((value) => isObject(video) && value in video) ?? null;
      })(exchanges),
      ...successes(['uploads.put'], ({ exchange }) => {
        const isRefusal = ({ target, answer, request }: RecordedExchange): boolean =>
          target === exchange.target && answer?.status === 403 && request.headers['content-type'] !== undefined;
        const isWithout = exchange.request.headers['content-type'] === undefined;
        return isWithout && exchanges.some(isRefusal) ? 'without_type' : null;
      })(exchanges),
    ],
  },
  daily_videos: {
    from: 'a creation that is refused with 507, or with the code `quota_reached`, `daily_limit_reached` or `insufficient_storage`',
    shown: each(({ operation, status, exchange }) => {
      if (operation?.name !== 'videos.create' || status < 400) return null;
      if (status === 507) return 'insufficient_storage';
      return openPoints.daily_videos.values.find((code) => code !== 'any' && hasInBody(exchange, code)) ?? null;
    }),
  },
  max_upload_size: {
    from: 'an upload of more than 2 MiB: taken, or refused with 413 or with 400',
    shown: each(({ exchange, operation, status }) => {
      if (operation?.name !== 'uploads.put') return null;
      const isLarge = Number(exchange.request.headers['content-length']) > mostUploadBytes;
      if (isLarge && isSuccess(exchange)) return 'none';
      if (status === 413) return '413';
      if (!isLarge || status !== 400) return null;
      return hasInBody(exchange, 'EntityTooLarge') ? 'entity_too_large' : '400';
    }),
  },
  upload_protocol: {
    from: 'an answer with `Tus-Resumable`, or an address of a session (`upload_id`) or an answer 308 without `Location`',
    shown: each(({ exchange }) => {
      if (!isUploadPath(pathOf(exchange.target))) return null;
      if (exchange.answer?.headers['tus-resumable'] !== undefined) return 'tus';
      if (isIncomplete(exchange) || queryOf(exchange).has('upload_id')) return 'content_range';
      return isSuccess(exchange) ? 'put' : null;
    }),
  },
  expired_address: {
    from: 'a first upload that is refused with 403, 404 or 410, of a video that is still there, to an address that takes no file later; not the 403 `SignatureDoesNotMatch` of an object store',
    shown: (exchanges) => {
      const uploads = firstUploads(exchanges);
      const taken = new Set(uploads.filter(isSuccess).map(({ target }) => target));
      return each(({ exchange, status }) =>
        taken.has(exchange.target) || hasInBody(exchange, 'SignatureDoesNotMatch')
          ? null
          : asValue(openPoints.expired_address.values, status),
      )(uploads);
    },
  },
  second_put: {
    from: 'a second upload to an address that took one',
    shown: (exchanges) =>
      each(({ exchange, status }) => (isSuccess(exchange) ? '200' : asValue(openPoints.second_put.values, status)))(
        repeated(beforeDeletion(exchanges), 'uploads.put'),
      ),
  },
  processing_word: {
    from: 'the status of videos; `pending`: seen after the upload had ended, and `processing` never',
    shown: processingWords,
  },
  publish_answer: {
    from: 'the answer to a publish',
    shown: successes(['feeds.publish'], ({ exchange, status, json }) => {
      if (hasNoBody(exchange)) return 'empty';
      if (isObject(json) && isObject(json['data'])) return 'wrapped';
      if (!isObject(json)) return null;
      return status === 202 || json['status'] === 'queued' ? 'queued' : 'published';
    }),
  },
  idempotency_key: {
    from: 'two creations with the same `Idempotency-Key`: one id, or two',
    shown: (exchanges) => {
      const first = new Map<string, unknown>();
      return successes(['videos.create'], ({ exchange, json }) => {
        const key = exchange.request.headers['idempotency-key'];
        const video = dataOf(json);
        if (key === undefined || !isObject(video)) return null;
        const before = first.get(key);
        first.set(key, before ?? video['id']);
        if (before === undefined) return null;
        return before === video['id'] ? 'honoured' : 'ignored';
      })(exchanges);
    },
  },
  averages_without_views: {
    from: 'analytics of a video without views',
    shown: successes(['analytics.videos'], ({ json }) => {
      const unwatched = [dataOf(json)].flat().find((record) => isObject(record) && record['views'] === 0);
      if (!isObject(unwatched)) return null;
      const { avg_watch_time_seconds: average, completion_rate: rate } = unwatched;
      if (average === null && rate === null) return 'null';
      return average === 0 && rate === 0 ? 'zero' : null;
    }),
  },
  webhook_form: null,
  extra_fields: {
    from: 'a field of an answer that openapi.yaml does not have',
    shown: each(({ exchange, operation }) =>
      operation !== undefined &&
      isSuccess(exchange) &&
      departuresOf(operation, exchange).some(({ isNew, place }) => isNew === true && !isOfUploadHeaders.test(place))
        ? 'yes'
        : null,
    ),
  },
};

/** Fields that are covered by another switch. */
const isOfUploadHeaders = new RegExp(`[ .](?:${openPoints.upload_headers.values.join('|')})$`);

type Read<Value> = (answered: Answered) => Value | null;

/** Reads each complete answer on its own. */
function each<Value>(read: Read<Value>): Recognition<Value>['shown'] {
  return (exchanges) =>
    exchanges.flatMap((exchange) => {
      const { answer, broken, number } = exchange;
      if (answer === undefined || broken !== undefined) return [];
      const value = read({
        exchange,
        operation: operationOf(exchange),
        status: answer.status,
        json: jsonOf(exchange),
      });
      return value === null ? [] : [{ value, exchange: number }];
    });
}

/** Reads each successful answer of these operations. HEAD is skipped, because its answer has no body. */
function successes<Value>(names: readonly string[], read: Read<Value>): Recognition<Value>['shown'] {
  return each((answered) => {
    const { exchange, operation } = answered;
    const isAsked = operation !== undefined && names.includes(operation.name) && exchange.method !== 'HEAD';
    return isAsked && isSuccess(exchange) ? read(answered) : null;
  });
}

/** Returns the status as a value of a switch whose values are statuses. */
function asValue<Value extends string>(values: readonly Value[], status: number): Value | null {
  return values.find((value) => value === String(status)) ?? null;
}

function ignoredOrRefused(status: number): 'ignore' | 'refuse' | null {
  if (status >= 200 && status < 300) return 'ignore';
  return isRefused(status) ? 'refuse' : null;
}

function isRefused(status: number): boolean {
  return status === 400 || status === 422;
}

function hasUnknownParameter(exchange: RecordedExchange, { parameters }: Operation): boolean {
  const known = new Set(parameters.flatMap(({ name, in: place }) => (place === 'query' ? [name] : [])));
  return [...queryOf(exchange).keys()].some((name) => !known.has(name));
}

/** Whether required JSON is present. An unreadable body may be refused with another status. */
function isReadable({ request }: RecordedExchange, { body }: Operation): boolean {
  if (request.body === undefined) return body?.required !== true;
  return 'json' in request.body;
}

function errorForm({ answer, method }: RecordedExchange): Switches['error_body'] | null {
  const body = answer?.body;
  if (body === undefined || 'bytes' in body || method === 'HEAD') return null;
  if ('text' in body) return textForm(body.text);
  const { json } = body;
  if (!isObject(json)) return null;
  if (isObject(json['error'])) return 'object';
  if ('title' in json && 'status' in json) return 'problem'; // RFC 9457
  return typeof json['message'] === 'string' ? 'message' : null;
}

/** Classifies a text as HTML or plain text; XML is neither. */
function textForm(text: string): 'text' | 'html' | null {
  if (/^\s*<\?xml/i.test(text)) return null;
  return /^\s*</.test(text) ? 'html' : 'text';
}

function rateLimitForm(exchange: RecordedExchange): Switches['rate_limit_headers'] | null {
  const headers = exchange.answer?.headers ?? {};
  const { ratelimit } = headers;
  if (ratelimit !== undefined) return /\bremaining=/.test(ratelimit) ? 'dictionary' : 'draft';
  if (headers['ratelimit-remaining'] !== undefined) return 'seconds';
  // A refusal may come from a proxy.
  if (headers['x-ratelimit-remaining'] === undefined) return isSuccess(exchange) ? 'none' : null;
  const reset = headers['x-ratelimit-reset'];
  if (reset === undefined) return headers['x-ratelimit-window'] === undefined ? null : 'window_ms';
  if (/^\d{9,10}$/.test(reset)) return 'epoch';
  if (/^\d{12,13}$/.test(reset)) return 'epoch_ms';
  return Number.isNaN(Date.parse(reset)) ? null : 'date';
}

function envelopeOf(json: unknown): 'wrapped' | 'bare' {
  return isObject(json) && 'data' in json ? 'wrapped' : 'bare';
}

function dataOf(json: unknown): unknown {
  return isObject(json) && 'data' in json ? json['data'] : json;
}

function hasNoBody({ answer }: RecordedExchange): boolean {
  return answer?.body === undefined;
}

function hasInBody({ answer }: RecordedExchange, text: string): boolean {
  return JSON.stringify(answer?.body ?? null).includes(text);
}

function hasAny(json: unknown, names: readonly string[]): boolean {
  return isObject(json) && names.some((name) => name in json);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { type HeldAnswer, holdAnswer, sendAnswer } from '../faults/held-answer.ts';
import { toldAddress } from '../uploads/resumable.ts';
import { withAddedHeaders } from './added-headers.ts';
import { type Switches, defaultSwitches, switchNames } from './switch-table.ts';
import { isApiPath, isUploadPath, operationOf } from '../http/operations.ts';
import type { Layer } from '../http/server.ts';
import type { Services } from '../services.ts';
import { toldHeaders } from '../uploads/refusals.ts';

/** The request that the answer belongs to. */
interface AnsweredCall {
  readonly operation: string;
  /** Time by the sandbox's clock. */
  readonly nowMs: number;
}

/** Returns the answer in the form that the switches select. Pure. */
function settledAnswer(answer: HeldAnswer, call: AnsweredCall, switches: Switches): HeldAnswer {
  if (answer.status >= 400) return settledError(answer, call, switches);
  if (answer.status >= 300) return answer;
  return settledSuccess(answer, call, switches);
}

function settledSuccess(answer: HeldAnswer, call: AnsweredCall, switches: Switches): HeldAnswer {
  const json = jsonOf(answer);
  switch (call.operation) {
    case 'videos.create':
      return created(answer, json, switches);
    case 'videos.get':
      return withJson(answer, enveloped(fieldsOf(told(dataOf(json), switches), switches), switches.get_body));
    case 'videos.list':
    case 'channels.list':
    case 'feeds.list':
      return withJson(answer, switches.list_body === 'bare' ? told(dataOf(json), switches) : told(json, switches));
    case 'videos.update':
    case 'channels.update':
      return updated(answer, json, switches);
    case 'videos.delete':
      return deleted(answer, switches);
    case 'uploads.put':
      return switches.upload_status === '204'
        ? emptied(answer)
        : withJson(answer, told(json, switches), Number(switches.upload_status));
    case 'feeds.publish':
      return published(answer, json, switches);
    case 'analytics.videos':
      return withJson(answer, told(withAverages(json, switches), switches));
    default:
      return withJson(answer, told(json, switches));
  }
}

function created(answer: HeldAnswer, json: unknown, switches: Switches): HeldAnswer {
  const plain = told(json, switches);
  const url = isObject(json) ? json['upload_url'] : undefined;
  const needed =
    typeof url === 'string'
      ? { ...toldHeaders(url, switches.upload_headers), upload_url: toldAddress(url, switches.upload_protocol) }
      : {};
  const whole = isObject(plain) ? { ...plain, ...needed } : plain;
  return withJson(answer, switches.create_body === 'wrapped' ? { data: whole } : whole, Number(switches.create_status));
}

function updated(answer: HeldAnswer, json: unknown, switches: Switches): HeldAnswer {
  if (switches.update_answer === 'empty') return emptied(answer);
  const whole = told(dataOf(json), switches);
  return withJson(answer, { data: switches.update_answer === 'partial' ? only(changeable, whole) : whole });
}

const changeable: ReadonlySet<string> = new Set([
  'id',
  'title',
  'name',
  'description',
  'tags',
  'default_player_settings',
]);

function only(names: ReadonlySet<string>, json: unknown): unknown {
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).filter(([name]) => names.has(name) || name.startsWith('x_')));
}

function deleted(answer: HeldAnswer, { delete_answer: way }: Switches): HeldAnswer {
  if (way === '204') return answer;
  return way === '202' ? { ...answer, status: 202 } : withJson(answer, { deleted: true }, 200);
}

function published(answer: HeldAnswer, json: unknown, switches: Switches): HeldAnswer {
  const way = switches.publish_answer;
  if (way === 'empty') return emptied(answer);
  if (way === 'queued' && isObject(json))
    return withJson(answer, told({ feed_id: json['feed_id'], status: 'queued' }, switches), 202);
  return withJson(answer, way === 'wrapped' ? { data: told(json, switches) } : told(json, switches));
}

function withAverages(json: unknown, { averages_without_views: way }: Switches): unknown {
  if (way === 'zero') return json;
  return everyObject(json, (object) =>
    object['views'] === 0 ? { ...object, avg_watch_time_seconds: null, completion_rate: null } : object,
  );
}

function fieldsOf(video: unknown, { get_fields: which }: Switches): unknown {
  return which === 'all' ? video : only(which === 'minimal' ? minimal : listed, video);
}

const minimal: ReadonlySet<string> = new Set(['id', 'status', 'error']);
/** Fields of a list item (api-spec section 2.1). */
const listed: ReadonlySet<string> = new Set([
  ...minimal,
  'title',
  'duration',
  'created_at',
  'thumbnail_url',
  'embed_url',
]);

/** Applies the service's word for `processing`, and adds its extra fields. */
function told(json: unknown, { processing_word: word, extra_fields: extra }: Switches): unknown {
  const worded = everyObject(json, (object) =>
    object['status'] === 'processing' ? { ...object, status: word } : object,
  );
  return extra === 'no'
    ? worded
    : everyObject(worded, (object) => ({ ...object, x_added: { since: 2027, words: ['new'] } }));
}

function settledError(answer: HeldAnswer, { nowMs }: AnsweredCall, switches: Switches): HeldAnswer {
  const status = answer.status === 422 ? Number(switches.invalid_status) : answer.status;
  return withRetryAfter(withErrorBody({ ...answer, status }, switches), nowMs, switches);
}

function withErrorBody(answer: HeldAnswer, { error_body: form }: Switches): HeldAnswer {
  const json = jsonOf(answer);
  const error = isObject(json) && isObject(json['error']) ? json['error'] : undefined;
  if (error === undefined || form === 'object') return answer;
  const message = String(error['message']);
  switch (form) {
    case 'message':
      return withJson(answer, { message });
    case 'problem':
      // Problem details (RFC 9457).
      return withType(
        withJson(answer, { type: 'about:blank', title: error['code'], status: answer.status, detail: message }),
        'application/problem+json',
      );
    case 'text':
      return withType({ ...answer, body: Buffer.from(message) }, 'text/plain; charset=utf-8');
    default:
      return withType(
        { ...answer, body: Buffer.from(`<html><body><h1>${answer.status}</h1></body></html>\n`) },
        'text/html',
      );
  }
}

function withRetryAfter(answer: HeldAnswer, nowMs: number, { retry_after: form }: Switches): HeldAnswer {
  const { 'retry-after': seconds, ...others } = answer.headers;
  if (seconds === undefined || form === 'seconds') return answer;
  if (form === 'absent') return { ...answer, headers: others };
  // The date has no milliseconds, so it is rounded up to the next full second. If it were rounded down, the client
  // would return too early.
  const until = new Date(Math.ceil(nowMs / 1000 + Number(seconds)) * 1000).toUTCString();
  return { ...answer, headers: { ...others, 'retry-after': until, date: new Date(nowMs).toUTCString() } };
}

function enveloped(json: unknown, way: 'wrapped' | 'bare'): unknown {
  return way === 'wrapped' && json !== undefined ? { data: json } : json; // HEAD has none
}

function dataOf(json: unknown): unknown {
  return isObject(json) && 'data' in json ? json['data'] : json;
}

function jsonOf({ headers, body }: HeldAnswer): unknown {
  if (body.length === 0 || !/\bjson\b/i.test(String(headers['content-type']))) return undefined;
  return JSON.parse(body.toString());
}

/** Replaces the JSON of a response. A response without JSON is left unchanged. */
function withJson(answer: HeldAnswer, json: unknown, status = answer.status): HeldAnswer {
  if (json === undefined) return answer;
  return {
    status,
    headers: { ...answer.headers, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(json)),
  };
}

function withType(answer: HeldAnswer, type: string): HeldAnswer {
  return { ...answer, headers: { ...answer.headers, 'content-type': type } };
}

function emptied({ headers }: HeldAnswer): HeldAnswer {
  const { 'content-type': _, 'content-length': __, ...others } = headers;
  return { status: 204, headers: others, body: Buffer.alloc(0) };
}

/** Changes every object in a JSON value except those that a client made. */
function everyObject(json: unknown, change: (object: Record<string, unknown>) => unknown): unknown {
  if (Array.isArray(json)) return json.map((item) => everyObject(item, change));
  if (!isObject(json)) return json;
  const changed = Object.entries(json).map(([name, value]) => [
    name,
    name === 'default_player_settings' ? value : everyObject(value, change),
  ]);
  return change(Object.fromEntries(changed));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Gives every answer of the API and of uploads the form that the switches select. Does nothing by default. */
export function createProfileLayer({ switchboard, clock }: Pick<Services, 'switchboard' | 'clock'>): Layer {
  return async (exchange, proceed) => {
    const { method = '', url = '' } = exchange.request;
    const path = url.split('?', 1)[0] ?? '';
    const switches = switchboard.now;
    if (!isApiPath(path) || isDefault(switches)) return proceed(exchange);
    const held = holdAnswer(exchange.response);
    await proceed(exchange);
    const answer = await held;
    if (answer === undefined) return;
    const { response } = exchange;
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    const settled = settledAnswer(answer, { operation: operationOf(method, path), nowMs: clock.nowMs() }, switches);
    sendAnswer(response, isUploadPath(path) ? settled : withAddedHeaders(settled, exchange.request, switches));
  };
}

function isDefault(switches: Switches): boolean {
  return switchNames.every((name) => switches[name] === defaultSwitches[name]);
}

import { answerEarly, type Exchange } from '../http/exchange.ts';
import { isOfApi, operationOf } from '../http/operations.ts';
import type { Layer } from '../http/server.ts';
import type { Services } from '../services.ts';
import { BodyValve } from './body-valve.ts';
import { answerPartly, loseAnswer, sendLate, resetBody, slowRead, stallBody, reset } from './broken-connection.ts';
import type { FaultRule } from './fault-rule.ts';
import { holdAnswer, sendAnswer, type HeldAnswer } from './held-answer.ts';
import type { IncomingMessage } from 'node:http';
import type { Records } from '../store/records.ts';
import type { Call } from './faults.ts';
import { answerInstead, changedAnswer } from './fault-answers.ts';

/** Creates the layer that applies faults to API requests and uploads, and to nothing else. */
export function createFaultLayer(parts: Pick<Services, 'faults' | 'records' | 'clock' | 'journal'>): Layer {
  const { faults, records, clock, journal } = parts;
  return async (arrived, proceed) => {
    const { method = '', url = '' } = arrived.request;
    const operation = operationOf(method, url.split('?', 1)[0] ?? '');
    const interest = isOfApi(operation) ? faults.interestIn(operation) : 'none';
    if (interest === 'none') return proceed(arrived);
    const valve = new BodyValve(arrived.request); // before the first byte: nothing may be awaited above
    const isChannelInBody = interest === 'the channel' && operation === 'videos.create' && hasBody(arrived.request);
    const exchange = isChannelInBody ? withBodyAskedFor(arrived) : arrived;
    const channel = isChannelInBody ? { channelId: await channelInBody(valve) } : {};
    const fault = faults.take({ ...callOf(operation, url, records), ...channel });
    if (fault) journal.noteFault(exchange.response, fault.rule);
    return applyFault(fault?.rule, { exchange, valve, proceed: () => proceed(exchange), nowMs: clock.nowMs() });
  };
}

function withBodyAskedFor(exchange: Exchange): Exchange {
  if (exchange.awaitsContinue) exchange.response.writeContinue();
  return { ...exchange, awaitsContinue: false };
}

/** A request, and how to handle it without a fault. */
interface Intercepted {
  readonly exchange: Exchange;
  readonly valve: BodyValve;
  readonly proceed: () => Promise<void>;
  /** Time of the request by the sandbox's clock. */
  readonly nowMs: number;
}

/** Applies the rule's fault to the request; without a rule, handles the request normally. */
async function applyFault(rule: FaultRule | undefined, intercepted: Intercepted): Promise<void> {
  const { exchange, valve, proceed, nowMs } = intercepted;
  switch (rule?.kind) {
    case 'status':
    case 'rate_limited':
    case 'html_502':
    case 'redirect':
    case 'expired_address':
    case 'second_put_refused':
      valve.allow(Infinity);
      return answerEarly(exchange, answerInstead(rule, nowMs));
    case 'slow_read':
      slowRead(exchange, valve, rule.bytes_per_second);
      return proceed();
    case 'stall':
      if (rule.of === 'answer') return withAnswer(intercepted, (answer) => answerPartly(exchange, answer, rule));
      stallBody(exchange, valve, rule);
      return proceed();
    case 'reset':
      if (rule.of === 'answer') return withAnswer(intercepted, (answer) => answerPartly(exchange, answer, rule));
      if (rule.after_bytes === 0) return reset(exchange.request); // before anything is read, so nothing is done
      resetBody(exchange, valve, rule);
      return proceed();
    case 'delay':
      return withAnswer(intercepted, (answer) => sendLate(exchange, answer, rule.ms));
    case 'answer_lost':
    case 'drop_after_create':
      return withAnswer(intercepted, () => loseAnswer(exchange));
    case 'truncated_json':
    case 'wrong_content_type':
    case 'unknown_status':
    case 'extra_fields':
      return withAnswer(intercepted, (answer) => sendAnswer(exchange.response, changedAnswer(answer, rule)));
    case undefined:
    case 'stuck_processing': // not of a request: see Faults.fateOf
    case 'failed_processing':
      valve.allow(Infinity);
      return proceed();
  }
}

/** Carries out the request and passes on the complete response. */
async function withAnswer(
  { exchange, valve, proceed }: Intercepted,
  decide: (answer: HeldAnswer) => void | Promise<void>,
): Promise<void> {
  valve.allow(Infinity);
  const held = holdAnswer(exchange.response);
  await proceed();
  const answer = await held;
  if (answer) await decide(answer);
}

/** Finds the video and channel that a request's address names. */
function callOf(operation: string, url: string, records: Pick<Records, 'videos' | 'feeds'>): Call {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const [first, collection, second = ''] = pathname.split('/').slice(1);
  const [what, id] = first === 'uploads' ? ['videos', collection ?? ''] : [collection, second];
  const videoId = what === 'videos' ? id : (searchParams.get('video_id') ?? '');
  const channelId =
    (what === 'channels' ? id : what === 'feeds' ? records.feeds.find(id)?.channelId : undefined) ??
    searchParams.get('channel_id') ??
    records.videos.find(videoId)?.channelId ??
    '';
  return { operation, videoId, channelId };
}

/** Reads a new video's channel, which only the body names. Leaves the body unread for the handler. */
async function channelInBody(valve: BodyValve): Promise<string> {
  const body = await valve.peek(MOST_BODY_BYTES);
  try {
    const json: unknown = JSON.parse(body?.toString() ?? '');
    return isObject(json) && typeof json['channel_id'] === 'string' ? json['channel_id'] : '';
  } catch {
    return ''; // the handler will refuse it
  }
}

/** Maximum body size to read; the API refuses longer bodies. */
const MOST_BODY_BYTES = 1024 * 1024;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Whether the request has a body (RFC 9112 section 6). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

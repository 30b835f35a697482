import { answerEarly, type Exchange } from '../http/exchange.ts';
import { isOfApi, operationOf } from '../http/operations.ts';
import type { Layer } from '../http/server.ts';
import type { Services } from '../services.ts';
import { BodyValve } from './body-valve.ts';
import { callOf, channelInBody, hasBody } from './call-of-request.ts';
import { answerInstead } from './answer-instead.ts';
import { answerPartly, loseAnswer, sendLate, resetBody, slowRead, stallBody, reset } from './broken-connection.ts';
import { changedAnswer } from './changed-answer.ts';
import type { FaultRule } from './fault-rule.ts';
import { holdAnswer, sendAnswer, type HeldAnswer } from './held-answer.ts';

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

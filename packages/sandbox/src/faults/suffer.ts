import { answerEarly, type Exchange } from '../http/exchange.ts';
import { answerInstead } from './answer-instead.ts';
import type { BodyValve } from './body-valve.ts';
import { answerPartly, loseAnswer, sendLate } from './broken-answer.ts';
import { changedAnswer } from './changed-answer.ts';
import type { FaultRule } from './fault-rule.ts';
import { reset } from './cut.ts';
import { resetBody, slowRead, stallBody } from './hampered-body.ts';
import { holdAnswer, sendAnswer, type HeldAnswer } from './held-answer.ts';

/** A request that has arrived, and how it would be answered. */
export interface Meeting {
  readonly exchange: Exchange;
  readonly valve: BodyValve;
  readonly proceed: () => Promise<void>;
  /** By the sandbox's clock. */
  readonly nowMs: number;
}

/** Answers the request as the rule wants it to go wrong; without one as it should. */
export async function suffer(rule: FaultRule | undefined, meeting: Meeting): Promise<void> {
  const { exchange, valve, proceed, nowMs } = meeting;
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
      if (rule.of === 'answer') return withAnswer(meeting, (answer) => answerPartly(exchange, answer, rule));
      stallBody(exchange, valve, rule);
      return proceed();
    case 'reset':
      if (rule.of === 'answer') return withAnswer(meeting, (answer) => answerPartly(exchange, answer, rule));
      if (rule.after_bytes === 0) return reset(exchange.request); // before anything is read, so nothing is done
      resetBody(exchange, valve, rule);
      return proceed();
    case 'delay':
      return withAnswer(meeting, (answer) => sendLate(exchange, answer, rule.ms));
    case 'answer_lost':
    case 'drop_after_create':
      return withAnswer(meeting, () => loseAnswer(exchange));
    case 'truncated_json':
    case 'wrong_content_type':
    case 'unknown_status':
    case 'extra_fields':
      return withAnswer(meeting, (answer) => sendAnswer(exchange.response, changedAnswer(answer, rule)));
    case undefined:
    case 'stuck_processing': // not of a request: see Faults.fateOf
    case 'failed_processing':
      valve.allow(Infinity);
      return proceed();
  }
}

/** Does what is asked for, and decides about the answer once it is whole. */
async function withAnswer(
  { exchange, valve, proceed }: Meeting,
  decide: (answer: HeldAnswer) => void | Promise<void>,
): Promise<void> {
  valve.allow(Infinity);
  const held = holdAnswer(exchange.response);
  await proceed();
  const answer = await held;
  if (answer) await decide(answer);
}

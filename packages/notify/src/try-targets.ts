import type { NotifyTarget } from './target.ts';
import type { Envelope } from './message.ts';
import { placeOf, type Send } from './senders/send.ts';
import type { Sent } from './senders/sent.ts';
import { beat } from './senders/http.ts';

/** A target's answer to a test message. */
export interface TargetAnswer {
  readonly name: string;
  readonly type: string;
  /** Location of the target, without secrets. */
  readonly place: string;
  readonly ok: boolean;
  readonly answer: string;
}

/** Time limit for a test, because a person is waiting at a terminal. */
const longestMs = 20_000;

/** Sends a test message to all targets in parallel, bypassing the outbox. @param now epoch milliseconds */
export function tryTargets(
  targets: readonly NotifyTarget[],
  { send, now, host }: { readonly send: Send; readonly now: number; readonly host: string },
): Promise<readonly TargetAnswer[]> {
  const signal = AbortSignal.timeout(longestMs);
  const timeoutMs = (target: NotifyTarget): number => Math.min(target.timeoutMs, longestMs - 1_000);
  const message: Envelope = {
    type: 'test',
    title: `Test message from dropcast on ${host}`,
    body: 'This is the test message of `dropcast notify test`: notifications work.',
    level: 'info',
    cause: 'test',
    at: now,
    count: 0,
    files: [],
    host,
    id: `test-${now}`,
    isRepeat: false,
  };
  return Promise.all(
    targets.map(async (target): Promise<TargetAnswer> => {
      const limited = { ...target, timeoutMs: timeoutMs(target) };
      const sent =
        limited.type === 'heartbeat'
          ? await beat(limited, true, { timeoutMs: limited.timeoutMs, signal })
          : await send(limited, message, signal);
      return { name: target.name, type: target.type, place: placeOf(target), ...answerOf(sent) };
    }),
  );
}

function answerOf(sent: Sent | null): Pick<TargetAnswer, 'ok' | 'answer'> {
  if (sent === null) return { ok: true, answer: 'nothing to send' };
  return sent.ok ? { ok: true, answer: sent.answer } : { ok: false, answer: sent.why };
}

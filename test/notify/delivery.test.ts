import { describe, expect, test } from 'vitest';
import type { MessageTarget } from '../../packages/notify/src/target.ts';
import { secret } from '../../src/config/secret.ts';
import { createMessageTargets } from '../../src/daemon/message-targets.ts';
import { isInWindow } from '../../src/config/day-window.ts';
import { clockTime } from '../../src/view/words/text.ts';
import type { Outbox, OutboxRow } from '../../packages/notify/src/ports.ts';
import { createDelivery } from '../../packages/notify/src/delivery.ts';
import type { Envelope } from '../../packages/notify/src/message.ts';
import type { Sent } from '../../packages/notify/src/senders/sent.ts';
import { recordingLogger } from '../pipeline/silent-logger.ts';

const taken: Sent = { ok: true, answer: 'answered 200' };
const failed = (more: Partial<Extract<Sent, { ok: false }>> = {}): Sent => ({
  ok: false,
  why: 'answered 503',
  mayHaveArrived: false,
  isRefusal: false,
  ...more,
});
const refused = failed({ why: 'answered 400', isRefusal: true });
const phone = { type: 'ntfy', name: 'phone', url: 'https://ntfy.sh', topic: secret('t'), quiet: null, timeoutMs: 1 };
const second = 1_000;
const minute = 60 * second;
const noon = new Date('2026-11-22T12:00').getTime();

/** A delivery with its outbox in memory and a clock that stands still. */
function delivery(answer: (n: number) => Sent | Promise<Sent>) {
  const stop = new AbortController();
  const logger = recordingLogger();
  const messageTargets = createMessageTargets();
  const world = { now: noon, isRefusing: false, onceRead: (): void => undefined };
  const sent: Envelope[] = [];
  const times: number[] = [];
  let waiting: OutboxRow[] = [];
  let dropped: unknown = null;
  const change = (seqs: readonly number[], by: (row: OutboxRow) => OutboxRow): void => {
    if (world.isRefusing) throw new Error('the disk is full');
    waiting = waiting.map((row) => (seqs.includes(row.seq) ? by(row) : row));
  };
  const rows: Partial<Outbox> = {
    waiting: async () => {
      const read = waiting;
      world.onceRead();
      return read;
    },
    recall: async () => dropped,
    commit: async ({ remember = {}, remove = [] }) => {
      if ('dropped:phone' in remember) dropped = remember['dropped:phone'];
      waiting = waiting.filter(({ seq }) => !remove.includes(seq));
    },
    markTried: async (seqs, at) => change(seqs, (row) => ({ ...row, triedAt: at })),
    markRefused: async (seqs) => change(seqs, (row) => ({ ...row, triedAt: null, refusals: row.refusals + 1 })),
  };
  const one = createDelivery(phone as unknown as MessageTarget, {
    outbox: rows as Outbox,
    logger,
    results: messageTargets,
    clock: { timeOf: clockTime, isInWindow },
    now: () => world.now,
    id: 'l',
    host: 'ingest1',
    signal: stop.signal,
    send: async (_, message) => {
      sent.push(message);
      times.push((world.now - noon) / second);
      return answer(sent.length);
    },
  });
  const tick = async (): Promise<void> => {
    one.tick(world.now);
    await one.idle();
  };
  return {
    one,
    world,
    stop,
    sent,
    /** Seconds at which something was sent. */
    times,
    messageTargets,
    waiting: () => waiting.map(({ seq }) => seq),
    dropped: () => dropped,
    logged: () => logger.lines.map(({ message }) => message),
    lines: logger.lines,
    post: (...seqs: number[]) => {
      for (const seq of seqs) {
        const message = { type: 'live', title: `t${seq}`, body: '', level: 'info', cause: `${seq}`, at: 0, count: 1 };
        waiting = [...waiting, { seq, message, at: noon, triedAt: null, refusals: 0 }];
      }
      one.wake();
    },
    tick,
    /** Looks every five seconds. */
    pass: async (ms: number) => {
      for (const end = world.now + ms; world.now < end;) {
        world.now += 5 * second;
        await tick();
      }
    },
  };
}

const pausesOf = (times: readonly number[]): readonly number[] => times.slice(1).map((at, n) => at - (times[n] ?? 0));

describe('the way to a target', () => {
  test('what an earlier run left is sent at the first look; without anything new the outbox is not read again', async () => {
    const here = delivery(() => taken);
    here.post(1);
    await here.tick();
    expect([here.sent.length, here.waiting()]).toEqual([1, []]);
    const unread = delivery(() => taken);
    await unread.tick();
    unread.post(1);
    await unread.tick();
    expect(unread.sent).toHaveLength(1);
  });

  test('what is posted while an empty outbox is read is sent at the next look', async () => {
    const here = delivery(() => taken);
    here.world.onceRead = () => {
      here.world.onceRead = () => undefined;
      here.post(1);
    };
    await here.tick();
    await here.tick();
    expect(here.sent).toHaveLength(1);
  });

  test('an outbox that cannot be read is read again', async () => {
    const here = delivery(() => taken);
    here.world.onceRead = () => {
      throw new Error('the disk is gone');
    };
    here.post(1);
    await here.tick();
    here.world.onceRead = () => undefined;
    await here.pass(10 * second);
    expect(here.sent).toHaveLength(1);
  });

  test('is tried after 10 s, then less and less often, up to every 15 minutes, and begins anew once it takes messages', async () => {
    const here = delivery((n) => (n === 13 ? taken : failed()));
    here.post(1);
    await here.tick();
    await here.pass(97 * minute);
    expect(pausesOf(here.times)).toEqual([10, 20, 40, 80, 160, 320, 640, 900, 900, 900, 900, 900]);
    here.post(2);
    await here.tick();
    await here.pass(30 * second);
    expect(pausesOf(here.times.slice(13))).toEqual([10, 20]);
  });

  test('is left alone for as long as it asks, at most for an hour', async () => {
    const here = delivery((n) => (n === 1 ? failed({ retryAfterMs: 50 * minute }) : taken));
    here.post(1);
    await here.tick();
    await here.pass(49 * minute);
    expect(here.sent).toHaveLength(1);
    await here.pass(2 * minute);
    expect(here.sent).toHaveLength(2);
  });

  test('says once in the log that it takes nothing, when it is tried next, and once that it does again', async () => {
    const here = delivery((n) => (n <= 3 ? failed() : taken));
    here.post(1);
    await here.tick();
    await here.pass(5 * minute);
    here.post(2);
    await here.tick();
    expect(here.logged()).toEqual([
      'A notification target does not accept messages',
      'A notification target accepts messages again',
    ]);
    expect(here.lines[0]?.fields).toEqual({
      target: 'phone',
      place: 'https://ntfy.sh/…',
      why: 'answered 503',
      next: new Date(noon + 10 * second).toISOString(),
    });
  });

  test.each<[string, Sent, boolean]>([
    ['an answer that it did not take it', failed(), false],
    ['no answer', failed({ mayHaveArrived: true }), true],
    ['a refusal', refused, false],
  ])('after %s, a message is a repeat: %s', async (_, answer, isRepeat) => {
    const here = delivery((n) => (n === 1 ? answer : taken));
    here.post(1);
    await here.tick();
    expect(here.waiting()).toEqual([1]);
    await here.pass(10 * second);
    expect(here.sent.map((each) => [each.id, each.isRepeat])).toEqual([
      ['l-1', false],
      ['l-1', isRepeat],
    ]);
  });

  test('a message that it refuses five times is dropped, counted, and in the way of no other', async () => {
    const here = delivery((n) => (n <= 5 ? refused : taken));
    here.post(1, 2);
    await here.tick();
    await here.pass(4 * minute);
    expect(here.sent.map(({ title }) => title)).toEqual(['t1', 't1', 't1', 't1', 't1']);
    expect(here.waiting()).toEqual([2]);
    expect(here.dropped()).toBe(1);
    expect(here.messageTargets.counts('ntfy')).toEqual({ taken: 0, failed: 5, dropped: 1 });
    await here.pass(4 * minute);
    expect(here.sent.at(-1)?.body).toBe('And 1 older message was dropped.');
    expect([here.waiting(), here.dropped()]).toEqual([[], null]);
    expect(here.logged()).toEqual([
      'A notification target does not accept messages',
      'A notification target refused a message, which was dropped',
      'A notification target accepts messages again',
    ]);
  });

  test('answers of other kinds drop nothing, however many come', async () => {
    const here = delivery(() => failed());
    here.post(1);
    await here.tick();
    await here.pass(300 * minute);
    expect(here.waiting()).toEqual([1]);
    expect(here.messageTargets.deaf()).toEqual([{ name: 'phone', type: 'ntfy', why: 'answered 503', since: noon }]);
  });

  test('a reload sends at once what waits, to where it says', async () => {
    const here = delivery((n) => (n === 1 ? failed({ retryAfterMs: 50 * minute }) : taken));
    here.post(1);
    await here.tick();
    await here.tick();
    expect(here.sent).toHaveLength(1);
    const quiet = { from: 11 * 60, to: 13 * 60 };
    here.one.change({ ...phone, quiet } as unknown as MessageTarget);
    await here.tick();
    expect(here.sent).toHaveLength(1);
    here.one.change(phone as unknown as MessageTarget);
    await here.tick();
    expect(here.sent).toHaveLength(2);
  });

  test('a clock that was set back does not make messages wait for the old time', async () => {
    const here = delivery((n) => (n === 1 ? failed() : taken));
    here.post(1);
    await here.tick();
    here.world.now -= 24 * 60 * minute;
    await here.tick();
    expect(here.sent).toHaveLength(2);
  });

  test('while the ledger cannot record that a message is being sent, none is sent; the next try is after 10 s', async () => {
    const here = delivery(() => taken);
    here.world.isRefusing = true;
    here.post(1);
    await here.tick();
    here.world.isRefusing = false;
    await here.pass(5 * second);
    expect(here.sent).toEqual([]);
    await here.pass(5 * second);
    expect(here.sent).toHaveLength(1);
  });

  test('after the end nothing more is sent or recorded, whatever the answer', async () => {
    const answer = Promise.withResolvers<Sent>();
    const here = delivery(() => answer.promise);
    here.post(1, 2);
    here.one.tick(here.world.now);
    await Promise.resolve();
    here.stop.abort();
    answer.resolve(failed({ mayHaveArrived: true }));
    await here.one.idle();
    await here.pass(5 * minute);
    expect(here.sent.length).toBeLessThanOrEqual(1);
    expect(here.waiting()).toEqual([1, 2]);
    expect([here.messageTargets.deaf(), here.logged()]).toEqual([[], []]);
  });
});

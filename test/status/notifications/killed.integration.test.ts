import { describe, expect, test } from 'vitest';
import { failure } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { away, desk, held, minute, noon, taken, target } from './desk.ts';
import type { Sent } from '../../../packages/notify/src/senders/sent.ts';

interface Received {
  readonly id: string;
  readonly isRepeat: boolean;
  /** Titles, of a digest all of them. */
  readonly text: string;
}

/** How the target behaves: whether it gets a message, and whether its answer arrives. The number rises over restarts. */
const behaviours: Readonly<Record<string, (n: number) => { readonly arrives: boolean; readonly answer: Sent }>> = {
  'takes each message': () => ({ arrives: true, answer: taken }),
  'takes each message, and its first answers are lost': (n) => ({
    arrives: true,
    answer: n < 3 ? { ...away, mayHaveArrived: true } : taken,
  }),
  'is away for a while': (n) => (n < 4 ? { arrives: false, answer: away } : { arrives: true, answer: taken }),
};

const writes = new Set(['commit', 'markTried', 'markRefused', 'remove', 'trim']);

/** After a write is before the next one, unless something is sent in between. */
const isMoment = (call: string, when: 'before' | 'after'): boolean =>
  writes.has(call) && (when === 'before' || call === 'markTried');

/**
 * Three messages on their way to a target; the process is killed at a moment of its life, and started again.
 *
 * @param moment after so many moments nothing happens any more
 * @returns null when it was not killed: its life has fewer moments
 */
async function killedAt(moment: number, behaviour: (typeof behaviours)[string]): Promise<readonly Received[] | null> {
  await using scratch = await scratchDirectory();
  const received: Received[] = [];
  let sendings = 0;
  let isDead = false;
  let at = noon;
  const live = async (
    work: (here: Awaited<ReturnType<typeof desk>>) => Promise<void>,
    dies: boolean,
  ): Promise<void> => {
    await using here = await desk(scratch.path, [target('a', { on: ['needs_you', 'folder_away'] })], at);
    let moments = 0;
    let isBegun = false;
    // Nothing that a dead process does is seen: neither by the ledger nor by the target.
    here.world.atLedger = (call, when) => {
      if (dies && isBegun && isMoment(call, when)) isDead ||= moments++ === moment;
      if (isDead) throw new Error(`killed ${when} ${call}`);
    };
    here.world.answer = (_, message) => {
      if (isDead) return away;
      const { arrives, answer } = behaviour((sendings += 1));
      const { id, isRepeat, title, body } = message;
      if (arrives) received.push({ id, isRepeat, text: `${title}\n${body}` });
      return answer;
    };
    // What happened before the very first start is no news.
    await here.settle();
    isBegun = true;
    await work(here);
    at = here.world.now;
  };
  await live(async (here) => {
    await here.becomes('f_1', held);
    await here.pass(minute, minute / 2);
    await here.becomes('f_2', { ...held, lastFailure: { ...failure('permanent'), code: 'other' } });
    here.world.frozen = ['/in'];
    await here.pass(3 * minute, minute / 2);
  }, true);
  if (!isDead) return null;
  isDead = false;
  await live(async (here) => {
    here.world.frozen = ['/in'];
    await here.pass(3 * minute, minute / 2);
  }, false);
  return received;
}

describe.each(Object.entries(behaviours))('a target that %s', (_, behaviour) => {
  test('gets every message, wherever dropcast is killed; one that comes twice says so, and has the id of the first', async () => {
    const news = ['f_1.mp4 needs you', 'f_2.mp4 needs you', '/in waits'];
    let moment = 0;
    for (; ; moment += 1) {
      const received = await killedAt(moment, behaviour);
      if (received === null) break;
      for (const each of news) {
        const having = received.filter(({ text }) => text.includes(each));
        expect({ moment, each, times: having.length }).not.toEqual({ moment, each, times: 0 });
        const [first, ...again] = having;
        for (const repeat of again)
          expect({ moment, ...repeat }).toMatchObject({ moment, id: first?.id, isRepeat: true });
      }
    }
    expect(moment).toBeGreaterThan(10);
  });
});

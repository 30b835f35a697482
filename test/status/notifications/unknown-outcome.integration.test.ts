import { expect, test } from 'vitest';
import { OutcomeUnknownError } from '../../../src/pipeline/file/store-errors.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { away, desk, settledDesk, held, minute, taken, target } from './desk.ts';

test.each(['file', 'folder', 'both'] as const)(
  'when the ledger was cut off in a COMMIT that it did, the result of a %s is reported once',
  async (what) => {
    await using scratch = await scratchDirectory();
    await using here = await desk(scratch.path, [target('a', { on: ['needs_you', 'folder_away'] })]);
    await here.settle();
    here.world.answer = () => away;
    // The first two messages are posted, and nobody is told so.
    let lost = 0;
    here.world.atLedger = (call, moment) => {
      if (call === 'commit' && moment === 'after' && lost++ < 2) throw new OutcomeUnknownError();
    };
    if (what !== 'folder') await here.becomes('f_1', held);
    if (what !== 'file') here.world.frozen = ['/in'];
    await here.pass(20 * minute, minute / 2);
    expect(lost).toBeGreaterThan(0);
    expect(await here.ledger.news.waiting('a', 99)).toHaveLength(what === 'both' ? 2 : 1);
    here.world.answer = () => taken;
    await here.pass(20 * minute, minute / 2);
    expect(await here.ledger.news.waiting('a', 99)).toEqual([]);
  },
);

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
  'a message that is given up is counted once, also when the ledger refuses in between (write %i)',
  async (nth) => {
    await using scratch = await scratchDirectory();
    await using here = await desk(scratch.path, [target('a', { on: ['needs_you'] })]);
    await here.settle();
    let isRefused = true;
    let writes = 0;
    here.world.answer = () =>
      isRefused
        ? { ok: false, why: 'answered 400', mayHaveArrived: false, isRefusal: true }
        : { ok: true, answer: 'answered 200' };
    await here.becomes('f_1', held);
    here.world.atLedger = (call, moment) => {
      if (moment === 'before' && call === 'commit' && writes++ === nth) throw new OutcomeUnknownError();
    };
    await here.pass(120 * minute, minute / 2);
    isRefused = false;
    await here.becomes('f_2', { ...held, lastFailure: { ...held.lastFailure, code: 'other' } as never });
    await here.pass(120 * minute, minute / 2);
    expect(
      here.sent.filter(({ isRepeat }) => !isRepeat).flatMap(({ body }) => /And \d+ older.*/.exec(body) ?? []),
    ).toEqual(['And 1 older message was dropped.']);
  },
);

test('a message that the ledger took, and said nothing, is sent without waiting for other news', async () => {
  await using here = await settledDesk([target('a', { on: ['needs_you'] })]);
  let lost = 0;
  here.world.atLedger = (call, moment) => {
    if (call === 'commit' && moment === 'after' && lost++ === 0) throw new OutcomeUnknownError();
  };
  await here.becomes('f_1', held);
  await here.pass(20 * minute, minute / 2);
  expect(here.sent).toHaveLength(1);
});

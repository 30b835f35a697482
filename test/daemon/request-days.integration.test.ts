import { expect, test } from 'vitest';
import { requestMarks, requestsByDay, withMark, type DayMark } from '../../src/daemon/request-days.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const at = (day: number, hour = 0, minute = 0): number => new Date(2026, 10, day, hour, minute).getTime();

test('each day is marked once, at its first look, and thirty-two days are kept', () => {
  let marks: readonly DayMark[] = [];
  for (let day = 1; day <= 40; day += 1)
    for (const hour of [0, 12, 23]) marks = withMark(marks, { at: at(day, hour), total: day * 100 + hour });
  expect(marks).toHaveLength(32);
  expect(marks.at(-1)).toEqual({ at: at(40), total: 4_000 });
});

test('a total that is not loaded yet marks nothing, and neither does a clock that was set back', () => {
  const marks = [{ at: at(2), total: 500 }];
  expect(withMark(marks, { at: at(3), total: 0 })).toBe(marks);
  expect(withMark(marks, { at: at(1), total: 600 })).toBe(marks);
});

test('requests count for the day on which dropcast sent them, also if it was stopped for days', () => {
  const marks = [
    { at: at(1, 9), total: 100 },
    { at: at(2), total: 150 },
    { at: at(6, 8), total: 190 },
  ];
  expect([...requestsByDay(marks, { at: at(6, 12), total: 197 })]).toEqual([
    [at(1), 50],
    [at(2), 40],
    [at(6), 7],
  ]);
  // The budget's row was damaged and began again.
  expect(requestsByDay(marks, { at: at(6, 12), total: 3 }).get(at(6))).toBe(0);
});

test('a damaged record counts as none', async () => {
  await using scratch = await scratchDirectory();
  await using ledger = await openLedger(scratch.file('state'));
  for (const record of [{ marks: 'many' }, { marks: [null, { at: 'x' }, { at: 1, total: null }] }]) {
    await ledger.saveNote('requests at the start of days', record);
    expect(await requestMarks(ledger)).toEqual([]);
  }
});

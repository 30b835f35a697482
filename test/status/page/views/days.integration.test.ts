import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Daemon } from '../../../../src/daemon/daemon.ts';
import { openLedger } from '../../../../src/ledger/ledger.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { days } from '../../../../src/status/page/views/days.ts';
import { createDays, startsOf } from '../../../../src/view/days.ts';
import { ready, someFacts } from '../../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../../support/scratch-directory.ts';
import { someWorld } from '../some-world.ts';
import { wordsOf } from '../words-of.ts';

const now = new Date(2026, 10, 22, 14, 2).getTime();
const minute = 60_000;
const on = (day: number, hour: number): number => new Date(2026, 10, day, hour).getTime();
let scratch: ScratchDirectory;
let ledger: Ledger;

const insert = (id: string, endedAt: number, tookMs: number, more: object = {}) =>
  ledger.insert(
    someFacts({
      ...ready,
      id,
      path: `${id}.mp4`,
      videoId: `v_${id}`,
      discoveredAt: endedAt - tookMs,
      end: 'done',
      endedAt,
      ...more,
    }),
  );

beforeAll(async () => {
  scratch = await scratchDirectory();
  ledger = await openLedger(scratch.file('state'));
  // Twenty files of the 20th took 1 to 20 minutes.
  for (let n = 1; n <= 20; n += 1) await insert(`a${n}`, on(20, 0) + n, n * minute);
  await insert('edge', on(21, 0) - 1, 99 * minute);
  await insert('next', on(21, 0), 3 * minute);
  await insert('bad', on(21, 5), minute, { end: 'failed', videoId: null, readyAt: null });
  await insert('old', on(1, 5) - 30 * 24 * 60 * minute, minute);
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await scratch[Symbol.asyncDispose]();
});

test('a day counts what ended between its midnights, with the median and the 95th percentile', async () => {
  const all = await createDays(ledger)(now);
  expect(all).toHaveLength(30);
  const of = (day: number) => all.find(({ at }) => at === on(day, 0));
  expect(of(20)).toMatchObject({ done: 21, failed: 0, medianMs: 11 * minute, p95Ms: 20 * minute });
  expect(of(21)).toMatchObject({ done: 1, failed: 1, medianMs: 3 * minute, p95Ms: 3 * minute });
  expect(of(22)).toMatchObject({ done: 0, medianMs: null, p95Ms: null });
  expect(all.reduce((sum, { done }) => sum + done, 0)).toBe(22);
});

test('a day that was counted is not counted again by the next view', async () => {
  let asked = 0;
  const counted = createDays({
    counts: (wanted) => {
      asked += 1;
      return ledger.counts(wanted);
    },
    doneAfter: ledger.doneAfter,
  });
  await counted(now);
  await counted(now);
  expect(asked).toBe(30);
});

test.each(['2026-03-31T12:00', '2026-11-03T12:00'])('thirty days before %s begin at midnight, each once', (text) => {
  const starts = startsOf(new Date(text).getTime());
  expect(new Set(starts.map((at) => new Date(at).toDateString())).size).toBe(30);
  expect(starts.every((at) => new Date(at).getHours() === 0)).toBe(true);
});

test('each figure is a chart with a table, and requests are those of the marks', async () => {
  await ledger.saveNote('requests at the start of days', {
    marks: [
      { at: on(20, 0), total: 1_000 },
      { at: on(21, 0), total: 1_240 },
    ],
  });
  const daemon = { ledger, gate: { snapshot: () => ({ total: 1_250 }) } } as unknown as Daemon;
  const view = await days(someWorld(daemon, { now }));
  const html = String(await view.body);
  expect(html.match(/<svg/g)).toHaveLength(5);
  expect(html.match(/<table/g)).toHaveLength(5);
  expect(html).toContain('Median time from drop to done from 2026-10-24 to 2026-11-22, most on 2026-11-20 with 11 min');
  expect(await wordsOf(view)).toMatch(/2026-11-21 10 2026-11-20 240/);
});

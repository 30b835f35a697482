import { expect, test } from 'vitest';
import { createUploads } from '../../../src/pipeline/steps/uploads.ts';
import { someVersion } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const version = { ...someVersion, size: 99_000 };

function open() {
  const clock = new TestClock();
  const uploads = createUploads(clock);
  const sent = new Map<string, number>();
  const send = (id: string, bytes: number): void => {
    const all = (sent.get(id) ?? 0) + bytes;
    sent.set(id, all);
    uploads.progressed({ id, version }, all);
  };
  /** Both send so much each second. */
  const pass = (seconds: number, ids: readonly string[], bytesEach: number): void => {
    for (let n = 0; n < seconds; n += 1) {
      clock.advance(1_000);
      for (const id of ids) send(id, bytesEach);
    }
  };
  return { clock, uploads, send, pass };
}

test('nothing is known before anything was sent', () => {
  const { uploads, clock, send } = open();
  expect(uploads.bytesPerSecond()).toBeNull();
  send('f_1', 0);
  clock.advance(10);
  expect(uploads.bytesPerSecond()).toBeNull();
});

test('is what all uploads send together, soon after they began', () => {
  const { uploads, pass, send } = open();
  send('f_1', 0);
  send('f_2', 0);
  pass(2, ['f_1', 'f_2'], 500);
  expect(uploads.bytesPerSecond()).toBe(1_000);
  pass(60, ['f_1', 'f_2'], 500);
  expect(uploads.bytesPerSecond()).toBeCloseTo(1_000, -1);
});

test('hours without an upload do not make it slower', () => {
  const { uploads, pass, send, clock } = open();
  send('f_1', 0);
  pass(60, ['f_1'], 500);
  uploads.ended('f_1');
  clock.advance(7_200_000);
  expect(uploads.bytesPerSecond()).toBeCloseTo(500);
  send('f_2', 0);
  pass(1, ['f_2'], 500);
  expect(uploads.bytesPerSecond()).toBeCloseTo(500);
});

test('a line that stalls or gets faster shows within half a minute', () => {
  const { uploads, pass, send, clock } = open();
  send('f_1', 0);
  pass(60, ['f_1'], 1_000);
  pass(30, ['f_1'], 5_000);
  expect(uploads.bytesPerSecond()).toBeGreaterThan(4_000);
  for (let n = 0; n < 6; n += 1) {
    clock.advance(5_000);
    uploads.bytesPerSecond();
  }
  expect(uploads.bytesPerSecond()).toBeLessThan(500);
});

test('an upload that begins again does not count as bytes that were taken back', () => {
  const { uploads, pass, send } = open();
  send('f_1', 0);
  pass(60, ['f_1'], 1_000);
  uploads.progressed({ id: 'f_1', version }, 0);
  expect(uploads.bytesPerSecond()).toBeCloseTo(1_000);
});

test('a line that stalled unobserved is as slow as if it had been observed all the time', () => {
  const { uploads, pass, send, clock } = open();
  send('f_1', 0);
  pass(60, ['f_1'], 1_000);
  clock.advance(60_000);
  expect(uploads.bytesPerSecond()).toBeLessThan(10);
});

test('each upload has a speed of its own, and says how long no byte has left', () => {
  const { uploads, pass, send, clock } = open();
  send('f_1', 0);
  expect(uploads.list()).toEqual([{ id: 'f_1', sentBytes: 0, sizeBytes: 99_000, idleMs: 0, bytesPerSecond: null }]);
  pass(20, ['f_1'], 1_000);
  send('f_2', 0);
  pass(20, ['f_1', 'f_2'], 500);
  clock.advance(20_000);
  send('f_2', 0);
  const [first, second] = uploads.list();
  expect(first).toMatchObject({ sentBytes: 30_000, idleMs: 20_000 });
  expect(second).toMatchObject({ sentBytes: 10_000, idleMs: 20_000 });
  expect(first?.bytesPerSecond).toBeLessThan(300);
});

test('an upload that begins again moves, and its speed begins again', () => {
  const { uploads, pass, send } = open();
  send('f_1', 0);
  pass(20, ['f_1'], 1_000);
  uploads.progressed({ id: 'f_1', version }, 0);
  expect(uploads.list()).toEqual([{ id: 'f_1', sentBytes: 0, sizeBytes: 99_000, idleMs: 0, bytesPerSecond: null }]);
  expect(uploads.sentBytes()).toBe(20_000);
  uploads.progressed({ id: 'f_1', version }, 500);
  uploads.ended('f_1');
  expect(uploads.sentBytes()).toBe(20_500);
});

import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Slices } from '../../src/watch/events.ts';

const busyFor = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

test('work is done in order, and the event loop has its turns in between', async () => {
  const slices = new Slices();
  const done: number[] = [];
  for (let n = 0; n < 20; n += 1)
    slices.add(String(n), () => {
      busyFor(4);
      done.push(n);
    });
  expect(done).toEqual([]);
  const atTurns: number[] = [];
  while (done.length < 20) {
    await turn();
    atTurns.push(done.length);
  }
  expect(done).toEqual(Array.from({ length: 20 }, (_, n) => n));
  // More than one slice: each ends after the piece of work in which its time was over.
  expect(atTurns.length).toBeGreaterThan(5);
});

test('a repeated request is served once while it waits, and again after it was served', async () => {
  const slices = new Slices();
  const done: string[] = [];
  const ask = (key: string): void => slices.add(key, () => done.push(key));
  ask('a');
  ask('b');
  ask('a');
  await turn();
  expect(done).toEqual(['a', 'b']);
  ask('a');
  await turn();
  expect(done).toEqual(['a', 'b', 'a']);
});

test('work that brings more work gives others their turn too', async () => {
  const slices = new Slices();
  let count = 0;
  const again = (): void => {
    busyFor(4);
    count += 1;
    if (count < 20) slices.add(String(count), again);
  };
  slices.add('first', again);
  let turns = 0;
  const isOver = (): boolean => count === 20;
  for (; !isOver(); turns += 1) await turn();
  expect(turns).toBeGreaterThan(5);
});

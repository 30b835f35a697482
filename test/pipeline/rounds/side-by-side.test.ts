import { expect, test } from 'vitest';
import { sideBySide } from '../../../src/pipeline/rounds/side-by-side.ts';

const numbers = Array.from({ length: 120 }, (_, n) => n);

test('some are worked on at the same time, all in their order, and no more than 50', async () => {
  const begun: number[] = [];
  let [running, most] = [0, 0];
  const doubled = await sideBySide(numbers, async (n) => {
    begun.push(n);
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return 2 * n;
  });
  expect(begun).toEqual(numbers);
  expect(doubled).toEqual(numbers.map((n) => 2 * n));
  expect(most).toBe(50);
});

test('after one that fails nothing is begun, and what runs beside it ends first', async () => {
  const ended: number[] = [];
  const work = async (n: number): Promise<void> => {
    if (n === 60) throw new Error(`${n} is broken`);
    await new Promise((resolve) => setImmediate(resolve));
    ended.push(n);
  };
  await expect(sideBySide(numbers, work)).rejects.toThrow('60 is broken');
  expect(ended).toEqual(numbers.slice(0, 100).filter((n) => n !== 60));
});

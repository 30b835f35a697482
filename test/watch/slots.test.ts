import { expect, test } from 'vitest';
import { slots } from '../../src/watch/slots.ts';

test('never more tasks than slots run at once, all run, in order', async () => {
  const run = slots(3);
  let running = 0;
  let most = 0;
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 5000 }, (_, index) =>
      run(async () => {
        order.push(index);
        running += 1;
        most = Math.max(most, running);
        await Promise.resolve();
        running -= 1;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(order).toEqual(Array.from({ length: 5000 }, (_, index) => index));
});

test('a task that fails frees its slot', async () => {
  const run = slots(1);
  await expect(run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await run(() => Promise.resolve('next'))).toBe('next');
});

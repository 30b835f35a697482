import { expect, test } from 'vitest';
import { Slots } from '../../../packages/sandbox/src/media/slots.ts';

test('at most two pieces of work run at once, in the order of their coming, and a failed one makes room too', async () => {
  const slots = new Slots(2);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const work = (index: number) =>
    slots.run(async () => {
      begun.push(index);
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      if (index === 2) throw new Error('failed');
    });
  const results = await Promise.allSettled([0, 1, 2, 3, 4, 5].map(work));
  expect(most).toBe(2);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
});

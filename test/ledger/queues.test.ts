import { expect, test } from 'vitest';
import { inside } from '../../src/ledger/sqlite/words.ts';
import { bigBytes } from '../../src/pipeline/file/queue.ts';

// A released index cannot change, so the number stands in it.
test('the lanes and the index of the queues agree which file is big', () => {
  expect(inside.queue).toContain(`(size > ${bigBytes})`);
});

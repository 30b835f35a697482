import { expect, test } from 'vitest';
import { Answers } from '../../../src/daemon/commands/wanted.ts';
import { someFacts } from '../../pipeline/some-facts.ts';

test('files that are left for more reasons than anybody reads are counted together from the twenty-first reason on', () => {
  const answers = new Answers();
  for (let n = 0; n < 5_000; n += 1)
    answers.leave({ facts: someFacts({ path: `${n}.mp4` }), name: null }, `it has video vid_${n} already`);
  const { left } = answers;
  expect(left).toHaveLength(21);
  expect(left.at(-1)).toMatchObject({ files: 4_980, why: 'for other reasons' });
  expect(left.reduce((sum, { files }) => sum + files, 0)).toBe(5_000);
});

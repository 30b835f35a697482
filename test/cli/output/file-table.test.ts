import { expect, test } from 'vitest';
import { whyOf } from '../../../src/cli/output/file-table.ts';
import { viewOf } from '../../../src/daemon/files/file-view.ts';
import { needsPerson } from '../../../src/pipeline/file/reasons.ts';
import { ready, someFacts } from '../../pipeline/some-facts.ts';

test.each([
  ['waiting', 'may not delete it', true],
  ['refused', 'may not delete it', false],
  ['deleted', '', false],
] as const)('a finished file whose local file is %s says why: %s', (disposal, why, isForPerson) => {
  const file = viewOf(null, someFacts({ ...ready, end: 'done', disposal, why: 'may not delete it' }));
  expect([whyOf(file), needsPerson(file)]).toEqual([why, isForPerson]);
});

import { expect, test } from 'vitest';
import { pauseReporter } from '../../src/cli/watch-progress.ts';

test('a pause is reported when it begins, when its reason changes, and when it comes back', () => {
  const lines: string[] = [];
  const report = pauseReporter((text) => lines.push(text));
  const unreachable = { why: 'ECONNREFUSED' };
  const refused = { why: 'the key is\nrefused' };
  for (const pause of [null, unreachable, unreachable, refused, refused, null, null, refused]) report(pause);
  const escaped = expect.stringContaining(String.raw`the key is\nrefused`);
  expect(lines).toEqual([expect.stringContaining('ECONNREFUSED'), escaped, escaped]);
});

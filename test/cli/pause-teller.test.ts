import { expect, test } from 'vitest';
import { pauseTeller } from '../../src/cli/pause-teller.ts';

test('a pause is told when it begins, when its reason changes, and when it comes back', () => {
  const lines: string[] = [];
  const tell = pauseTeller((text) => lines.push(text));
  const away = { why: 'ECONNREFUSED' };
  const refused = { why: 'the key is\nrefused' };
  for (const pause of [null, away, away, refused, refused, null, null, refused]) tell(pause);
  expect(lines).toEqual([
    'Everything waits: ECONNREFUSED',
    String.raw`Everything waits: the key is\nrefused`,
    String.raw`Everything waits: the key is\nrefused`,
  ]);
});

import { expect, test } from 'vitest';
import { lineStream } from '../../../src/cli/output/line-stream.ts';

test('lines become permanent lines one by one, however they are cut into writes', async () => {
  const lines: string[] = [];
  const stream = lineStream({ line: (text) => lines.push(text) });
  stream.write('one\ntw');
  stream.write(Buffer.from('o\n'));
  stream.write('rest');
  await new Promise<void>((resolve) => stream.end(resolve));
  expect(lines).toEqual(['one', 'two', 'rest']);
});

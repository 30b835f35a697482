import { expect, test } from 'vitest';
import { lineStream, permanentLine } from '../../../src/cli/output/permanent-line.ts';

test('our own colours stay and end with the line, everything else is escaped', () => {
  expect(permanentLine('\u{1B}[31mred\u{1B}[2Jx\n')).toBe(`\u{1B}[31mred${String.raw`\x1b[2J`}x\u{1B}[0m`);
  expect(permanentLine('plain')).toBe('plain');
});

test('lines become permanent lines one by one, however they are split into writes', async () => {
  const lines: string[] = [];
  const stream = lineStream({ line: (text) => lines.push(text) });
  stream.write('one\ntw');
  stream.write(Buffer.from('o\n'));
  stream.write('rest');
  await new Promise<void>((resolve) => stream.end(resolve));
  expect(lines).toEqual(['one', 'two', 'rest']);
});

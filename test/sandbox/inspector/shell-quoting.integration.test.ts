import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printCommand, shellWord } from '../../../packages/sandbox/src/inspector/shell-quoting.ts';

async function printed(command: string): Promise<Buffer> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], { encoding: 'buffer' });
  return stdout;
}

const word = (text: string) => printed(`printf %s ${shellWord(text)}`);

test.each([
  '',
  'plain',
  "it's",
  '"$(rm -rf /)`x`\\',
  'two\nlines\n',
  '\n',
  '%s %d \\n',
  'ünï\u{1F600}',
  '\u001b[2J',
  '\u202etxt',
  '-n',
  '~',
  '*',
  '!x',
])('a shell reads the word %j as it is', async (text) => {
  expect((await word(text)).toString()).toBe(text);
});

test('a shell reads any bytes as they are', { timeout: 60_000 }, async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 20 }), async (several) => {
      const buffers = several.map((one) => Buffer.from(one));
      const words = buffers.map((one) => Buffer.from(one.filter((byte) => byte !== 0)));
      expect(await printed(words.map((one) => `printf %s ${shellWord(one)}`).join('; '))).toEqual(Buffer.concat(words));
      expect(await printed(buffers.map(printCommand).join('; '))).toEqual(Buffer.concat(buffers));
    }),
    { numRuns: 40 },
  );
});

test('what is plain stays readable, and no control character gets to the terminal', () => {
  expect(shellWord('{"title":"It\'s"}')).toBe(String.raw`'{"title":"It'\''s"}'`);
  expect(shellWord('a\u001bb')).not.toContain('\u001b');
});

import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { errorDocument, hasDocument, printJson, wantsJson } from '../../../src/cli/output/json.ts';

async function printed(value: object): Promise<string> {
  const stream = new PassThrough();
  printJson(value, stream);
  stream.end();
  return text(stream);
}

test('a document is one line that begins with its version, whatever the value says', async () => {
  expect(await printed({ v: 7, a: 'x\ny' })).toBe('{"v":1,"a":"x\\ny"}\n');
  expect(await printed([1, 2])).toBe('{"v":1,"items":[1,2]}\n');
});

test('big integers become digits, and nothing reaches the terminal', async () => {
  expect(await printed({ ns: 12_345_678_901_234_567_890n, name: '\u{9B}\u202E' })).toBe(
    String.raw`{"v":1,"ns":"12345678901234567890","name":"\u009b\u202e"}` + '\n',
  );
});

test('a stream has a document once one was printed to it, and other output is none', () => {
  const stream = new PassThrough();
  stream.write('Nothing new in the folders.\n');
  expect(hasDocument(stream)).toBe(false);
  printJson({ ok: true }, stream);
  expect(hasDocument(stream)).toBe(true);
});

test.each([
  [1, 'failed'],
  [2, 'usage'],
  [3, 'not_running'],
  [78, 'bad_config'],
  [99, 'failed'],
])('exit code %i is the error %s', (exit, code) => {
  expect(errorDocument('why', exit)).toEqual({ v: 1, error: { code, message: 'why', exit } });
});

test.each([
  [['ls', '--json'], true],
  [['ls'], false],
  [['show', '--', '--json'], false],
])('%j asks for JSON: %s', (argv, isAsked) => {
  expect(wantsJson(argv)).toBe(isAsked);
});

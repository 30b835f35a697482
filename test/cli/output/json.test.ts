import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { printJson, printNdjson } from '../../../src/cli/output/json.ts';

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

test('a stream of values waits for a slow reader', async () => {
  const lines: string[] = [];
  const waiting = { most: 0 };
  const slow = new Writable({
    highWaterMark: 20,
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      waiting.most = Math.max(waiting.most, this.writableLength);
      setImmediate(done);
    },
  });
  await printNdjson(
    Array.from({ length: 200 }, (_, n) => ({ n })),
    slow,
  );
  await new Promise<void>((resolve) => slow.end(resolve));
  expect(lines).toHaveLength(200);
  expect(lines[199]).toBe('{"v":1,"n":199}\n');
  expect(waiting.most).toBeLessThan(100);
});

test('a reader that goes away ends the stream of values quietly', async () => {
  const gone = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  let asked = 0;
  async function* endless() {
    for (;;) {
      asked += 1;
      yield { asked };
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await printNdjson(endless(), gone);
  expect(asked).toBeLessThan(5);
});

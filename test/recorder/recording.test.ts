import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readRecording, RecordingError } from '../../packages/recorder/src/recording.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const at = '2026-01-01T00:00:00.000Z';
const head = JSON.stringify({ kind: 'recording', v: 1, to: 'https://video.example.com/v1', at });

function exchange(number: number, target = `/v1/videos/${number}`): string {
  return JSON.stringify({ kind: 'exchange', number, at, ms: 1, method: 'GET', target, request: { headers: {} } });
}

async function read(text: string): ReturnType<typeof readRecording> {
  await using folder = await scratchDirectory();
  const file = folder.file('recording.ndjson');
  await writeFile(file, text);
  return await readRecording(file);
}

describe('a recording that is read', () => {
  test.each<[string, string, readonly number[], boolean]>([
    ['has exchanges', `${head}\n${exchange(1)}\n${exchange(2)}\n`, [1, 2], false],
    ['has none', `${head}\n`, [], false],
    ['has them in the order in which they began', `${head}\n${exchange(2)}\n${exchange(1)}\n`, [1, 2], false],
    ['lost a part of its last line', `${head}\n${exchange(1)}\n${exchange(2).slice(0, -3)}`, [1], true],
    ['was edited on Windows', `${head}\r\n\r\n${exchange(1)}\r\n`, [1], false],
    [
      'has a line longer than a piece of a file',
      `${head}\n${exchange(1, 'x'.repeat(300_000))}\n${exchange(2)}`,
      [1, 2],
      false,
    ],
    ['has line separators in a text', `${head}\n${exchange(1, '/v1/videos?a=\u2028\u2029')}\n`, [1], false],
  ])('%s', async (_, text, numbers, isTorn) => {
    const recording = await read(text);
    expect(recording.exchanges.map(({ number }) => number)).toEqual(numbers);
    expect(recording.isTorn).toBe(isTorn);
  });

  test.each<[string, string, RegExp]>([
    ['is empty', '', /is not a recording: it has no line of JSON$/],
    ['has a part of one line', head.slice(0, 9), /is not a recording: it has no line of JSON$/],
    ['has a line that is not JSON', `${head}\nx\n${exchange(1)}\n`, /recording.ndjson:2: this line is not JSON$/],
    [
      'is of a later version',
      head.replace('"v":1', '"v":2'),
      /recording.ndjson is a recording of version 2, and this dropcast reads version 1; /,
    ],
    ['is something else', '{"a":1}\n', /recording.ndjson:1: not a line of a recording \(kind: /],
    ['has no head', exchange(1), /recording.ndjson:1: not a line of a recording \(kind: /],
    ['has two heads', `${head}\n${head}\n`, /recording.ndjson:2: not a line of a recording \(kind: /],
  ])('is refused when it %s', async (_, text, message) => {
    const error: unknown = await read(text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RecordingError);
    expect(String(error)).toMatch(message);
  });
});

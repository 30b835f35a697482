import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { MockedUpload } from './uploads.ts';

const run = promisify(execFile);

// Each library patches Node's sockets for its whole process, so each gets one of its own.
describe.each([
  ['MSW', 'with-msw.ts'],
  ['nock', 'with-nock.ts'],
])('under %s', (_, program) => {
  test('a video is created, uploaded whatever its size, and ready', async () => {
    const sizes = [0, 10, 65_536, 5_000_000];
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, program), ...sizes.map(String)]);
    const uploads = JSON.parse(stdout) as readonly MockedUpload[];
    expect(uploads.map(({ uploaded }) => uploaded.sizeBytes)).toEqual(sizes);
    expect(uploads.map(({ received }) => received)).toEqual(uploads.map(({ uploaded }) => uploaded.sha256));
  });
});

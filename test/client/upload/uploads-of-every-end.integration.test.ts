import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { until } from '../../support/until.ts';

// A timer of ten minutes that was armed after the end of an upload kept `dropcast once` alive for 601 s.
test('a program ends when its uploads have ended, by http and https and however they did', async () => {
  const program = fileURLToPath(new URL('uploads-of-every-end.ts', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  await until('the program has ended', () => child.exitCode !== null || child.signalCode !== null, {
    withinMs: 30_000,
    seen: () => output,
  });
  const ends = [
    'taken',
    'UploadServerError',
    'UploadRejectedError',
    'RedirectError',
    'ConnectionError',
    'AbortedError',
  ];
  expect(
    output
      .trim()
      .split('\n')
      .map((line) => line.split(': ')[1]),
  ).toEqual([...ends, ...ends]);
  expect(child.exitCode).toBe(0);
});

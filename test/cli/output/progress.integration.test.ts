import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';

const module = JSON.stringify(new URL('../../../src/cli/output/progress.ts', import.meta.url).href);

const program = `
  const { createProgress } = await import(${module});
  const progress = createProgress(process);
  const totals = { done: 0, failed: 0, held: 0, total: 1, sentBytes: 0, totalBytes: 100 };
  const requests = { used: 1, limit: 1000, waitingUntil: null };
  const file = { id: 'a', name: 'clip.mp4', stage: 'uploading', sentBytes: 0, sizeBytes: 100, why: null };
  for (let sentBytes = 0; sentBytes <= 100; sentBytes += 10) {
    progress.update({ files: [{ ...file, sentBytes }], totals: { ...totals, sentBytes }, requests });
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  progress.line('a permanent line');
  progress.update({ files: [], totals: { ...totals, done: 1, sentBytes: 100 }, requests });
  progress.finish();
`;

/** What a program printed on a pseudo-terminal of 90 by 20. */
async function onTerminal(env: NodeJS.ProcessEnv): Promise<string> {
  const command = `stty cols 90 rows 20; exec "$NODE" --input-type=module -e "$PROGRAM"`;
  const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', NODE: process.execPath, PROGRAM: program, ...env },
  });
  return stdout;
}

test('a real terminal gets a live region in colour, redrawn in place', needs('script'), async () => {
  const text = await onTerminal({});
  expect(text).toContain('\u{1B}[36muploading');
  expect(text).toContain('\u{1B}[2K');
  expect(text).toContain('a permanent line');
  expect(text).toContain('1/1 done   100 B / 100 B');
  expect(text).not.toContain('\u{1B}[?25l');
});

test('NO_COLOR takes the colours, TERM=dumb the live region', needs('script'), async () => {
  expect(await onTerminal({ NO_COLOR: '1' })).not.toMatch(/\p{Cc}\[3\dm/u);
  const dumb = await onTerminal({ TERM: 'dumb' });
  expect(dumb).not.toMatch(/\p{Cc}\[/u);
  expect(dumb).toContain('clip.mp4: uploading (100 B)');
});

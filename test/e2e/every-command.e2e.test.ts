import { appendFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProgram, usageExitCode } from '../../src/cli/program.ts';
import { CommandError } from '../../src/cli/shell.ts';
import { checkPrinted } from '../contract/golden/printed.ts';
import { fakeShell } from '../cli/api/fake-shell.ts';
import { startStation } from './station.ts';
import type { Station } from './station.ts';

let station: Station;
beforeAll(async () => {
  station = await startStation();
  await station.drop('a.mpg');
  await station.drop('sick.mp4', 'short');
  await station.reaches('a.mpg', 'done');
});
afterAll(() => station[Symbol.asyncDispose]());

/** Runs it in this process, as a person would type it. */
async function run(words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const shell = fakeShell({ cwd: station.scratch.path });
  let code = 0;
  const program = createProgram(shell, { version: '1', samples: '/' }, (set) => (code = set));
  try {
    await program.parseAsync(['node', 'dropcast', ...words, '--config', station.scratch.config]);
  } catch (error) {
    code = error instanceof CommandError ? error.exitCode : (usageExitCode(error) ?? Number.NaN);
    shell.err.text += String(error);
  }
  checkPrinted(words, shell.out.text);
  return { code, out: shell.out.text, err: shell.err.text };
}

const onlyDaemon = [
  'status',
  'top --once',
  'ls',
  'ls --counts',
  'show a.mpg',
  'events',
  'failures',
  'suspects',
  'hosts',
  'adopt',
  'audit --plan',
  'audit',
  'retry --all --plan',
  'ignore --state failed --plan',
  'reapply',
  'pause --all',
  'resume --all',
  'publish feed_news',
  'undo',
  'undo --since today',
];

test.each([...onlyDaemon, 'check', 'plan', 'explain inbox/a.mpg', 'reload --plan', 'reload', 'add inbox/a.mpg'])(
  '`%s` works with a running daemon, as text and as JSON',
  async (line) => {
    const text = await run(line.split(' '));
    expect(text).toMatchObject({ code: 0 });
    // A line break of dropcast's own is one.
    expect(text.out).not.toContain('\\n');
    const { code, out } = await run([...line.split(' '), '--json']);
    expect(code).toBe(0);
    for (const document of out.trim().split('\n').filter(Boolean))
      expect(JSON.parse(document)).toMatchObject(line === 'events' ? { v: 1, seq: expect.any(Number) } : { v: 1 });
  },
);

test.each(onlyDaemon)('`%s` works with a running daemon whose configuration is broken now', async (line) => {
  await appendFile(station.scratch.config, 'misspelt: [\n');
  const { code, err } = await run(line.split(' '));
  expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('is broken') });
});

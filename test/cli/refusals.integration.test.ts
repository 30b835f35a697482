import type { Command } from 'commander';
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProgram, usageExitCode } from '../../src/cli/program.ts';
import { CommandError } from '../../src/cli/shell.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { fakeShell } from './api/fake-shell.ts';
import { configText } from '../support/configuration.ts';

/** Command lines that are complete, of the commands that take a configuration and talk to a daemon or its ledger. */
const lines: Readonly<Record<string, { readonly withoutDaemon: number }>> = {
  status: { withoutDaemon: 3 },
  'top --once': { withoutDaemon: 3 },
  ls: { withoutDaemon: 0 },
  'ls --counts': { withoutDaemon: 0 },
  'show nothing.mp4': { withoutDaemon: 1 },
  // What happened before it stopped is in the ledger.
  events: { withoutDaemon: 0 },
  failures: { withoutDaemon: 0 },
  'open --print': { withoutDaemon: 3 },
  'retry nothing.mp4': { withoutDaemon: 3 },
  'first nothing.mp4': { withoutDaemon: 3 },
  'ignore nothing.mp4': { withoutDaemon: 3 },
  'pause --all': { withoutDaemon: 0 },
  'resume --all': { withoutDaemon: 0 },
  'publish feed': { withoutDaemon: 3 },
  'explain in/a.mp4': { withoutDaemon: 0 },
  check: { withoutDaemon: 0 },
  // It asks first, and there is no terminal.
  probe: { withoutDaemon: 2 },
  reload: { withoutDaemon: 3 },
  'reload --plan': { withoutDaemon: 3 },
  'add in/a.mp4': { withoutDaemon: 3 },
  adopt: { withoutDaemon: 0 },
  audit: { withoutDaemon: 0 },
  reapply: { withoutDaemon: 3 },
  suspects: { withoutDaemon: 0 },
  undo: { withoutDaemon: 3 },
  hosts: { withoutDaemon: 0 },
};

const good = configText({ service: { api_key: 'sk_1' }, folders: [{ path: 'in' }] });

/** What came of it: the exit code, and what is on stdout. */
async function run(line: string, text: string | null): Promise<{ code: number; out: string; said: string }> {
  await using scratch = await scratchDirectory();
  for (const name of ['in', 'state']) mkdirSync(scratch.file(name));
  if (text !== null) writeFileSync(scratch.file('dropcast.yaml'), text, { mode: 0o600 });
  const shell = fakeShell({ cwd: scratch.path });
  let code = 0;
  let said = '';
  const program = createProgram(shell, { version: '1', samples: 'test/media' }, (set) => (code = set));
  try {
    await program.parseAsync(['node', 'x', ...line.split(' '), '--json', '-c', scratch.file('dropcast.yaml')]);
  } catch (error) {
    const usage = usageExitCode(error);
    if (!(error instanceof CommandError) && usage === null) throw error;
    code = usage ?? (error as CommandError).exitCode;
    said = (error as Error).message;
  }
  return { code, out: shell.out.text, said: said + shell.err.text };
}

/** Nothing on stdout, so that the error is the one document there; or a document of the command's own. */
function expectForPrograms({ out, said }: { readonly out: string; readonly said: string }): void {
  if (out === '') expect(said).not.toBe('');
  else for (const document of out.trim().split('\n')) expect(JSON.parse(document)).toMatchObject({ v: 1 });
  expect(said).not.toContain('    at ');
}

test.each(Object.keys(lines))('`%s` without a configuration ends with 78', async (line) => {
  const ended = await run(line, null);
  expect(ended.code, ended.said).toBe(78);
  expectForPrograms(ended);
});

test.each(Object.keys(lines))(
  '`%s` with a broken configuration ends with 78, and names file, line and column',
  async (line) => {
    const ended = await run(line, `misspelt: 1\n${good}`);
    expect(ended.code, ended.said).toBe(78);
    expect(ended.said + ended.out).toMatch(/dropcast\.yaml:1:1|"line":1,"column":1/);
    expectForPrograms(ended);
  },
);

test.each(Object.keys(lines))('`%s` with an option that does not exist ends with 2', async (line) => {
  const ended = await run(`${line} --no-such-option`, good);
  expect(ended.code, ended.said).toBe(2);
  expect(ended.out).toBe('');
});

test.each(Object.entries(lines))('`%s` without a daemon ends as documented', async (line, { withoutDaemon }) => {
  const ended = await run(line, good);
  expect(ended.code, ended.said).toBe(withoutDaemon);
  if (withoutDaemon === 3) expect(ended.said).toMatch(/daemon is not running/);
  // No failure is no line.
  if (line !== 'failures') expectForPrograms(ended);
});

test('every command that takes --json and a daemon is in the table', () => {
  const program = createProgram(fakeShell(), { version: '1', samples: '/' }, () => undefined);
  const takes = (command: Command, option: string): boolean => command.options.some(({ long }) => long === option);
  const talking = program.commands.filter((command) => takes(command, '--json') && takes(command, '--config'));
  const elsewhere = new Set(['plan', 'once', 'doctor']); // Read folders or the whole machine: tests of their own.
  const named = new Set(Object.keys(lines).map((line) => line.split(' ')[0]));
  expect(talking.map((command) => command.name()).filter((name) => !elsewhere.has(name) && !named.has(name))).toEqual(
    [],
  );
});

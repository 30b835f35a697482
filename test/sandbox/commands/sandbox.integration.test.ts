import { expect, test } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { fakeShell, type FakeShell } from '../../cli/api/fake-shell.ts';

/** `dropcast sandbox`, which stops as soon as it runs. */
async function sandbox(given: readonly string[], env: Record<string, string> = {}): Promise<FakeShell> {
  const shell = fakeShell({ env });
  shell.stop();
  const program = createProgram(shell, { version: '0', samples: '/' }, () => undefined);
  await program.parseAsync(['node', 'dropcast', 'sandbox', '--port', '0', '--json', ...given]);
  return shell;
}

test.each([
  ['--cors', ['--cors', 'localhost:5173'], 'must be an http or https origin like http://localhost:5173, or *'],
  ['--data', ['--data', ''], 'must not be empty'],
  [
    '--external-url',
    ['--expose', '--external-url', 'sandbox'],
    'must be an http or https origin like https://sandbox:8787, without a path',
  ],
  ['--host', ['--host', '127.0.0.1:80'], 'must be a name or an address without a port'],
  ['--now', ['--now', 'today'], 'must be a time like 2026-11-20T12:00:00Z'],
])('a wrong %s is said in one sentence, by the name under which it was given', async (name, given, what) => {
  await expect(sandbox(given)).rejects.toMatchObject({ exitCode: 2, message: `${name}: ${what}` });
});

test('a wrong token is said by the name of its variable', async () => {
  await expect(sandbox([], { DROPCAST_SANDBOX_TOKEN: 'two words' })).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^\$DROPCAST_SANDBOX_TOKEN: must be /),
  });
});

test.each([
  ['says what is missing if only this machine reaches the address', ['--expose'], 'other machines still cannot reach'],
  ['warns of plain http', ['--expose', '--host', '0.0.0.0'], 'use --tls.'],
  ['warns of plain http behind a proxy', ['--expose', '--external-url', 'https://sandbox.example'], 'use --tls.'],
])('with --expose it %s', async (_what, given, warning) => {
  expect((await sandbox(given)).err.text).toContain(warning);
});

test('without --expose there is nothing to warn of', async () => {
  expect((await sandbox([])).err.text).toBe('');
});

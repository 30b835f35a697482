import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { differenceOf } from '../../../src/cli/setup/place-file.ts';
import { setup } from '../../../src/cli/setup/setup.ts';
import { whyNotReady } from '../../../src/cli/setup/start-service.ts';
import { runSteps } from '../../../src/cli/setup/setup.ts';
import { readUnitState } from '../../../src/cli/setup/systemctl.ts';
import { CommandError } from '../../../src/cli/shell.ts';
import { fakeShell } from '../api/fake-shell.ts';

test('each step says what it did, and the first that fails is named with the command to continue', async () => {
  const shell = fakeShell();
  const done: string[] = [];
  const step = (name: string, result: string | null | Error) => ({
    name,
    run: async () => {
      done.push(name);
      if (result instanceof Error) throw result;
      return result;
    },
  });
  const steps = [
    step('Key', 'wrote \u001b[31mit'),
    step('Silent', null),
    step('Unit', new CommandError('no room', 1)),
    step('Never', 'x'),
  ];
  const failed = runSteps(shell, steps, '`sudo dropcast setup`');
  await expect(failed).rejects.toMatchObject({
    exitCode: 1,
    message:
      'setup stopped at this step: Unit\nno room\nFix this, then run `sudo dropcast setup` again: it continues here.',
  });
  expect(shell.out.text).toBe('Key: wrote \\x1b[31mit\n');
  expect(done).toEqual(['Key', 'Silent', 'Unit']);
});

test('a bug in a step is not explained away', async () => {
  const bug = { name: 'Key', run: () => Promise.reject(new TypeError('bug')) };
  await expect(runSteps(fakeShell(), [bug], 'x')).rejects.toThrow(TypeError);
});

test('Ctrl-C ends the set-up before the next step', async () => {
  const shell = fakeShell();
  shell.stop();
  await expect(runSteps(shell, [{ name: 'Key', run: async () => 'x' }], 'y')).rejects.toThrow(
    'stopped at this step: Key',
  );
});

test('what systemd says of a unit is read with the moment of its start', () => {
  const text =
    'LoadState=loaded\nActiveState=active\nUnitFileState=enabled\nNeedDaemonReload=yes\nExecMainStartTimestamp=Sun 2026-11-22 17:22:33.123456 UTC\n';
  expect(readUnitState(text)).toEqual({
    isLoaded: true,
    isActive: true,
    isEnabled: true,
    needsReload: true,
    startedAt: Date.UTC(2026, 10, 22, 17, 22, 33, 123),
  });
  expect(readUnitState('LoadState=not-found\nExecMainStartTimestamp=\n')).toMatchObject({
    isLoaded: false,
    startedAt: 0,
  });
});

const folder = {
  path: '/in',
  why: null,
  paths: {},
  accounts: {},
  refused: null,
  left_out: { files: 0, media: 0, extensions: [], paths: [] },
};
test.each([
  ['watched', { folders: [{ ...folder, state: 'watching' }], waiting: null }, null],
  ['scanned only', { folders: [{ ...folder, state: 'scanning' }], waiting: null }, null],
  ['not there yet', { folders: [{ ...folder, state: 'starting' }], waiting: null }, '/in is starting'],
  ['frozen', { folders: [{ ...folder, state: 'frozen', why: 'away' }], waiting: null }, '/in is frozen: away'],
  ['offline', { folders: [{ ...folder, state: 'watching' }], waiting: { why: 'no network' } }, 'waits: no network'],
  ['without folders', { folders: [], waiting: null }, 'it watches no folder'],
])('a daemon that is active is ready or not: %s', (_, status, why) => {
  expect(whyNotReady(status as unknown as Parameters<typeof whyNotReady>[0])).toBe(why);
});

test.each([
  ['a\nb\nc', 'a\nb\nc', []],
  ['a\nb\nc', 'a\nx\nc', ['- b', '+ x']],
  ['a\nc', 'a\nb\nc', ['+ b']],
  ['a\nb\nb\nc', 'b\nc', ['- a', '- b']],
  ['', 'a', ['+ a']],
])('the difference of %j and %j', (before, after, lines) => {
  expect(differenceOf(before, after)).toEqual(lines);
});

test.skipIf(existsSync('/run/systemd/system'))('without systemd the set-up says what works instead', async () => {
  await expect(setup('', fakeShell(), {})).rejects.toThrow(
    '`dropcast init` writes a configuration, and `dropcast run` works with it',
  );
});

import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { top } from '../../../src/cli/look/top.ts';
import type { TopOptions } from '../../../src/cli/look/top.ts';
import { somePicture } from '../../view/picture/some-picture.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { fakeShell } from '../api/fake-shell.ts';
import { Terminal } from '../output/terminal.ts';
import { writeConfig } from '../../support/configuration.ts';
import { servedControl } from '../../daemon/served-control.ts';

/** A configuration whose socket is that of a daemon that has nothing but a picture. */
async function desk() {
  const stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  mkdirSync(scratch.file('state'));
  const config = await writeConfig(scratch);
  const serve = async (text: string): Promise<AsyncDisposable> => {
    const daemon = {
      ledger: {},
      picture: async () => somePicture({ sentence: { level: 'ok', text } }),
      config: () => ({ stateDir: scratch.file('state'), folders: [] }),
    };
    return servedControl(daemon, scratch.file('state', 'dropcast.sock'));
  };
  const terminal = new Terminal(60, 30);
  const keyboard = Object.assign(fakeShell().keyboard, { isTTY: true, setRawMode: () => keyboard });
  const shell = fakeShell({ env: { KEY: 'k', NO_COLOR: '1' }, isTerminal: true });
  const onTerminal = Object.assign(shell, { stdout: terminal.stream, stdin: keyboard as unknown as NodeJS.ReadStream });
  const begin = (options: Partial<TopOptions> = {}, on = onTerminal) => top(on, { config, interval: 1, ...options });
  return { serve, begin, terminal, keyboard, shell: onTerminal, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('without a terminal top prints the picture once', async () => {
  await using place = await desk();
  await using daemon = await place.serve("All 3 of today's files are live.");
  void daemon;
  const shell = fakeShell({ env: { KEY: 'k' } });
  await place.begin({}, shell);
  expect(shell.out.text.split('\n')[0]).toBe("All 3 of today's files are live.");
});

test('without a daemon top ends with exit code 3', async () => {
  await using place = await desk();
  await expect(place.begin()).rejects.toMatchObject({ exitCode: 3 });
});

test.each(['q', '\u0003', '\u001B'])('top draws on a terminal until the key %j', async (key) => {
  await using place = await desk();
  await using daemon = await place.serve('Nothing to do.');
  void daemon;
  const done = place.begin();
  await until('it is drawn', () => place.terminal.screen[0] === 'Nothing to do.');
  place.keyboard.write(key);
  await done;
  expect(place.terminal.screen.at(-1)).toBe('q quits, arrows scroll');
});

test('top says that the daemon is gone, keeps its last state, and resumes when it is back', async () => {
  await using place = await desk();
  const first = await place.serve('The first.');
  const done = place.begin();
  await until('it is drawn', () => place.terminal.screen[0] === 'The first.');
  await first[Symbol.asyncDispose]();
  await until('it is said', () => /^The daemon has been gone since \d\d:\d\d/.test(place.terminal.screen.at(-1) ?? ''));
  expect(place.terminal.screen[0]).toBe('The first.');
  await using second = await place.serve('The second.');
  void second;
  await until('it goes on', () => place.terminal.screen[0] === 'The second.');
  place.terminal.resize(20);
  await until('it fits', () => place.terminal.screen.every((line) => line.length < 20));
  place.shell.stop();
  await done;
});

test('stopped by Ctrl-Z, top releases the terminal, and takes it again when it resumes', async () => {
  await using place = await desk();
  await using daemon = await place.serve('Nothing to do.');
  void daemon;
  const [modes, suspended] = [[] as boolean[], [] as string[]];
  const calls = { leave: (): void => undefined, comeBack: (): void => undefined };
  const shell = Object.assign(place.shell, {
    aroundSuspension: (leave: () => void, comeBack: () => void) => {
      Object.assign(calls, { leave, comeBack });
      return { suspend: () => suspended.push('Ctrl-Z'), [Symbol.dispose]: () => suspended.push('over') };
    },
  });
  Object.assign(place.keyboard, { setRawMode: (isRaw: boolean) => (modes.push(isRaw), place.keyboard) });
  const done = place.begin({}, shell);
  await until('it is drawn', () => place.terminal.screen[0] === 'Nothing to do.');
  place.keyboard.write('\u001A');
  await until('the key is heard', () => suspended.length === 1);
  calls.leave();
  expect(modes).toEqual([true, false]);
  calls.comeBack();
  expect(modes.at(-1)).toBe(true);
  place.keyboard.write('q');
  await done;
  expect([modes.at(-1), suspended]).toEqual([false, ['Ctrl-Z', 'over']]);
});

test('with --json top prints a line each time, until the first signal', async () => {
  await using place = await desk();
  await using daemon = await place.serve('Nothing to do.');
  void daemon;
  const shell = fakeShell({ env: { KEY: 'k' } });
  const done = place.begin({ json: true }, shell);
  await until('some are there', () => shell.out.text.split('\n').length > 3);
  shell.stop();
  await done;
  for (const line of shell.out.text.trim().split('\n'))
    expect(JSON.parse(line)).toMatchObject({ v: 1, sentence: { text: 'Nothing to do.' } });
});

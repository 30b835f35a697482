import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '@dropcast/sandbox';
import type { Sandbox } from '@dropcast/sandbox';
import { init } from '../../../src/cli/setup/init.ts';
import { matching } from '../../../src/cli/setup/questions.ts';
import { questionsOf } from '../../../src/cli/setup/questions.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { fakeShell } from '../api/fake-shell.ts';
import type { FakeShell } from '../api/fake-shell.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

/** Types each answer once its question is on the screen. */
async function converse(
  shell: FakeShell,
  talk: readonly (readonly [question: string, answer: string])[],
): Promise<void> {
  let seen = 0;
  for (const [question, answer] of talk) {
    const isAsked = (): boolean => shell.err.text.indexOf(question, seen) >= 0;
    await until(`the question ${question}`, isAsked, { seen: () => shell.err.text.slice(-500) });
    seen = shell.err.text.lastIndexOf(question) + question.length;
    shell.keyboard.write(answer);
  }
}

test.each([
  ['a terminal', 'xterm'],
  ['a terminal that cannot move its cursor', 'dumb'],
])('init asks on %s, says at once what cannot be used, and writes the files after the last answer', async (_, term) => {
  await using scratch = await scratchDirectory();
  const env = { TERM: term, XDG_STATE_HOME: scratch.file('xdg') };
  const shell = fakeShell({ isTerminal: true, cwd: scratch.path, env });
  // A pipe into stderr does not end it (stream.pipe); into any other stream it would.
  Object.assign(shell.err, { end: () => shell.err });
  const enter = term === 'dumb' ? '\n' : '\r';
  const done = init(shell, {});
  const talk = converse(shell, [
    ['Address of the API', `non sense${enter}`],
    ['not a web address', ''],
    ['Address of the API', `${sandbox.baseUrl}${enter}`],
    ['API key', `wrong${enter}`],
    ['does not accept this key', ''],
    ['API key', `${sandbox.apiKey}${enter}`],
    ['Folder to watch', `inbox${enter}`],
    ['Channel of its videos', term === 'dumb' ? `news${enter}` : 'news'],
    ...(term === 'dumb' ? [] : ([['ch_news', enter]] as const)),
    ['Feed to publish', term === 'dumb' ? `1${enter}` : enter],
  ]);
  await Promise.race([talk, done]);
  await until('the title is prompted for', () => shell.err.text.includes('Title of each video'));
  expect(existsSync(scratch.file('dropcast.yaml'))).toBe(false);
  expect(existsSync(scratch.file('dropcast.key'))).toBe(false);
  shell.keyboard.write(enter);
  await done;
  expect(await readFile(scratch.file('dropcast.yaml'), 'utf8')).toContain('channel: ch_news # ');
  expect(await readFile(scratch.file('dropcast.key'), 'utf8')).toBe(`${sandbox.apiKey}\n`);
  expect((await stat(scratch.file('dropcast.key'))).mode & 0o777).toBe(0o600);
  expect(shell.err.text + shell.out.text).not.toContain(sandbox.apiKey);
});

test.each([
  ['a terminal', 'xterm'],
  ['a terminal that cannot move its cursor', 'dumb'],
])('Ctrl-C on %s ends init before anything is written', async (_, term) => {
  await using scratch = await scratchDirectory();
  const shell = fakeShell({ isTerminal: true, cwd: scratch.path, env: { TERM: term } });
  const done = init(shell, { service: sandbox.baseUrl });
  const refused = expect(done).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('stopped before anything was written'),
  });
  await until('the key is prompted for', () => shell.err.text.includes('API key'));
  shell.keyboard.write(term === 'dumb' ? '\u0003\n' : '\u0003');
  await refused;
  expect(existsSync(scratch.file('dropcast.yaml'))).toBe(false);
});

test('there are no questions when input or output is not a terminal', () => {
  expect(questionsOf(fakeShell())).toBeNull();
});

test('a list is filtered by any part of the name or the id, whatever its case', () => {
  const choices = [
    { value: 'ch_1', label: 'Evening News (ch_1)' },
    { value: 'ch_2', label: 'Sports (ch_2)' },
  ];
  expect(matching(choices, ' NEWS ')).toEqual([choices[0]]);
  expect(matching(choices, 'ch_2')).toEqual([choices[1]]);
  expect(matching(choices, '')).toEqual(choices);
});

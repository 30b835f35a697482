import { expect, test } from 'vitest';
import { createProgram, usageExitCode } from '../../../src/cli/program.ts';
import { CommandError } from '../../../src/cli/shell.ts';
import { fakeShell } from './fake-shell.ts';

/** Nothing listens there: what gets so far fails with exit code 1. */
const nowhere = ['--base-url', 'http://127.0.0.1:9/v1'];

/** Runs a command line in this process. */
async function type(...args: readonly string[]) {
  const shell = fakeShell({ env: { DROPCAST_API_KEY: 'sk_test_0123456789' } });
  let code = 0;
  let sentence = '';
  const program = createProgram(shell, { version: '1', samples: '/' }, (set) => (code = set));
  await program.parseAsync(['node', 'dropcast', ...args]).catch((error: unknown) => {
    const usage = usageExitCode(error);
    if (usage === null && !(error instanceof CommandError)) throw error;
    code = usage ?? (error as CommandError).exitCode;
    sentence = (error as Error).message;
  });
  return { code, stdout: shell.out.text, stderr: shell.err.text, sentence };
}

test('all commands are named in groups, what is used most a line each, on one screen', async () => {
  const { stdout } = await type('--help');
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(45);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  const titles = lines.filter((line) => /^\S.*:$/.test(line));
  expect(titles).toEqual(['Look:', 'Act:', 'Set up and configure:', 'Run, or try it out:']);
  const [first, last] = [lines.indexOf('Look:'), lines.findIndex((line) => line.startsWith('Less often: '))];
  expect(lines.slice(last, last + 3)).toEqual([
    'Less often: first, add, adopt, audit, reapply, undo, suspects, hosts, ledger,',
    'notify, systemd',
    'The API of the service: videos, channels, feeds, analytics',
  ]);
  for (const line of lines.slice(first, last))
    expect(line).toMatch(/^(?:|\S.*:| {2}[a-z]+(?: [<[][a-z.]+[>\]])? +\S.*)$/);
});

test.each(['videos', 'channels', 'feeds', 'analytics'])('`dropcast %s` alone shows its help', async (group) => {
  const { code, stderr } = await type(group);
  expect(stderr).toContain(`Usage: dropcast ${group} [options] [command]`);
  expect(code).toBe(2);
});

const leaves = [
  'videos list',
  'videos get',
  'videos create',
  'videos import',
  'videos upload',
  'videos update',
  'videos delete',
  'channels list',
  'channels update',
  'feeds list',
  'feeds publish',
  'analytics video',
  'analytics videos',
  'analytics overview',
];

test.each(leaves)(
  '`dropcast %s --help` has its own example and says where the service address comes from',
  async (leaf) => {
    const { code, stdout } = await type(...leaf.split(' '), '--help');
    expect(code).toBe(0);
    expect(stdout).toContain(`Example:\n  $ dropcast ${leaf}`);
    for (const option of ['--json', '--config', '--base-url', '$DROPCAST_API_KEY', '--ca'])
      expect(stdout).toContain(option);
  },
);

test('the help of create says that the upload address is a secret', async () => {
  expect((await type('videos', 'create', '--help')).stdout.replaceAll(/\s+/g, ' ')).toContain(
    'The address is a secret',
  );
});

test.each([
  [['videos', 'list', '--status', 'pending'], 'Allowed choices are processing, ready, failed'],
  [['videos', 'list', '--limit', '0'], 'Write a whole number from 1'],
  [['videos', 'list', '-n', '1e9'], 'Write a whole number from 1'],
  [['videos', 'list', 'vid_1'], 'too many arguments'],
  [['videos', 'get'], "missing required argument 'id'"],
  [['videos', 'create'], "required option '--title <text>' not specified"],
  [['videos', 'import', 'https://example.com/a.mp4'], "required option '--title <text>' not specified"],
  [['videos', 'import', 'a.mp4', '--title', 'A'], 'not a web address'],
  [['videos', 'upload', '/nowhere/clip.mp4'], 'cannot upload /nowhere/clip.mp4: no such file'],
  [['videos', 'upload', 'Caf\ufffd.mp4'], 'its name is not UTF-8; rename it'],
  [['videos', 'upload', ''], 'name is empty'],
  [['videos', 'get', '..'], '".." is not an id'],
  [['videos', 'update', 'vid_1'], 'nothing to change'],
  [
    ['videos', 'update', 'vid_1', '--tag', 'a', '--no-tags'],
    "option '--no-tags' cannot be used with option '--tag <tag>'",
  ],
  [['videos', 'delete', 'vid_1'], 'pass --yes'],
  [['videos', 'destroy', 'vid_1'], "unknown command 'destroy'"],
  [['channels', 'update', 'ch_1'], 'nothing to change'],
  [['channels', 'update', 'ch_1', '--player-settings', '[]'], 'must be a JSON object'],
  [['analytics', 'video', 'vid_1', '--from', '2026-02-30'], 'no such date'],
  [['analytics', 'overview', '--from', '2026-03-02', '--to', '2026-03-01'], 'ends before'],
])('%j is wrong usage, found without a request to the service', async (args, why) => {
  const { code, stdout, sentence, stderr } = await type(...args, ...nowhere);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(sentence + stderr).toContain(why);
});

test.each(['videos', 'channels'])('`dropcast %s update` without changes looks for no configuration', async (group) => {
  expect(await type(group, 'update', 'id_1')).toMatchObject({
    code: 2,
    sentence: expect.stringMatching(/^nothing to/),
  });
});

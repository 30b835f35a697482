import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inspectSurroundings } from '../../src/config/inspect.ts';
import { formatProblem, type Problem } from '../../src/config/load.ts';
import { canBeRefused, problemsAsNobody } from './as-nobody.ts';
import { scratch, type Scratch } from './scratch.ts';

let here: Scratch;
beforeEach(async () => {
  here = await scratch();
  await chmod(here.path, 0o755);
});
afterEach(() => here[Symbol.asyncDispose]());

const configOf = (folders: readonly string[], more: string): string => `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
folders:
${folders.map((folder) => `  - ${folder}\n    rules: [{ match: "**", channel: ch_main }]\n`).join('')}${more}`;

const inWords = (problems: readonly Problem[]): string[] =>
  problems.map((problem) => formatProblem(problem, here.path).replaceAll(here.path, '').replace('dropcast.yaml:', ''));

/** The problems of a configuration with these folders, as an operator reads them. */
async function inspected(folders: readonly string[], more = 'state_dir: state\n'): Promise<string[]> {
  const { config, problems, locate } = await here.load(configOf(folders, more));
  if (config === null) throw new Error(inWords(problems).join());
  return inWords(await inspectSurroundings(config, locate));
}

/** The same for a user who may not do everything. */
async function inspectedAsNobody(folders: readonly string[], more = 'state_dir: state\n'): Promise<string[]> {
  const file = await here.write('dropcast.yaml', configOf(folders, more), 0o644);
  return inWords(await problemsAsNobody(file, here.around));
}

const folder = async (name: string, mode = 0o777): Promise<void> => {
  await mkdir(join(here.path, name), { recursive: true });
  await chmod(join(here.path, name), mode);
};

it('finds nothing wrong with a folder and a state directory that are there', async () => {
  await folder('inbox');
  await folder('state');
  expect(await inspected(['path: inbox'])).toEqual([]);
});

it('says that a folder is missing, is none, or cannot be reached', async () => {
  await folder('state');
  await writeFile(join(here.path, 'file'), '');
  expect(await inspected(['path: nowhere', 'path: file', 'path: file/below'])).toEqual([
    '5:11 folders[0].path: /nowhere does not exist; create it, or mount what belongs there',
    '7:11 folders[1].path: /file is not a directory',
    '9:11 folders[2].path: cannot look at /file/below: a part of the path is not a directory (ENOTDIR)',
  ]);
});

it('tells what may pass by itself from what is wrong', async () => {
  await writeFile(join(here.path, 'file'), '');
  const { config, locate } = await here.load(configOf(['path: nowhere'], 'state_dir: file\n'));
  if (config === null) throw new Error('it is not right');
  expect((await inspectSurroundings(config, locate)).map(({ key, passing }) => [key, passing])).toEqual([
    ['folders[0].path', true],
    ['state_dir', undefined],
  ]);
});

it('says what an installed service needs to see a folder', async () => {
  const { config, locate } = await here.load(configOf(['path: nowhere'], `state_dir: ${here.path}\n`));
  if (config === null) throw new Error('it is not right');
  const messageIn = async (file: string) => (await inspectSurroundings({ ...config, file }, locate))[0]?.message;
  expect(await messageIn('/etc/dropcast/dropcast.yaml')).toMatch(
    /what belongs there; the service needs `sudo dropcast systemd drop-in --install` for its folders, then `sudo systemctl restart dropcast`$/,
  );
  expect(await messageIn('/etc/dropcast/news.yaml')).toContain('--install --instance news`');
});

it.runIf(canBeRefused)('says that a folder cannot be listed or entered', async () => {
  await folder('state');
  await folder('closed', 0o700);
  await folder('unlisted', 0o711);
  await folder('locked/below');
  await folder('locked', 0o700);
  expect(await inspectedAsNobody(['path: closed', 'path: unlisted', 'path: locked/below'])).toEqual([
    '5:11 folders[0].path: cannot list /closed: permission denied (EACCES)',
    '7:11 folders[1].path: cannot list /unlisted: permission denied (EACCES)',
    '9:11 folders[2].path: cannot look at /locked/below: permission denied (EACCES)',
  ]);
});

it.runIf(canBeRefused)(
  'says that files cannot be deleted or moved, but lets a folder be read-only that keeps them',
  async () => {
    await folder('state');
    await folder('keep', 0o755);
    await folder('delete', 0o755);
    await folder('move', 0o755);
    const folders = [
      'path: keep',
      'path: delete\n    after_ready: delete',
      'path: move\n    after_ready: { move: done }',
    ];
    expect(await inspectedAsNobody(folders)).toEqual([
      '8:18 folders[1].after_ready: cannot delete files of /delete: permission denied (EACCES); allow it, or set after_ready: keep',
      '11:18 folders[2].after_ready: cannot move files of /move: permission denied (EACCES); allow it, or set after_ready: keep',
    ]);
  },
);

it('finds the same folder behind two names, and shows where a link leads', async () => {
  await folder('state');
  await folder('inbox');
  await symlink('inbox', join(here.path, 'link'));
  expect(await inspected(['path: inbox', 'path: link'])).toEqual([
    '7:11 folders[1].path: warning: is reached through a symbolic link; the folder itself is /inbox',
    '7:11 folders[1].path: the same folder as folders[0].path; put all its rules there',
  ]);
});

it('finds a folder that is inside of another only behind a link', async () => {
  await folder('state');
  await folder('outer/inner');
  await symlink('outer/inner', join(here.path, 'link'));
  expect(await inspected(['path: outer', 'path: link'])).toContain(
    '7:11 folders[1].path: warning: lies inside of /outer, which is watched too; files below are taken by this folder alone',
  );
});

it('does not say again what the paths alone have said', async () => {
  await folder('state');
  await folder('outer/inner');
  expect(await inspected(['path: outer', 'path: outer/inner'])).toEqual([]);
});

it('finds the state directory inside of a watched folder behind a link, also one that is still to be made', async () => {
  await folder('inbox/below');
  await symlink('inbox/below', join(here.path, 'elsewhere'));
  expect(await inspected(['path: inbox'], 'state_dir: elsewhere/state\n')).toEqual([
    '7:12 state_dir: /inbox/below/state lies inside of the watched folder /inbox; dropcast would watch its own files',
  ]);
});

it.runIf(canBeRefused).each([
  ['is a file', 'state_dir: file\n', '7:12 state_dir: /file is not a directory'],
  [
    'would be below a file',
    'state_dir: file/x/y\n',
    '7:12 state_dir: cannot look at /file/x/y: a part of the path is not a directory (ENOTDIR)',
  ],
  ['cannot be written', 'state_dir: closed\n', '7:12 state_dir: cannot write to /closed: permission denied (EACCES)'],
  [
    'cannot be made',
    'state_dir: closed/x/y\n',
    '7:12 state_dir: cannot create /closed/x/y in /closed: permission denied (EACCES)',
  ],
  ['can be made', 'state_dir: open/x/y\n', undefined],
])('looks whether the state directory %s', async (_, line, problem) => {
  await folder('inbox');
  await folder('open');
  await folder('closed', 0o755);
  await writeFile(join(here.path, 'file'), '');
  expect(await inspectedAsNobody(['path: inbox'], line)).toEqual(problem === undefined ? [] : [problem]);
});

it('never writes: a state directory that can be made is not made', async () => {
  await folder('inbox');
  await inspected(['path: inbox'], 'state_dir: new/state\n');
  await expect(mkdir(join(here.path, 'new'))).resolves.toBeUndefined();
});

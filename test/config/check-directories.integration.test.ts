import { chmod, lchown, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkDirectories } from '../../src/config/check-directories.ts';
import { problemsAsNobody } from './as-nobody.ts';
import { expectProblems, scratch, type Scratch } from './scratch.ts';
import { needs } from '../support/needs.ts';

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

/** The problems of a configuration with these folders, as an operator reads them. */
async function inspected(folders: readonly string[], more = 'state_dir: state\n'): Promise<string[]> {
  const { config, problems, locate } = await here.load(configOf(folders, more));
  if (config === null) throw new Error(here.inWords(problems).join());
  return here.inWords(await checkDirectories(config, locate));
}

/** The same for a user who may not do everything. */
async function inspectedAsNobody(folders: readonly string[], more = 'state_dir: state\n'): Promise<string[]> {
  const file = await here.write('dropcast.yaml', configOf(folders, more), 0o644);
  return here.inWords(await problemsAsNobody(file, here.environment));
}

const folder = async (name: string, mode = 0o777): Promise<void> => {
  await mkdir(join(here.path, name), { recursive: true });
  await chmod(join(here.path, name), mode);
};

it.runIf(process.geteuid?.() === 0)(
  'a folder that another user turned into a link, even to the state directory, waits and stops nothing else',
  async () => {
    await folder('state');
    await symlink(join(here.path, 'state'), join(here.path, 'in'));
    await lchown(join(here.path, 'in'), 4444, 4444);
    const { config, problems, locate } = await here.load(configOf(['path: in'], 'state_dir: state\n'));
    if (config === null) throw new Error(here.inWords(problems).join());
    const found = await checkDirectories(config, locate);
    expect(found).toMatchObject([{ passing: true }]);
    expect(found[0]?.message).toMatch(/through the symbolic link ".*\/in", which belongs to another user/);
  },
);

it('finds nothing wrong with a folder and a state directory that are there', async () => {
  await folder('inbox');
  await folder('state');
  expect(await inspected(['path: inbox'])).toEqual([]);
});

it('says that a folder is missing, not a directory, or out of reach', async () => {
  await folder('state');
  await writeFile(join(here.path, 'file'), '');
  expectProblems(await inspected(['path: nowhere', 'path: file', 'path: file/below']), [
    '5:11 folders[0].path ~ /nowhere does not exist',
    '7:11 folders[1].path ~ /file is not a directory',
    '9:11 folders[2].path ~ /file/below ~ ENOTDIR',
  ]);
});

it('distinguishes what may resolve on its own from what is wrong', async () => {
  await writeFile(join(here.path, 'file'), '');
  const { config, locate } = await here.load(configOf(['path: nowhere'], 'state_dir: file\n'));
  if (config === null) throw new Error('the configuration is wrong');
  expect((await checkDirectories(config, locate)).map(({ key, passing }) => [key, passing])).toEqual([
    ['folders[0].path', true],
    ['state_dir', undefined],
  ]);
});

it('says what an installed service needs to see a folder', async () => {
  const { config, locate } = await here.load(configOf(['path: nowhere'], `state_dir: ${here.path}\n`));
  if (config === null) throw new Error('the configuration is wrong');
  const messageIn = async (file: string) => (await checkDirectories({ ...config, file }, locate))[0]?.message;
  expect(await messageIn('/etc/dropcast/dropcast.yaml')).toMatch(
    /does not exist; create or mount it, then run: sudo dropcast setup$/,
  );
  expect(await messageIn('/etc/dropcast/news.yaml')).toMatch(/: sudo dropcast setup --instance news$/);
});

it('says that a folder cannot be listed or entered', needs('readable clone'), async () => {
  await folder('state');
  await folder('closed', 0o700);
  await folder('unlisted', 0o711);
  await folder('locked/below');
  await folder('locked', 0o700);
  expectProblems(await inspectedAsNobody(['path: closed', 'path: unlisted', 'path: locked/below']), [
    '5:11 folders[0].path ~ cannot enter ~ /closed ~ EACCES',
    '7:11 folders[1].path ~ cannot enter ~ /unlisted ~ EACCES',
    '9:11 folders[2].path ~ /locked/below ~ EACCES',
  ]);
});

it(
  'says that files cannot be deleted or moved, but lets a folder be read-only that keeps them',
  needs('readable clone'),
  async () => {
    await folder('state');
    await folder('keep', 0o755);
    await folder('delete', 0o755);
    await folder('move', 0o755);
    await folder('beside', 0o755);
    const folders = [
      'path: keep',
      'path: delete\n    after_ready: delete',
      'path: move\n    after_ready: { move: done }',
      'path: beside\n    beside: true',
    ];
    expectProblems(await inspectedAsNobody(folders), [
      '8:18 folders[1].after_ready ~ delete ~ /delete ~ EACCES ~ after_ready: keep',
      '11:18 folders[2].after_ready ~ move ~ /move ~ EACCES ~ after_ready: keep',
      '14:13 folders[3].beside ~ cannot write link files in ~ /beside ~ EACCES ~ remove beside',
    ]);
  },
);

it('finds the same folder behind two names, and shows where a link leads', async () => {
  await folder('state');
  await folder('inbox');
  await symlink('inbox', join(here.path, 'link'));
  expectProblems(await inspected(['path: inbox', 'path: link']), [
    '7:11 folders[1].path ~ warning ~ symbolic link ~ /inbox',
    '7:11 folders[1].path ~ folders[0].path',
  ]);
});

it('finds a folder that is inside of another only behind a link', async () => {
  await folder('state');
  await folder('outer/inner');
  await symlink('outer/inner', join(here.path, 'link'));
  expectProblems(await inspected(['path: outer', 'path: link']), [
    '7:11 folders[1].path ~ warning ~ symbolic link',
    '7:11 folders[1].path ~ warning ~ /outer',
  ]);
});

it('does not say again what the paths alone have said', async () => {
  await folder('state');
  await folder('outer/inner');
  expect(await inspected(['path: outer', 'path: outer/inner'])).toEqual([]);
});

it('finds the state directory inside of a watched folder behind a link, also one that is still to be made', async () => {
  await folder('inbox/below');
  await symlink('inbox/below', join(here.path, 'elsewhere'));
  expectProblems(await inspected(['path: inbox'], 'state_dir: elsewhere/state\n'), [
    '7:12 state_dir ~ /inbox/below/state is ~ folder /inbox',
  ]);
});

it.each([
  ['is a file', 'state_dir: file\n', '7:12 state_dir ~ /file is not a directory'],
  ['would be below a file', 'state_dir: file/x/y\n', '7:12 state_dir ~ /file/x/y ~ ENOTDIR'],
  ['cannot be written', 'state_dir: closed\n', '7:12 state_dir ~ write to /closed: ~ EACCES'],
  ['cannot be made', 'state_dir: closed/x/y\n', '7:12 state_dir ~ create /closed/x/y in /closed ~ EACCES'],
  ['can be made', 'state_dir: open/x/y\n', undefined],
])('looks whether the state directory %s', needs('readable clone'), async (_, line, problem) => {
  await folder('inbox');
  await folder('open');
  await folder('closed', 0o755);
  await writeFile(join(here.path, 'file'), '');
  expectProblems(await inspectedAsNobody(['path: inbox'], line), problem === undefined ? [] : [problem]);
});

it('never writes: a state directory that can be made is not made', async () => {
  await folder('inbox');
  await inspected(['path: inbox'], 'state_dir: new/state\n');
  await expect(mkdir(join(here.path, 'new'))).resolves.toBeUndefined();
});

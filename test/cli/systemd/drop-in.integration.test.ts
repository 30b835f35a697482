import { chmod, chown, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findUnitNeeds } from '../../../src/cli/systemd/unit-needs.ts';
import type { Machine } from '../../../src/cli/systemd/unit-needs.ts';
import { installFile } from '../../../src/cli/systemd/install-file.ts';
import { installedService } from '../../../src/config/installed-service.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { scratch as configScratch } from '../../config/scratch.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { needs } from '../../support/needs.ts';
import { configText, tagged, type Settings } from '../../support/configuration.ts';

let scratch: ScratchDirectory;
let path: string;
beforeEach(async () => {
  scratch = await scratchDirectory();
  path = scratch.path;
});
afterEach(() => scratch[Symbol.asyncDispose]());

describe('the file', () => {
  test('is put in place as a whole, readable for everybody whatever the umask, and only when it changes', async () => {
    const file = join(path, 'dropcast.service.d/folders.conf');
    const before = process.umask(0o077);
    try {
      expect(await installFile(file, 'one\n')).toBe(true);
      const { ino } = await stat(file);
      expect(await installFile(file, 'one\n')).toBe(false);
      expect((await stat(file)).ino).toBe(ino);
      expect(await installFile(file, 'two\n')).toBe(true);
    } finally {
      process.umask(before);
    }
    expect(await readFile(file, 'utf8')).toBe('two\n');
    expect((await stat(file)).mode & 0o777).toBe(0o644);
    expect(await readdir(join(path, 'dropcast.service.d'))).toEqual(['folders.conf']);
  });

  test('leaves nothing behind that could not be put in place', async () => {
    const file = join(path, 'd/folders.conf');
    await mkdir(join(file, 'in-its-place'), { recursive: true });
    await expect(installFile(file, 'one\n')).rejects.toThrow('EISDIR');
    expect(await readdir(join(path, 'd'))).toEqual(['folders.conf']);
  });
});

const group = 'root:x:0:\nmedia:x:4242:alice\n';
const machine: Machine = {
  user: { uid: 4343, gids: new Set([4343]), home: '/var/lib/dropcast' },
  passwd: 'alice:x:4444:4444::/home/alice:/bin/sh\n',
  group,
  mountinfo: '22 1 254:1 / / rw - ext4 /dev/vda1 rw\n',
  resolvConf: '',
  isRoot: false,
};

async function survey(settings: Settings, isRoot = false, groups = group): ReturnType<typeof findUnitNeeds> {
  await using here = await configScratch();
  const text = configText({
    service: { base_url: 'https://x.example', api_key: tagged('!file', '~/key') },
    state_dir: undefined,
    ...settings,
    status: { listen: undefined, ...settings.status },
  });
  const around = {
    env: { STATE_DIRECTORY: '/var/lib/dropcast', RUNTIME_DIRECTORY: '/run/dropcast' },
    cwd: '/',
    home: '/root',
  };
  const { config, paths, problems } = await loadConfig(await here.write('x.yaml', text), around, 'without key');
  if (config === null || paths === null) throw new Error(problems.map(({ message }) => message).join());
  const mountinfo = `${machine.mountinfo}30 22 0:9 / ${path} rw - tmpfs tmpfs rw\n`;
  return await findUnitNeeds(config, {
    paths,
    service: installedService(null),
    machine: { ...machine, mountinfo, isRoot, group: groups },
  });
}

describe('what is found out of a configuration', () => {
  test('a folder with its mount, and one that is not there', async () => {
    await mkdir(join(path, 'here'), { mode: 0o777 });
    await chmod(join(path, 'here'), 0o777);
    await symlink('here', join(path, 'link'));
    const site = await survey({
      folders: [{ path: `${path}/link`, after_ready: 'delete' }, { path: `${path}/nowhere` }],
    });
    expect(site.folders).toEqual([
      {
        path: `${path}/link`,
        realPath: `${path}/here`,
        isThere: true,
        isWritten: true,
        mountPoint: path,
        groups: [],
        commands: [],
        groupCommand: null,
      },
      {
        path: `${path}/nowhere`,
        realPath: `${path}/nowhere`,
        isThere: false,
        isWritten: false,
        mountPoint: null,
        groups: [],
        commands: [],
        groupCommand: null,
      },
    ]);
  });

  test('that a folder is written which gets link files', async () => {
    const site = await survey({ folders: [{ path: `${path}/nowhere`, beside: true }] });
    expect(site.folders).toMatchObject([{ isWritten: true }]);
  });

  test('the group that opens a folder, or the command where none does', needs('root'), async () => {
    for (const name of ['group', "it's closed"]) {
      await mkdir(join(path, name));
      await chown(join(path, name), 4444, 4242);
    }
    await chmod(join(path, 'group'), 0o2770);
    await chmod(join(path, "it's closed"), 0o700);
    await mkdir(join(path, 'of no other user'));
    await chown(join(path, 'of no other user'), 4444, 4242);
    await chmod(join(path, 'of no other user'), 0o750);
    const moving = { after_ready: { move: 'done' } };
    const { folders } = await survey({
      folders: [
        { path: `${path}/group`, ...moving },
        { path: `${path}/it's closed` },
        { path: `${path}/of no other user`, ...moving },
      ],
    });
    expect(folders.map(({ groups, commands }) => ({ groups, commands }))).toEqual([
      { groups: ['media'], commands: [] },
      {
        groups: [],
        commands: [`sudo setfacl -R -P -m u:dropcast:rX,d:u:dropcast:rX '${path}/it'\\''s closed'`],
      },
      {
        groups: [],
        commands: [
          `sudo setfacl -R -P -m u:dropcast:rwX,d:u:dropcast:rwX,d:u:alice:rwX,d:g:media:rX '${path}/of no other user'`,
        ],
      },
    ]);
  });

  test('root asks the kernel: behind closed directories too, and with each group', needs('root'), async () => {
    const folders = [
      { name: 'open', mode: 0o777, owner: 4444 },
      { name: 'group', mode: 0o770, owner: 4444 },
      { name: 'own', mode: 0o070, owner: 4343 },
    ];
    const closed = join(path, 'alice');
    await mkdir(closed);
    for (const { name, mode, owner } of folders) {
      await mkdir(join(closed, name));
      await chown(join(closed, name), owner, 4242);
      await chmod(join(closed, name), mode);
    }
    await chmod(closed, 0o700);
    const moving = folders.map(({ name }) => ({ path: join(closed, name), after_ready: { move: 'done' } }));
    const site = await survey({ folders: moving }, true);
    expect(site.folders.map(({ groups, commands, groupCommand }) => ({ groups, commands, groupCommand }))).toEqual([
      { groups: [], commands: [], groupCommand: null },
      { groups: ['media'], commands: [], groupCommand: `sudo chmod g+s '${closed}/group'` },
      { groups: [], commands: [`sudo chmod u+rwX '${closed}/own'`], groupCommand: null },
    ]);
  });

  test.each<[string, (at: string) => Settings]>([
    ['a folder', (at) => ({ folders: [{ path: at }] })],
    ['the state directory', (at) => ({ folders: [{ path: '/srv/x' }], state_dir: at })],
    ['the directory of the socket', (at) => ({ folders: [{ path: '/srv/x' }], status: { socket: `${at}/x.sock` } })],
  ])('%s behind a link that its user can change is refused, and the link is named', needs('root'), async (_, write) => {
    const home = join(path, 'alice');
    await mkdir(home);
    await symlink('/var/lib', join(home, 'drop'));
    await chown(home, 4444, 4444);
    await expect(survey(write(`${home}/drop`))).rejects.toThrow(
      `the symbolic link "${home}/drop", which users other than root can change`,
    );
  });

  test(
    'a group of the system is not joined, whatever opens the folder: a command gives access instead',
    needs('root'),
    async () => {
      for (const [name, gid] of [
        ['docker', 2000],
        ['system', 900],
        ['by-number', 4243],
      ] as const) {
        await mkdir(join(path, name));
        await chown(join(path, name), 4444, gid);
        await chmod(join(path, name), 0o2770);
      }
      const others = 'root:x:0:\ndocker:x:2000:\nmetrics:x:900:\n27:x:4243:\nsudo:x:27:\n';
      const names = ['docker', 'system', 'by-number'].map((name) => ({ path: join(path, name) }));
      const { folders } = await survey({ folders: names }, false, others);
      expect(folders.map(({ groups, commands }) => ({ groups, commands: commands.length }))).toEqual([
        { groups: [], commands: 1 },
        { groups: [], commands: 1 },
        // systemd would take the name 27 for the number of sudo.
        { groups: ['4243'], commands: 0 },
      ]);
    },
  );

  test('what lies elsewhere than the unit has it: state, socket, port, secrets', async () => {
    const folders = [{ path: '/srv/x' }];
    const usual = await survey({ folders, state_dir: '/var/lib/dropcast/deeper' });
    expect(usual).toMatchObject({ written: [], port: null, secretFiles: [{ path: '/root/key' }] });
    const other = await survey({
      folders,
      state_dir: '/data/state',
      status: { listen: '127.0.0.1:8080', socket: '/data/run/x.sock' },
    });
    expect(other).toMatchObject({ written: [{ path: '/data/state' }, { path: '/data/run' }], port: 8080 });
    const off = await survey({ folders, status: { listen: 'off' } });
    expect(off.port).toBeNull();
  });
});

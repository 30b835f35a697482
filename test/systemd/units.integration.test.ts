import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { loadConfig } from '../../src/config/load.ts';
import { dropInText } from '../../src/systemd/drop-in.ts';
import type { FolderNeeds } from '../../src/systemd/drop-in.ts';
import { needs } from '../support/needs.ts';

const shipped = new URL('../../systemd/', import.meta.url);
const unit = await readFile(new URL('dropcast.service', shipped), 'utf8');
/** What runs in a real system is tested by `npm run test:systemd`; this is what can be said without one. */

/** What systemd complains about in a unit with this drop-in; nothing when all of it was understood. */
async function complaints(dropIn: string): Promise<string> {
  await using scratch = await scratchDirectory();
  const file = scratch.file('a-test.service');
  await writeFile(file, '[Service]\nExecStart=/bin/true\n');
  await mkdir(`${file}.d`);
  await writeFile(`${file}.d/folders.conf`, dropIn);
  const env = { ...process.env, SYSTEMD_UNIT_PATH: `${scratch.path}:` };
  const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', '--man=no', file], { env });
  const lines = (stdout + stderr).split('\n');
  return lines.filter((line) => line.includes('folders.conf')).join('\n');
}

const hostile = [
  'a b',
  'q"uo',
  "it's",
  'back\\slash',
  '100%x',
  '%n',
  'co:lon',
  'ü',
  'end\\',
  'a;b #c',
  '$HOME',
  '*',
  ' x ',
];
const folders = hostile.map((name): FolderNeeds => ({
  path: `/srv/${name}`,
  realPath: `/srv/${name}`,
  isThere: true,
  isWritten: true,
  mountPoint: `/srv/${name}`,
  groups: ['root'],
  commands: ['sudo true'],
  groupCommand: 'sudo true',
}));

test('systemd understands a drop-in for folders of every name', needs('systemd-analyze'), async () => {
  const text = dropInText({
    configFile: '/etc/x y.yaml',
    folders,
    written: [],
    secretFiles: [],
    port: 8080,
    programs: [],
    resolvers: [],
  });
  expect(await complaints(text)).toBe('');
  // It does complain where a name is written as it is.
  expect(await complaints('[Service]\nReadWritePaths=-/srv/a b\n')).not.toBe('');
});

test(
  'systemd understands the example of a drop-in, with all that it only mentions',
  needs('systemd-analyze'),
  async () => {
    const text = await readFile(new URL('folders.conf.example', shipped), 'utf8');
    expect(await complaints(text.replaceAll(/^#(\w+=)/gm, '$1'))).toBe('');
  },
);

test.each(['dropcast.service', 'dropcast@.service'])(
  'the systemd of this machine knows every key of %s, also that of Debian 12',
  needs('systemd-analyze'),
  (name) => {
    const file = join(shipped.pathname, name);
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    expect(stderr.split('\n').filter((line) => /Unknown|ignoring/.test(line))).toEqual([]);
  },
);

/** Runs the generator as a systemd of that version does. @returns what it wrote, by unit */
async function generated(version: string): Promise<Readonly<Record<string, string>>> {
  await using scratch = await scratchDirectory();
  const [bin, out] = [scratch.file('bin'), scratch.file('generator')];
  await Promise.all([mkdir(bin), mkdir(out)]);
  await writeFile(join(bin, 'systemctl'), `#!/bin/sh\necho 'systemd ${version}'\necho '+PAM +AUDIT'\n`, {
    mode: 0o755,
  });
  const { status, stdout, stderr } = spawnSync(
    '/bin/sh',
    [join(shipped.pathname, 'generator'), out, `${out}.e`, `${out}.l`],
    {
      env: { PATH: `${bin}:/usr/bin:/bin` },
      encoding: 'utf8',
    },
  );
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  const units = (await readdir(out)).toSorted();
  const texts = await Promise.all(units.map((unit) => readFile(join(out, unit, '10-systemd.conf'), 'utf8')));
  return Object.fromEntries(units.map((unit, n) => [unit, texts[n] ?? '']));
}

const keysOf = (text = ''): readonly string[] => text.split('\n').filter((line) => /^\w+=/.test(line));
const notify = 'OpenFile=/run/systemd/notify:notify:graceful';
const steps = ['RestartSteps=5', 'RestartMaxDelaySec=5min'];

test.each([
  ['252 (252.39-1~deb12u1)', null],
  ['253 (253.5)', [notify]],
  ['254 (254.1-2)', [notify, ...steps]],
  ['257 (257.9-1~deb13u1)', [notify, ...steps]],
  ['258~rc1 (258~rc1-1)', [notify, ...steps]],
  ['unknown', null],
])('systemd %s gets the keys that it knows for service and instances', async (version, keys) => {
  const units = await generated(version);
  expect(Object.keys(units)).toEqual(keys === null ? [] : ['dropcast.service.d', 'dropcast@.service.d']);
  for (const text of Object.values(units)) expect(keysOf(text)).toEqual(keys);
});

test('shellcheck has nothing to remark on the generator', needs('shellcheck'), () => {
  expect(spawnSync('shellcheck', [join(shipped.pathname, 'generator')], { encoding: 'utf8' }).stdout).toBe('');
});

test.each(['dropcast.service', 'dropcast@.service'])(
  '%s is exposed by 1.1 at most',
  needs('systemd-analyze'),
  (name) => {
    const file = join(shipped.pathname, name);
    const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=11', file], {
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/Overall exposure level .*: (?:0\.\d|1\.[01]) /);
    expect(status).toBe(0);
  },
);

test('the unit lets the status page listen where it does by default', async () => {
  const around = { env: {}, cwd: '/', home: '/' };
  const { config } = await loadConfig(new URL('../config.example.yaml', shipped).pathname, around, 'without key');
  expect(unit).toContain(`SocketBindAllow=tcp:${config?.status.listen?.port}\n`);
});

test('an instance differs from the service in its names alone', async () => {
  const lines = (text: string): readonly string[] => text.split('\n').filter((line) => !line.startsWith('#'));
  const instance = lines(await readFile(new URL('dropcast@.service', shipped), 'utf8'));
  const others = instance.filter((line, n) => line !== lines(unit)[n]);
  expect(others).toEqual([
    expect.stringMatching(/^Description=/),
    'SyslogIdentifier=dropcast@%i',
    'StateDirectory=dropcast@%i',
    'LogsDirectory=dropcast@%i',
    'RuntimeDirectory=dropcast@%i',
    'WorkingDirectory=/var/lib/dropcast@%i',
    'Environment=DROPCAST_CONFIG=/etc/dropcast/%i.yaml',
    'LoadCredential=api_key:/etc/dropcast/%i.key',
    'InaccessiblePaths=-/etc/dropcast/api_key -/etc/dropcast/%i.key',
    'NoExecPaths=/ /tmp /var/tmp /dev/shm -%t/dropcast@%i %S/dropcast@%i %L/dropcast@%i',
  ]);
});

import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
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
  '%s is exposed by 1.2 at most',
  needs('systemd-analyze'),
  (name) => {
    const file = join(shipped.pathname, name);
    const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=12', file], {
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/Overall exposure level .*: (?:0\.\d|1\.[0-2]) /);
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

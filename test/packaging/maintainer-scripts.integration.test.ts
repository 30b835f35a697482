import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const folder = join(import.meta.dirname, '../../packaging/debian');

// What they do to a machine is tested on a real one: test/systemd.
describe.each(['preinst', 'postinst', 'prerm', 'postrm'])('%s', (name) => {
  const file = join(folder, name);

  test('is a script for any POSIX shell that ends at the first failure', () => {
    expect(readFileSync(file, 'utf8')).toMatch(/^#!\/bin\/sh\n(?:#.*\n)*set -e\n/);
    expect(spawnSync('sh', ['-n', file], { encoding: 'utf8' }).stderr).toBe('');
  });

  test('has nothing that shellcheck remarks on', needs('shellcheck'), () => {
    expect(spawnSync('shellcheck', ['--shell=sh', file], { encoding: 'utf8' }).stdout).toBe('');
  });

  test('says nothing and ends well when dpkg goes back', () => {
    for (const step of ['abort-upgrade', 'abort-install', 'failed-upgrade', 'upgrade', 'disappear']) {
      const { status, stdout, stderr } = spawnSync('/bin/sh', [file, step, '0.0.1'], {
        encoding: 'utf8',
        env: { PATH: '' },
      });
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
    }
  });
});

/** A machine where systemd runs, in a folder: what is there of the commands that change it says only what it was asked. */
function someMachine(configuration?: string): (script: string, ...args: readonly string[]) => string {
  const root = mkdtempSync(join(tmpdir(), 'dropcast-machine-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const directory of ['bin', 'etc', 'run/systemd/system']) mkdirSync(join(root, directory), { recursive: true });
  for (const command of ['systemctl', 'systemd-sysusers', 'install', 'chgrp'])
    writeFileSync(join(root, 'bin', command), `#!/bin/sh\necho ${command} "$@"\n`, { mode: 0o755 });
  if (configuration !== undefined) {
    mkdirSync(join(root, 'etc/dropcast'));
    writeFileSync(join(root, 'etc/dropcast/dropcast.yaml'), configuration);
  }
  return (script, ...args) => {
    const text = readFileSync(join(folder, script), 'utf8').replaceAll(/(?<![\w.])\/(run|etc)\//g, `${root}/$1/`);
    const env = { PATH: `${join(root, 'bin')}:/usr/bin:/bin` };
    const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', text, script, ...args], { encoding: 'utf8', env });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };
}

describe('what dpkg calls configuring after a version', () => {
  const steps = /^ {2}sudo dropcast setup /m;

  test('is an upgrade, which restarts what runs without any question', () => {
    const run = someMachine();
    run('preinst', 'upgrade', '1.0');
    const told = run('postinst', 'configure', '1.0');
    expect(told).toContain('systemctl try-restart dropcast.service');
    expect(told).not.toMatch(/preset|enable/);
    expect(told).not.toMatch(steps);
  });

  test('is an installation where the package had been removed: prerm had disabled the service', () => {
    const run = someMachine();
    run('preinst', 'install', '1.0');
    const told = run('postinst', 'configure', '1.0');
    expect(told).toMatch(/^systemctl .*preset dropcast\.service$/m);
    expect(told).toMatch(steps);
    expect(told).not.toContain('try-restart');
    // And that is over once it is configured.
    run('preinst', 'upgrade', '1.0');
    expect(run('postinst', 'configure', '1.0')).toContain('try-restart');
  });

  test('is an installation where there was none, whichever tool unpacked it', () => {
    const run = someMachine();
    expect(run('postinst', 'configure', '')).toMatch(steps);
  });
});

describe('the example configuration', () => {
  const installs = /^install .*\/usr\/lib\/dropcast\/dropcast\.yaml .*\/etc\/dropcast\/dropcast\.yaml$/m;

  test.each([
    ['is put in place by an installation', undefined, 'install', '', true],
    ['is put in place by an installation after a removal that left none', undefined, 'install', '1.0', true],
    ['replaces no configuration, as one that a removal left', 'mine', 'install', '1.0', false],
    ['replaces no configuration, as one that was prepared', 'mine', 'install', '', false],
    ['is left alone by an upgrade', 'mine', 'upgrade', '1.0', false],
    ['does not come back with an upgrade once it was deleted', undefined, 'upgrade', '1.0', false],
  ] as const)('%s', (_, configuration, step, before, isInstalled) => {
    const run = someMachine(configuration);
    run('preinst', step, before);
    expect(installs.test(run('postinst', 'configure', before))).toBe(isInstalled);
  });
});

test('nothing is deleted before it is sure that the package is purged', () => {
  const text = readFileSync(join(folder, 'postrm'), 'utf8');
  const guard = text.indexOf('\n[ "$1" = purge ] || exit 0\n');
  expect(guard).toBeGreaterThan(0);
  expect(text.indexOf('rm -rf')).toBeGreaterThan(guard);
});

test('a purge removes the drop-in that setup wrote, and keeps those of the administrator', async () => {
  await using scratch = await scratchDirectory();
  const [ours, mixed, theirs] = ['dropcast.service.d', 'dropcast@a.service.d', 'dropcast@b.service.d'] as const;
  for (const each of [ours, mixed, theirs]) mkdirSync(scratch.file(each));
  await scratch.write(`${ours}/folders.conf`, '# Written by dropcast for /etc/dropcast/dropcast.yaml.\n');
  await scratch.write(`${mixed}/folders.conf`, '# Written by dropcast for /etc/dropcast/a.yaml.\n');
  await scratch.write(`${mixed}/ledger.conf`, '[Service]\n');
  await scratch.write(`${theirs}/folders.conf`, '[Service]\n');
  const text = readFileSync(join(folder, 'postrm'), 'utf8')
    .replace(/^for directory .*?^done$/ms, '')
    .replaceAll('/etc/systemd/system', scratch.path);
  const said = execFileSync('/bin/sh', ['-c', text, 'postrm', 'purge'], { encoding: 'utf8' });
  const left = readdirSync(scratch.path, { recursive: true, encoding: 'utf8' }).toSorted((a, b) => a.localeCompare(b));
  expect(left).toEqual([mixed, `${mixed}/ledger.conf`, theirs, `${theirs}/folders.conf`]);
  expect(said.match(/is kept/g)).toHaveLength(2);
});

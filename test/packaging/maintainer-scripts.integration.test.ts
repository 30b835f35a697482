import { execFileSync, spawnSync } from 'node:child_process';
import type { SpawnSyncReturns } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { maintainerScripts } from '../../scripts/package/build.ts';
import { knownSchema } from '../../src/ledger/sqlite/migrations.ts';
import { openDatabase } from '../../src/ledger/sqlite/open-database.ts';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const folder = join(import.meta.dirname, '../../packaging/debian');
const scripts = await maintainerScripts(join(import.meta.dirname, '../..'));

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
  const { run } = aMachine(configuration);
  return (script, ...args) => {
    const { status, stdout, stderr } = run(script, ...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };
}

interface Machine {
  readonly root: string;
  readonly run: (script: string, ...args: readonly string[]) => SpawnSyncReturns<string>;
}

function aMachine(configuration?: string): Machine {
  const root = mkdtempSync(join(tmpdir(), 'dropcast-machine-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const directory of ['bin', 'etc', 'run/systemd/system']) mkdirSync(join(root, directory), { recursive: true });
  for (const command of ['systemctl', 'systemd-sysusers', 'install', 'chgrp'])
    writeFileSync(join(root, 'bin', command), `#!/bin/sh\necho ${command} "$@"\n`, { mode: 0o755 });
  if (configuration !== undefined) {
    mkdirSync(join(root, 'etc/dropcast'));
    writeFileSync(join(root, 'etc/dropcast/dropcast.yaml'), configuration);
  }
  const run = (script: string, ...args: readonly string[]): SpawnSyncReturns<string> => {
    const text = scripts[script]?.replaceAll(/(?<![\w.])\/(run|etc|var)\//g, `${root}/$1/`);
    const env = { PATH: `${join(root, 'bin')}:/usr/bin:/bin` };
    return spawnSync('/bin/sh', ['-c', text ?? 'false', script, ...args], { encoding: 'utf8', env });
  };
  return { root, run };
}

describe('a ledger that was there before', () => {
  const ledgers = ['dropcast/ledger.db', 'dropcast@press/ledger.db'];

  test.each(ledgers)('keeps an older version out, in a sentence: %s', (name) => {
    const { root, run } = aMachine();
    ledgerOf(root, name, knownSchema + 1);
    for (const step of ['install', 'upgrade'])
      expect(run('preinst', step, '1.0')).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(
          `^dropcast: a newer version uses ${join(root, 'var/lib', name)} \\(schema ${knownSchema + 1}\\), and this one ` +
            `knows only schema ${knownSchema}: keep the newer version, or install it again\n$`,
        ) as string,
      });
    expect(readdirSync(join(root, 'run'))).not.toContain('dropcast.installing');
  });

  test.each([
    ['with the schema that this version knows', knownSchema],
    ['with an older schema', 0],
    ['that holds nothing', null],
  ] as const)('%s is no obstacle', (_, schema) => {
    const { root, run } = aMachine();
    for (const name of ledgers) ledgerOf(root, name, schema);
    expect(run('preinst', 'upgrade', '1.0')).toMatchObject({ status: 0, stderr: '' });
  });

  test('shows its schema while the daemon that brought it there runs', async () => {
    const { root, run } = aMachine();
    ledgerOf(root, 'dropcast/ledger.db', null);
    using database = await openDatabase(join(root, 'var/lib/dropcast/ledger.db'));
    expect(database.isOpen).toBe(true);
    const older = scripts['preinst']?.replace(`known=${knownSchema}\n`, `known=${knownSchema - 1}\n`);
    expect(run('preinst', 'upgrade', '1.0').status).toBe(0);
    const text = older?.replaceAll('/var/', `${root}/var/`) ?? '';
    expect(spawnSync('/bin/sh', ['-c', text, 'preinst', 'upgrade', '1.0'])).toMatchObject({ status: 1 });
  });
});

/** @param schema null: an empty file */
function ledgerOf(root: string, name: string, schema: number | null): void {
  const path = join(root, 'var/lib', name);
  mkdirSync(dirname(path), { recursive: true });
  if (schema === null) writeFileSync(path, '');
  else {
    using database = new DatabaseSync(path);
    database.exec(`PRAGMA user_version = ${schema}; CREATE TABLE file (id TEXT)`);
  }
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

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isInstalled } from '../scripts/package/installed.ts';

const folder = join(import.meta.dirname, '../../packaging/debian');

// What they do to a machine is tested on a real one: test/systemd.
describe.each(['postinst', 'prerm', 'postrm'])('%s', (name) => {
  const file = join(folder, name);

  test('is a script for any POSIX shell that ends at the first failure', () => {
    expect(readFileSync(file, 'utf8')).toMatch(/^#!\/bin\/sh\n(?:#.*\n)*set -e\n/);
    expect(spawnSync('sh', ['-n', file], { encoding: 'utf8' }).stderr).toBe('');
  });

  test.skipIf(!isInstalled('shellcheck'))('has nothing that shellcheck remarks on', () => {
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

test('nothing is deleted before it is sure that the package is purged', () => {
  const text = readFileSync(join(folder, 'postrm'), 'utf8');
  const guard = text.indexOf('\n[ "$1" = purge ] || exit 0\n');
  expect(guard).toBeGreaterThan(0);
  expect(text.indexOf('rm -rf')).toBeGreaterThan(guard);
});

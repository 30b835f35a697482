import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { architectureOf } from '../../../scripts/package/architecture.ts';
import { maintainerScripts } from '../../../scripts/package/build.ts';
import { packageContents } from '../../../scripts/package/contents.ts';
import type { Deb } from '../../../scripts/package/deb.ts';
import { writeDeb } from '../../../scripts/package/deb.ts';
import { forOtherDistributions } from '../../../scripts/package/other-distributions.ts';
import { archFiles } from '../../../scripts/package/pkgbuild.ts';
import { writeRpm } from '../../../scripts/package/rpm.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const root = join(import.meta.dirname, '../../..');
let deb: Deb;
let wanted: readonly string[];

beforeAll(async () => {
  // Stands for the 130 MB of Node.js, and runs the program as it does.
  const node = `#!/bin/sh\nexec ${process.execPath} "$@"\n`;
  const own = await packageContents(root, { version: '26.0.0', licence: 'MIT' }, 1_700_000_000);
  const files = [...own, { path: 'usr/lib/dropcast/bin/node', content: node, mode: 0o755 }];
  const scripts = await maintainerScripts(root);
  deb = { version: '1.2.3', architecture: architectureOf('amd64'), files, scripts, epochSeconds: 1_700_000_000 };
  wanted = forOtherDistributions(files)
    .map(
      ({ path, mode }) =>
        `${path.replace(/\/$/, '')} ${((mode ?? (path.endsWith('/') ? 0o755 : 0o644)) & 0o777).toString(8)}`,
    )
    .toSorted();
});

function run(command: string, args: readonly string[], cwd = root): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    cwd,
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
  expect(status, `${command} ${args.join(' ')}: ${stderr}`).toBe(0);
  return stdout;
}

/** What lies in a tree: path and mode of each file, and of the one directory that the package owns. */
function listed(tree: string): readonly string[] {
  const lines = run('find', [
    tree,
    '(',
    '-type',
    'f',
    '-o',
    '-path',
    '*/etc/dropcast',
    ')',
    '-printf',
    '%P %m\\n',
  ]).split('\n');
  return lines.filter(Boolean).toSorted();
}

describe('the package for Fedora', () => {
  test(
    'installs the files of the Debian package, its program runs, and the same files give the same bytes',
    needs('rpmbuild', 'rpm'),
    async () => {
      await using scratch = await scratchDirectory();
      const [rpm, again] = [scratch.file('one.rpm'), scratch.file('another name.rpm')];
      await writeRpm(deb, rpm, true);
      await writeRpm(deb, again, true);
      const sum = async (file: string) =>
        createHash('sha256')
          .update(await readFile(file))
          .digest('hex');
      expect(await sum(again)).toBe(await sum(rpm));
      const machine = scratch.file('machine');
      await mkdir(machine);
      run('rpm', ['--root', machine, '--initdb']);
      run('rpm', ['--root', machine, '--install', '--nodeps', '--noscripts', '--nosignature', rpm]);
      run('rm', ['-rf', ...['var', 'root', 'usr/lib/sysimage'].map((path) => join(machine, path))]); // its own data
      expect(listed(machine)).toEqual(wanted);
      const program = [join(machine, 'usr/lib/dropcast/dist/main.js'), '--version'];
      expect(run(join(machine, 'usr/lib/dropcast/bin/node'), program)).toMatch(/^\d+\.\d+\.\d+\n$/);
      expect(run('rpm', ['-qpc', rpm])).toBe('/etc/logrotate.d/dropcast\n');
      for (const [of, script] of Object.entries(scriptletsOf(run('rpm', ['-qp', '--scripts', rpm])))) {
        expect(spawnSync('sh', ['-n'], { input: script, encoding: 'utf8' }).stderr, of).toBe('');
      }
    },
  );
});

function scriptletsOf(text: string): Readonly<Record<string, string>> {
  const parts = text.split(/^(\w+) scriptlet \(using \/bin\/sh\):\n/m).slice(1);
  const scripts = Object.fromEntries(parts.flatMap((part, n) => (n % 2 === 0 ? [[part, parts[n + 1] ?? '']] : [])));
  expect(Object.keys(scripts)).toEqual(['preinstall', 'postinstall', 'preuninstall', 'postuninstall']);
  return scripts;
}

describe('the recipe for Arch Linux', () => {
  test('unpacks the files of the Debian package where Arch has them', needs('bash', 'strip', 'dpkg-deb'), async () => {
    await using scratch = await scratchDirectory();
    const name = 'dropcast_1.2.3_amd64.deb';
    await writeDeb(deb, scratch.file(name), true);
    await writeFile(scratch.file('PKGBUILD'), archFiles(deb, { name, sha256: 'x' })['PKGBUILD'] ?? '');
    await mkdir(scratch.file('pkg'));
    run('ar', ['x', name], scratch.path); // as makepkg does
    run(
      'bash',
      ['-euc', `srcdir=${scratch.path} pkgdir=${scratch.file('pkg')}; source PKGBUILD; package`],
      scratch.path,
    );
    expect(listed(scratch.file('pkg'))).toEqual(wanted);
  });

  test('has nothing that shellcheck remarks on, and its steps are functions', needs('shellcheck', 'bash'), async () => {
    await using scratch = await scratchDirectory();
    for (const [name, text] of Object.entries(archFiles(deb, { name: 'dropcast.deb', sha256: 'x' }))) {
      await writeFile(scratch.file(name), text);
      // makepkg reads the variables and gives the folders.
      run('shellcheck', ['--shell=bash', '--exclude=SC2034,SC2154', scratch.file(name)]);
      run('bash', ['-n', scratch.file(name)]);
    }
    const steps = run('bash', ['-c', `source ${scratch.file('dropcast.install')}; declare -F`]);
    expect(steps.match(/\b(?:pre|post)_\w+$/gm)?.toSorted()).toEqual([
      'post_install',
      'post_remove',
      'post_upgrade',
      'pre_remove',
    ]);
  });
});

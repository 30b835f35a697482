import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { probe } from '../../../src/cli/doctor/checks/access.ts';
import { failureLogVerdict } from '../../../src/cli/doctor/checks/daemon.ts';
import { instanceFindings, watchFinding } from '../../../src/cli/doctor/checks/folders.ts';
import { tooFewWatches } from '../../../src/watch/kernel.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const [watchFix, instanceFix, rotationFix] = [
  watchFinding(tooFewWatches(5, 4)).fix,
  instanceFindings(8)[0]?.fix,
  failureLogVerdict({ path: '/l', size: 0, isRotated: false })[0]?.fix,
];

/** What a machine has before, the command, and what it has afterwards, in a view of the file system of its own. */
test.each([
  [
    'too few watches',
    'echo 4 > limit; mount --bind limit /proc/sys/fs/inotify/max_user_watches',
    watchFix,
    'cat limit; cat /etc/sysctl.d/*',
    '16\nfs.inotify.max_user_watches=16\n',
  ],
  [
    'too few instances',
    'echo 8 > limit; mount --bind limit /proc/sys/fs/inotify/max_user_instances',
    instanceFix,
    'cat limit; cat /etc/sysctl.d/*',
    '512\nfs.inotify.max_user_instances=512\n',
  ],
  [
    'no rotation',
    'mkdir -p /usr/share/doc/dropcast/examples; echo rotate > /usr/share/doc/dropcast/examples/logrotate',
    rotationFix,
    'stat -c %a /etc/logrotate.d/dropcast; cat /etc/logrotate.d/dropcast',
    '644\nrotate\n',
  ],
])('the printed command fixes %s', needs('root', 'mount', 'bash'), async (_, before, fix, look, after) => {
  await using scratch = await scratchDirectory();
  await chmod(await scratch.write('sudo', '#!/bin/sh\nexec "$@"\n'), 0o755);
  // Nothing of this machine is read or changed.
  const covered = ['/etc', '/usr/lib/sysctl.d', '/run', '/usr/share/doc'];
  const mounts = covered.map((path) => `if [ -d ${path} ]; then mount -t tmpfs none ${path}; fi`);
  const script = ['set -e', ...mounts, 'mkdir /etc/sysctl.d /etc/logrotate.d', before, `{ ${fix}; } > log`, look];
  const env = { ...process.env, PATH: `${scratch.path}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
  const { stdout } = await promisify(execFile)('unshare', ['-m', 'bash', '-c', script.join('\n')], {
    cwd: scratch.path,
    env,
  });
  expect(stdout).toBe(after);
});

test.each([
  ['a file of mode 600', 'show/it\'s "one".mp4', 0o600],
  ['a directory of mode 700', 'show', 0o700],
])('the command against %s works as printed', needs('root', 'readable clone', 'setfacl'), async (_, closed, mode) => {
  await using scratch = await scratchDirectory();
  await chmod(scratch.path, 0o755);
  await mkdir(scratch.file('show'));
  await writeFile(scratch.file('show', 'it\'s "one".mp4'), 'content');
  await chmod(scratch.file(closed), mode);
  await chmod(await scratch.write('sudo', '#!/bin/sh\nexec "$@"\n'), 0o755);
  const nobody = { uid: 65_534, gids: new Set([65_534]), name: 'nobody' };
  const look = () => probe({ path: scratch.path, afterReady: { kind: 'keep' } }, nobody, { service: null });
  const [finding, ...others] = await look();
  expect([finding?.level, others]).toEqual(['problem', []]);
  const env = { ...process.env, PATH: `${scratch.path}:${process.env['PATH'] ?? ''}` };
  await promisify(execFile)('sh', ['-c', finding?.fix ?? ''], { env });
  expect(await look()).toEqual([]);
});

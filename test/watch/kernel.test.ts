import { expect, test } from 'vitest';
import { isBoundAt, mountPointOf, WatchedDirectories, watchLimitAdvice } from '../../src/watch/kernel.ts';

const mountinfo = [
  '22 1 254:1 / / rw shared:1 - ext4 /dev/vda1 rw',
  String.raw`90 22 0:40 / /mnt/nas\040one rw - nfs nas:/x rw`,
  '91 90 0:41 / /mnt/nas\\040one/deep rw - tmpfs tmpfs rw',
  '92 22 0:42 / /mn rw - tmpfs tmpfs rw',
  '93 22 254:1 /home/alice/in /srv/in rw - ext4 /dev/vda1 rw',
  '94 22 254:1 /home/alice/in /srv/covered rw - ext4 /dev/vda1 rw',
  '95 94 0:43 / /srv/covered rw - tmpfs tmpfs rw',
].join('\n');

test.each([
  ['/srv/x', null],
  ['/mnt/nas one', '/mnt/nas one'],
  ['/mnt/nas one/a', '/mnt/nas one'],
  ['/mnt/nas one/deep/a', '/mnt/nas one/deep'],
  ['/mnt/nas', null],
])('%s is on %s', (path, mountPoint) => {
  expect(mountPointOf(path, mountinfo)).toBe(mountPoint);
});

test.each([
  ['a directory that is bound to it', '/srv/in', true],
  ['a whole file system', '/mnt/nas one', false],
  ['a file system over a bound directory', '/srv/covered', false],
  ['nothing', '/srv', false],
])('at a path there is %s', (_, path, isBound) => {
  expect(isBoundAt(path, mountinfo)).toBe(isBound);
});

const none = { watches: null, instances: null, isOutOfFiles: false };

test.for([
  [
    'the known limit and what all folders need, rounded up',
    'ENOSPC',
    20_000,
    { ...none, watches: 8_192 },
    /max_user_watches=32768`/,
  ],
  [
    'more than the limit, where little is needed',
    'ENOSPC',
    10,
    { ...none, watches: 65_536 },
    /max_user_watches=131072`/,
  ],
  ['an unreadable limit', 'ENOSPC', 1, none, /1 directory has to be watched.*max_user_watches=1048576`/],
  ['very many', 'ENOSPC', 3_000_000, none, /3,000,000 directories.*max_user_watches=4194304`/],
  ['instances', 'EMFILE', 1, { ...none, instances: 128 }, /max_user_instances=256`/],
  ['unreadable instances', 'EMFILE', 1, none, /max_user_instances=1024`/],
  ['open files', 'EMFILE', 1, { ...none, isOutOfFiles: true }, /ulimit -n 65536.*LimitNOFILE=65536/],
] as const)('the line that raises the limit is exact: %s', ([, code, directories, limits, line]) => {
  expect(watchLimitAdvice(code, directories, limits)).toMatch(line);
});

test('the directories of all folders count, those of a closed one do not', () => {
  const directories = new WatchedDirectories();
  directories.set('/a', 3);
  directories.set('/b', 4);
  directories.set('/a', 5);
  expect(directories.total).toBe(9);
  directories.delete('/b');
  expect(directories.total).toBe(5);
});

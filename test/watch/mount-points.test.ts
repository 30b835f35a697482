import { expect, test } from 'vitest';
import { isBoundAt, mountPointOf } from '../../src/watch/kernel.ts';

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

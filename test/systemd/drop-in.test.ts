import { expect, test } from 'vitest';
import { dropInText } from '../../src/systemd/drop-in.ts';
import type { Site, SiteFolder } from '../../src/systemd/drop-in.ts';
import { mountPointOf } from '../../src/systemd/mount-points.ts';

const folder = (path: string, more: Partial<SiteFolder> = {}): SiteFolder => ({
  path,
  realPath: path,
  isThere: true,
  isWritten: true,
  mountPoint: null,
  groups: [],
  commands: [],
  ...more,
});

function linesFor(folders: readonly SiteFolder[], more: Partial<Site> = {}): readonly string[] {
  const configFile = '/etc/dropcast/dropcast.yaml';
  const text = dropInText({ configFile, folders, written: [], secretFiles: [], port: null, ...more });
  expect(text).toMatch(/^# Made by .*\/etc\/dropcast\/dropcast\.yaml\. .*\n/);
  return text.split('\n').slice(1).filter(Boolean);
}

test('a site of every kind of folder', () => {
  expect(
    linesFor(
      [
        folder('/srv/My Videos', { groups: ['media', 'video'] }),
        folder('/mnt/nas one/100%', { mountPoint: '/mnt/nas one', groups: ['media'] }),
        folder('/mnt/nas one/b', { mountPoint: '/mnt/nas one', isWritten: false }),
        folder('/home/alice/in', { isWritten: false }),
        folder('/tmp/drop'),
        folder('/srv/link', { realPath: '/root/in' }),
        folder('/srv/late', { isThere: false }),
        folder('/srv/closed', { commands: ["sudo setfacl -m u:dropcast:rwX '/srv/closed'"] }),
      ],
      {
        written: [{ path: '/data/state', realPath: '/data/state' }],
        secretFiles: [
          { path: '/etc/dropcast/hook', realPath: '/etc/dropcast/hook' },
          { path: '/root/key', realPath: '/root/key' },
        ],
        port: 8080,
      },
    ),
  ).toEqual([
    '[Unit]',
    String.raw`Wants=mnt-nas\x20one.mount`,
    String.raw`After=mnt-nas\x20one.mount`,
    '[Service]',
    'ReadWritePaths="-/srv/My Videos"',
    'ReadWritePaths="-/mnt/nas one/100%%"',
    '# "/mnt/nas one/b" is only read.',
    'BindReadOnlyPaths=-/home/alice/in',
    'BindPaths=-/tmp/drop',
    'BindPaths=-/root/in',
    '# The service cannot use /srv/link with newer versions of systemd (seen: 257), which keep /root closed: move it.',
    'ReadWritePaths=-/srv/late',
    '# /srv/late is not there. Make this again once it is: its groups are not known yet.',
    'ReadWritePaths=-/srv/closed',
    "# The service cannot use /srv/closed before somebody runs: sudo setfacl -m u:dropcast:rwX '/srv/closed'",
    'SupplementaryGroups=media video',
    'ReadWritePaths=-/data/state',
    'BindReadOnlyPaths=-/root/key',
    'NoExecPaths="-/srv/My Videos" "-/mnt/nas one/100%%" -/srv/late -/srv/closed -/data/state',
    'SocketBindAllow=tcp:8080',
  ]);
});

test('a site that needs nothing says so, and has no empty section', () => {
  expect(linesFor([], {})).toEqual(['# They need nothing that the unit does not have.']);
});

test('any port is any', () => {
  expect(linesFor([], { port: 0 })).toContain('SocketBindAllow=tcp');
});

test('places that only begin like hidden ones are not hidden', () => {
  expect(linesFor([folder('/homes/x'), folder('/tmpfs'), folder('/var/tmpx/y')])).toEqual([
    '[Service]',
    'ReadWritePaths=-/homes/x',
    'ReadWritePaths=-/tmpfs',
    'ReadWritePaths=-/var/tmpx/y',
    'NoExecPaths=-/homes/x -/tmpfs -/var/tmpx/y',
  ]);
});

test('a path with a line break makes no drop-in', () => {
  expect(() => linesFor([folder('/srv/a\nExecStartPre=/bin/sh')])).toThrow('control character');
  expect(() => linesFor([folder('/srv/a\nExecStartPre=/bin/sh', { isWritten: false })])).toThrow('control character');
});

const mountinfo = [
  '22 1 254:1 / / rw shared:1 - ext4 /dev/vda1 rw',
  String.raw`90 22 0:40 / /mnt/nas\040one rw - nfs nas:/x rw`,
  '91 90 0:41 / /mnt/nas\\040one/deep rw - tmpfs tmpfs rw',
  '92 22 0:42 / /mn rw - tmpfs tmpfs rw',
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

import { expect, test } from 'vitest';
import { dropInText, needsOf } from '../../src/systemd/drop-in.ts';
import type { UnitNeeds, FolderNeeds } from '../../src/systemd/drop-in.ts';
import { linkLocalResolvers } from '../../src/cli/systemd/unit-needs.ts';

const folder = (path: string, more: Partial<FolderNeeds> = {}): FolderNeeds => ({
  path,
  realPath: path,
  isThere: true,
  isWritten: true,
  mountPoint: null,
  groups: [],
  commands: [],
  groupCommand: null,
  ...more,
});

function linesFor(folders: readonly FolderNeeds[], more: Partial<UnitNeeds> = {}): readonly string[] {
  const configFile = '/etc/dropcast/dropcast.yaml';
  const text = dropInText({
    configFile,
    folders,
    written: [],
    secretFiles: [],
    port: null,
    programs: [],
    resolvers: [],
    ...more,
  });
  expect(text).toMatch(/^# .*\/etc\/dropcast\/dropcast\.yaml\. .*\n/);
  return text.split('\n').slice(1).filter(Boolean);
}

const restartFor = (path: string): unknown => expect.stringMatching(new RegExp(`^# .*${path} .*restart`));

test('every kind of folder', () => {
  expect(
    linesFor(
      [
        folder('/srv/My Videos', { groups: ['media', 'video'], groupCommand: "sudo chmod g+s '/srv/My Videos'" }),
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
        resolvers: ['169.254.169.254'],
      },
    ),
  ).toEqual([
    '[Unit]',
    String.raw`Wants=mnt-nas\x20one.mount`,
    String.raw`After=mnt-nas\x20one.mount`,
    '[Service]',
    'ReadWritePaths="-/srv/My Videos"',
    expect.stringMatching(/^# The group of "\/srv\/My Videos" cannot .*: sudo chmod g\+s '\/srv\/My Videos'$/),
    'ReadWritePaths="-/mnt/nas one/100%%"',
    expect.stringMatching(/^# "\/mnt\/nas one\/b" is read-only/),
    'BindReadOnlyPaths=-/home/alice/in',
    restartFor('/home/alice/in'),
    'BindPaths=-/tmp/drop',
    restartFor('/tmp/drop'),
    'BindPaths=-/root/in',
    restartFor('/srv/link'),
    expect.stringMatching(/^# The service cannot use \/srv\/link .*systemd/),
    'ReadWritePaths=-/srv/late',
    expect.stringMatching(/^# \/srv\/late does not exist/),
    'ReadWritePaths=-/srv/closed',
    expect.stringMatching(
      /^# The service cannot use \/srv\/closed .*: sudo setfacl -m u:dropcast:rwX '\/srv\/closed'$/,
    ),
    'SupplementaryGroups=media video',
    'ReadWritePaths=-/data/state',
    'BindReadOnlyPaths=-/root/key',
    'NoExecPaths="-/srv/My Videos" "-/mnt/nas one/100%%" -/tmp/drop -/srv/link -/srv/late -/srv/closed -/data/state',
    'IPAddressAllow=169.254.169.254',
    'SocketBindAllow=tcp:8080',
  ]);
});

test('folders that need nothing are said to, and has no empty section', () => {
  expect(linesFor([], {})).toEqual([expect.stringMatching(/^# .*nothing/)]);
});

test('the needs are its own lines, without comments and foreign additions', () => {
  const text = `${linesFor([folder('/srv/a', { groups: ['media'] })], { port: 8080 }).join('\n')}\nIPAddressDeny=any\n`;
  expect([...needsOf(text)]).toEqual([
    'ReadWritePaths=-/srv/a',
    'SupplementaryGroups=media',
    'NoExecPaths=-/srv/a',
    'SocketBindAllow=tcp:8080',
  ]);
});

test('a mount whose unit has a name that is too long for systemd is not named', () => {
  const lines = linesFor([
    folder('/mnt/x', { mountPoint: `/mnt/${'é'.repeat(30)}` }),
    folder('/mnt/y', { mountPoint: `/mnt/${'é'.repeat(127)}` }),
  ]);
  expect(lines.filter((line) => line.startsWith('Wants='))).toHaveLength(1);
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
  // Where a link leads may be up to somebody with fewer rights than root, who writes the file.
  const command = "sudo chmod g+s '/srv/a\nExecStartPre=/bin/sh'";
  expect(() => linesFor([folder('/srv/a', { commands: [command] })])).toThrow('control character');
  expect(() => linesFor([folder('/srv/a', { groupCommand: command })])).toThrow('control character');
});

test('name servers that the unit would block are found', () => {
  const text =
    '# nameserver 169.254.1.1\nnameserver 169.254.169.254\nnameserver 9.9.9.9\nnameserver fe80::1%eth0\nnameserver ::1\nsearch a.b\n';
  expect(linkLocalResolvers(text)).toEqual(['169.254.169.254', 'fe80::1']);
});

test('programs of notifications may be executed, and nothing else', () => {
  expect(linesFor([], { programs: ['/usr/local/bin/tell', '/usr/bin/dash'] })).toEqual([
    '[Service]',
    expect.stringMatching(/^# Commands of notifications\./),
    'ExecPaths=-/usr/local/bin/tell -/usr/bin/dash',
  ]);
});

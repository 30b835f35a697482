import { expect, test } from 'vitest';
import { dropInText } from '../../../src/systemd/drop-in.ts';
import type { FolderNeeds } from '../../../src/systemd/drop-in.ts';
import { accountName } from '../../../src/passwd.ts';
import { UnitError } from '../../../src/systemd/unit-text.ts';
import type { Box } from '../box.ts';
import { quoted } from '../installed.ts';

/** What means something to systemd, to a shell or to a terminal. */
const names = [
  'plain',
  'a b',
  ' lead and trail ',
  '100%x',
  '%n',
  '%%h',
  '$HOME',
  '${HOME}',
  '#x',
  ';x',
  'a;b #c',
  '-dash',
  '+plus',
  '!bang',
  '@at',
  '=eq',
  '*',
  '[x]',
  '~',
  '..x',
  'ü—日本',
  'é'.repeat(127),
] as const;

/** What systemd 257 loses on the way to the service where it is bound; elsewhere it is a name like others. */
const unbindable = [
  'a:b',
  'x:/usr/lib/dropcast/bin',
  'x:/etc:rbind',
  '"q"',
  "it's",
  'back\\slash',
  'end\\',
  '\\:x',
] as const;

/** What no line of a unit can contain. */
const unwritable = ['a\nExecStartPre=/bin/sh', 'a\tb', 'a\rb', '\u001b[2J'] as const;

const base = `[Service]
Type=oneshot
ProtectSystem=strict
ProtectHome=tmpfs
PrivateTmp=yes
StandardOutput=truncate:/run/names.out
ExecStart=/bin/cat /proc/self/mountinfo /proc/self/status
`;

/** What the drop-in sets; everything else of the unit must stay. */
const ours = new Set(
  'BindPaths BindReadOnlyPaths ReadWritePaths NoExecPaths SupplementaryGroups SocketBindAllow Wants After DropInPaths'.split(
    ' ',
  ),
);

/** Reads back what systemd makes of a drop-in. Boots nothing but systemd: the package is not needed. */
export function checkHostileNames(box: () => Box): void {
  const homes = names.map((name) => `/home/${name}`);
  const others = [...names, ...unbindable].map((name) => `/srv/${name.replaceAll('/', '_')}`);

  test('every folder is mounted where it is, and only there, whatever its name', async () => {
    await make(box(), [...homes, ...others]);
    const before = await start(box(), '');
    const after = await start(box(), textFor([...homes, ...others].map((path) => folder(path))));
    const added = difference(after.mounts, before.mounts);
    expect([...added.keys()].toSorted()).toEqual([...homes, ...others].toSorted());
    // Each shows itself, may be written to, and nothing in it may be executed.
    for (const [path, { root, flags }] of added) {
      expect({ path, isItself: path.endsWith(root) || root.endsWith(path) }).toEqual({ path, isItself: true });
      expect({ path, flags }).toMatchObject({ flags: expect.arrayContaining(['rw', 'noexec']) });
    }
    expect(after.complaints).toBe('');
    expect(settings(after)).toEqual(settings(before));
  });

  test('read-only folders and secrets are bound where they are', async () => {
    await make(box(), homes);
    const before = await start(box(), '');
    const after = await start(box(), textFor(homes.map((path) => folder(path, { isWritten: false }))));
    const added = difference(after.mounts, before.mounts);
    expect([...added.keys()].toSorted()).toEqual(homes.toSorted());
    for (const { flags } of added.values()) expect(flags).toContain('ro');
    expect(settings(after)).toEqual(settings(before));
  });

  test('the service waits for the mount units that systemd would make, whatever their names', async () => {
    const paths = [...homes, ...others];
    const mounted = paths.map((path) => folder('/srv/plain', { mountPoint: path }));
    const { properties, complaints } = await start(box(), textFor(mounted));
    const escaped = await box().read(`systemd-escape --path --suffix=mount -- ${paths.map(quoted).join(' ')}`);
    const short = escaped.split(' ').filter((unit) => Buffer.byteLength(unit) < 256);
    expect(short.length).toBeGreaterThan(paths.length - 3);
    for (const key of ['Wants', 'After'])
      expect(unitsIn(properties.get(key) ?? '')).toEqual(expect.arrayContaining(short));
    expect(complaints).toBe('');
  });

  test.each(unbindable)('a folder of /home with the name %j is refused', (name) => {
    expect(() => textFor([folder(`/home/${name}`)])).toThrow(UnitError);
    expect(() => textFor([folder('/srv/link', { realPath: `/home/${name}` })])).toThrow(UnitError);
  });

  test.each(unwritable)('a folder with the name %j is refused', (name) => {
    for (const place of ['/srv', '/home']) expect(() => textFor([folder(`${place}/${name}`)])).toThrow(UnitError);
  });

  test('the service joins the groups that were meant, whatever their names', async () => {
    const table = 'media:x:4001:\n27:x:4002:\nmy team:x:4003:\n%n:x:4005:\ndocker:x:4006:\nmedia:x:4007:\n';
    await box().read('cat >> /etc/group', { input: table });
    const gids = [4001, 4002, 4003, 4005, 4007];
    const groups = gids.map((gid) => accountName(gid, table));
    const { status } = await start(box(), textFor([folder('/srv/plain', { groups })]));
    const joined = /^Groups:\t(.*)$/m
      .exec(status)?.[1]
      ?.trim()
      .split(' ')
      .map(Number)
      .filter((gid) => gid !== 0);
    expect(joined?.toSorted()).toEqual(gids);
  });
}

/** Names of units as `systemctl show` prints them: quoted where they contain a backslash. */
function unitsIn(list: string): readonly string[] {
  return list.split(' ').map((name) => name.replaceAll('"', '').replaceAll('\\\\', '\\'));
}

function folder(path: string, more: Partial<FolderNeeds> = {}): FolderNeeds {
  const usual = { isThere: true, isWritten: true, mountPoint: null, groups: [], commands: [], groupCommand: null };
  return { path, realPath: path, ...usual, ...more };
}

function textFor(folders: readonly FolderNeeds[]): string {
  return dropInText({
    configFile: '/etc/x',
    folders,
    written: [],
    secretFiles: [],
    port: null,
    programs: [],
    resolvers: [],
  });
}

async function make(box: Box, paths: readonly string[]): Promise<void> {
  await box.read(`mkdir -p -- ${paths.map(quoted).join(' ')}`);
}

interface Mount {
  /** What of its file system it shows. */
  readonly root: string;
  readonly flags: readonly string[];
}

interface Started {
  readonly mounts: ReadonlyMap<string, Mount>;
  readonly properties: ReadonlyMap<string, string>;
  /** /proc/self/status of the program. */
  readonly status: string;
  readonly complaints: string;
}

/** Starts a unit with this drop-in, and says what its program sees. */
async function start(box: Box, dropIn: string): Promise<Started> {
  const folder = '/run/systemd/system';
  await box.read(`mkdir -p ${folder}/names.service.d && cat > ${folder}/names.service`, { input: base });
  await box.read(`cat > ${folder}/names.service.d/folders.conf`, { input: dropIn });
  await box.read('systemctl daemon-reload && systemctl restart names');
  const output = await box.read('cat /run/names.out');
  const show = await box.read('systemctl show names');
  return {
    mounts: mountsIn(output),
    properties: new Map(show.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string])),
    status: output,
    complaints: (await box.run('systemd-analyze --man=no verify names.service 2>&1 | grep folders.conf')).stdout,
  };
}

/** proc_pid_mountinfo(5). */
function mountsIn(mountinfo: string): ReadonlyMap<string, Mount> {
  const fields = mountinfo.split('\n').flatMap((line) => (/^\d+ \d+ \d+:\d+ /.test(line) ? [line.split(' ')] : []));
  return new Map(
    fields.map(([, , , root = '', point = '', flags = '']) => [
      unescaped(point),
      { root: unescaped(root), flags: flags.split(',') },
    ]),
  );
}

function unescaped(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function difference(some: ReadonlyMap<string, Mount>, others: ReadonlyMap<string, Mount>): ReadonlyMap<string, Mount> {
  return new Map([...some].filter(([point]) => !others.has(point)));
}

/** All that the unit has been told, without what every start changes. */
function settings({ properties }: Started): Readonly<Record<string, string>> {
  const isSetting = (name: string): boolean =>
    !ours.has(name) &&
    !/Timestamp|PID|InvocationID|NSec|ControlGroup|NRestarts|IPIngress|IPEgress|IO|Memory|Tasks|Requires/.test(name);
  const kept = [...properties].filter(([name]) => isSetting(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, value.replaceAll(/(?:start_time|stop_time|pid)=[^;]*/g, '')]),
  );
}

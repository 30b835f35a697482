import { describe, expect, test } from 'vitest';
import { isJoinable } from '../../src/cli/systemd/unit-needs.ts';
import { accountName, findUser } from '../../src/passwd.ts';
import { access, isOpenByMode, planAccess } from '../../src/systemd/folder-access.ts';
import type { Allows, Directory } from '../../src/systemd/folder-access.ts';

const user = { uid: 997, gids: new Set([997]), home: '/var/lib/dropcast' };
const byMode: Allows = async (who, directory) => isOpenByMode(who, directory);
const policy = { allows: byMode, isJoinable: (gid: number) => gid !== 0 };
const root = { path: '/srv', mode: 0o755, uid: 0, gid: 0, needs: access.enter };
const folder = (mode: number, gid = 44, uid = 1000, needs: number = access.write): Directory => ({
  path: '/srv/in',
  mode,
  uid,
  gid,
  needs,
});

test.each<[string, Directory[], number[], string[]]>([
  ['open to everybody', [folder(0o777)], [], []],
  ['open to a group', [folder(0o2770)], [44], []],
  ['readable for everybody, which is enough', [folder(0o755, 44, 1000, access.read)], [], []],
  ['readable for everybody, which is not enough', [folder(0o775)], [44], []],
  ['a group that may not write', [folder(0o750)], [], ['/srv/in']],
  ['a group that may not enter', [folder(0o760)], [], ['/srv/in']],
  ['of the group of root, which has no members', [folder(0o770, 0)], [], ['/srv/in']],
  ['of its own group already', [folder(0o770, 997)], [], []],
  ['its own', [folder(0o700, 44, 997)], [], []],
  ['its own but not for itself: a group would not help', [folder(0o070, 44, 997)], [], ['/srv/in']],
  [
    'below a directory of another group',
    [{ ...folder(0o710, 50), path: '/srv/a', needs: access.enter }, folder(0o770)],
    [50, 44],
    [],
  ],
  [
    'below a closed directory',
    [{ ...folder(0o700, 50), path: '/srv/a', needs: access.enter }, folder(0o777)],
    [],
    ['/srv/a'],
  ],
])('a folder %s', async (_, directories, gids, closed) => {
  const plan = await planAccess(user, [root, ...directories], policy);
  expect(plan.gids).toEqual(gids);
  expect(plan.closed.map(({ path }) => path)).toEqual(closed);
});

test('one group for two folders is one', async () => {
  const folders = [folder(0o770), { ...folder(0o770), path: '/srv/other' }];
  expect((await planAccess(user, folders, policy)).gids).toEqual([44]);
});

test('no group is taken for a folder that the kernel opens without it, nor one that the kernel does not open it for', async () => {
  const byList: Allows = async ({ uid }) => uid === user.uid;
  // The bits of the group are the mask of the list: `group::---`, `user:dropcast:rwx`.
  expect(await planAccess(user, [folder(0o770)], { ...policy, allows: byList })).toEqual({ gids: [], closed: [] });
  const toNobody: Allows = async () => false;
  expect(await planAccess(user, [folder(0o770)], { ...policy, allows: toNobody })).toEqual({
    gids: [],
    closed: [folder(0o770)],
  });
});

const passwd =
  'root:x:0:0:root:/root:/bin/bash\ndropcast:x:997:995:dropcast video uploader:/var/lib/dropcast:/usr/sbin/nologin\n';
const group = 'root:x:0:\nvideo:x:44:alice,dropcast\nmedia:x:1001:dropcasting\ndropcast:x:995:\n';

test('a user is in its own group and in those that list it', () => {
  expect(findUser('dropcast', passwd, group)).toEqual({
    uid: 997,
    gids: new Set([995, 44]),
    home: '/var/lib/dropcast',
  });
  expect(findUser('nobody', passwd, group)).toBeNull();
});

test('an account without a name is its number', () => {
  expect([accountName(1001, group), accountName(7, group), accountName(997, passwd)]).toEqual([
    'media',
    '7',
    'dropcast',
  ]);
});

test.each([
  ['a name that is a number', 'sudo:x:27:\n27:x:1001:\n'],
  ['a name that another group has, too', 'media:x:27:\nmedia:x:1001:\n'],
  ['a name with a space, which systemd takes for two', 'my media:x:1001:\n'],
  ['a name that begins like an option', '-media:x:1001:\n'],
  ['a name with a percent sign', '%n:x:1001:\n'],
])('%s names no account: its number does', (_, table) => {
  expect(accountName(1001, table)).toBe('1001');
});

describe('the service', () => {
  const names = 'root adm disk shadow docker sudo systemd-journal lxd kvm video'.split(' ');

  test.each(names)('does not join %s, whatever its number', (name) => {
    expect(isJoinable(1001, `${name}:x:1001:\n`)).toBe(false);
    expect(isJoinable(1001, `harmless:x:1001:\n${name}:x:1001:\n`)).toBe(false);
  });

  test.each([0, 4, 6, 27, 42, 44, 100, 999, 65_534, 65_535])('does not join group %i, whatever its name', (gid) => {
    expect(isJoinable(gid, `media:x:${gid}:\n`)).toBe(false);
    expect(isJoinable(gid, '')).toBe(false);
  });

  test.each([1000, 1001, 4242, 1_200_513])('joins group %i of people', (gid) => {
    expect(isJoinable(gid, `media:x:${gid}:\n`)).toBe(true);
  });

  // systemd would not start it: 216/GROUP.
  test('does not join a group that the machine does not know', () => {
    expect(isJoinable(1001, 'media:x:1002:\n-media:x:1001:\n')).toBe(false);
  });
});

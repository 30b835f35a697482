import { expect, test } from 'vitest';
import { accountName, findUser } from '../../src/systemd/passwd.ts';
import { access, isOpenByMode, planAccess } from '../../src/systemd/folder-access.ts';
import type { Allows, Directory } from '../../src/systemd/folder-access.ts';

const user = { uid: 997, gids: new Set([997]), home: '/var/lib/dropcast' };
const byMode: Allows = async (who, directory) => isOpenByMode(who, directory);
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
  ['of the group of root, which nobody is put into', [folder(0o770, 0)], [], ['/srv/in']],
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
  const plan = await planAccess(user, [root, ...directories], byMode);
  expect(plan.gids).toEqual(gids);
  expect(plan.closed.map(({ path }) => path)).toEqual(closed);
});

test('one group for two folders is one', async () => {
  const folders = [folder(0o770), { ...folder(0o770), path: '/srv/other' }];
  expect((await planAccess(user, folders, byMode)).gids).toEqual([44]);
});

test('no group is taken for a folder that the kernel opens without it, nor one that the kernel does not open it for', async () => {
  const byList: Allows = async ({ uid }) => uid === user.uid;
  // The bits of the group are the mask of the list: `group::---`, `user:dropcast:rwx`.
  expect(await planAccess(user, [folder(0o770)], byList)).toEqual({ gids: [], closed: [] });
  const toNobody: Allows = async () => false;
  expect(await planAccess(user, [folder(0o770)], toNobody)).toEqual({ gids: [], closed: [folder(0o770)] });
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

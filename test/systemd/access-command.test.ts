import { expect, test } from 'vitest';
import { access, accessCommand, groupCommand } from '../../src/systemd/folder-access.ts';
import type { Directory } from '../../src/systemd/folder-access.ts';

const service = { name: 'dropcast', uid: 997 };
const owners = { user: 'alice', group: 'media', groupAccess: access.read };
const drop: Directory = { path: '/home/alice/drop', mode: 0o750, uid: 1000, gid: 44, needs: access.write };

test.each([
  [
    'with the owner and the group having what is made there',
    drop,
    owners,
    'u:dropcast:rwX,d:u:dropcast:rwX,d:u:alice:rwX,d:g:media:rX',
  ],
  [
    'with nothing for a group that may do nothing',
    drop,
    { ...owners, groupAccess: 0 },
    'u:dropcast:rwX,d:u:dropcast:rwX,d:u:alice:rwX',
  ],
  [
    'with nothing for root',
    drop,
    { user: null, group: null, groupAccess: access.write },
    'u:dropcast:rwX,d:u:dropcast:rwX',
  ],
  [
    'with no additional rights for the owner',
    { ...drop, mode: 0o500 },
    { ...owners, groupAccess: 0 },
    'u:dropcast:rwX,d:u:dropcast:rwX,d:u:alice:rX',
  ],
  [
    'of a name with a blank',
    drop,
    { ...owners, user: String.raw`HQ\al ice`, group: null },
    String.raw`u:dropcast:rwX,d:u:dropcast:rwX,'d:u:HQ\al ice:rwX'`,
  ],
  [
    'that is only read: nothing is made there',
    { ...drop, needs: access.read },
    owners,
    'u:dropcast:rX,d:u:dropcast:rX',
  ],
])('a folder is opened %s', (_, directory, whose, entries) => {
  expect(accessCommand(service, directory, whose)).toBe(`sudo setfacl -R -P -m ${entries} '/home/alice/drop'`);
});

test('a directory on the way is only opened to be gone through', () => {
  const onTheWay = { ...drop, path: "/srv/it's", needs: access.enter };
  expect(accessCommand(service, onTheWay, owners)).toBe(String.raw`sudo setfacl -m u:dropcast:x '/srv/it'\''s'`);
});

test.each([
  [access.write, 'u+rwX'],
  [access.read, 'u+rX'],
  [access.enter, 'u+x'],
])('what is its own no list opens, but its mode (needs %o)', (needs, change) => {
  expect(accessCommand(service, { ...drop, uid: 997, needs }, owners)).toBe(`sudo chmod ${change} '/home/alice/drop'`);
});

test('a folder of a group hands its group on only with the bit for it', () => {
  expect(groupCommand(drop)).toBe("sudo chmod g+s '/home/alice/drop'");
  expect(groupCommand({ ...drop, mode: 0o2770 })).toBeNull();
});

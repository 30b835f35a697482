import { expect, test } from 'vitest';
import type { Wait } from '../../../src/view/waits.ts';
import { accessVerdict, fixFor, joined } from '../../../src/cli/doctor/checks/access.ts';
import { backupVerdict, ledger, receiptVerdict } from '../../../src/cli/doctor/checks/ledger.ts';
import { configuration } from '../../../src/cli/doctor/checks/configuration.ts';
import {
  certificateVerdict,
  clockVerdict,
  connection,
  jumpVerdict,
  othersFinding,
  service as serviceCheck,
} from '../../../src/cli/doctor/checks/service.ts';
import { versionVerdict, failureLogVerdict, linkedLog } from '../../../src/cli/doctor/checks/daemon.ts';
import { folderVerdict, stateVerdict } from '../../../src/cli/doctor/checks/disk.ts';
import { deafVerdict, notifications } from '../../../src/cli/doctor/checks/notifications.ts';
import { filesVerdict } from '../../../src/cli/doctor/checks/files.ts';
import { instanceFindings, watches, watchFinding } from '../../../src/cli/doctor/checks/folders.ts';
import { fleet } from '../../../src/cli/doctor/checks/fleet.ts';
import { scopeOf } from '../../../src/cli/doctor/doctor.ts';
import { findingFrom, hungFix } from '../../../src/cli/doctor/finding.ts';
import type { Finding } from '../../../src/cli/doctor/finding.ts';
import type { Patient } from '../../../src/cli/doctor/patient.ts';
import { installedService } from '../../../src/config/installed-service.ts';
import { tooFewWatches } from '../../../src/watch/kernel.ts';

const [MB, GB, hour, day] = [2 ** 20, 2 ** 30, 3_600_000, 86_400_000];
const service = installedService(null);
const stop: Wait = {
  cause: 'service',
  holds: 'everything',
  what: 'everything',
  why: 'no answer',
  since: null,
  until: null,
  remedy: null,
};
const usual = { service, option: undefined };
const noon = new Date('2026-11-22T12:00').getTime();

/** Verdict → `level: what`, or nothing. */
const cases: readonly (readonly [name: string, findings: readonly Finding[], said: string | null])[] = [
  ['state disk with room', stateVerdict('/s', { freeBytes: 2 * GB, freeInodes: null }), null],
  [
    'state disk with little room',
    stateVerdict('/s', { freeBytes: 500 * MB, freeInodes: null }),
    'warning: the disk of the state directory /s has 524 MB left',
  ],
  [
    'state disk almost full',
    stateVerdict('/s', { freeBytes: 10 * MB, freeInodes: 5 }),
    'problem: the disk of the state directory /s has 10.5 MB left',
  ],
  [
    'state disk without inodes',
    stateVerdict('/s', { freeBytes: 2 * GB, freeInodes: 7 }),
    'warning: the disk of /s has room for only 7 more files',
  ],
  [
    'folder with room for the largest file',
    folderVerdict('/f', { freeBytes: 5 * GB, freeInodes: 9_999 }, 5 * GB),
    null,
  ],
  [
    'folder without it',
    folderVerdict('/f', { freeBytes: 4 * GB, freeInodes: 9_999 }, 5 * GB),
    'warning: the disk of /f has 4.29 GB left; the largest file so far had 5.37 GB',
  ],
  ['folder without any file', folderVerdict('/f', { freeBytes: 1, freeInodes: null }, 0), null],
  ['access that is right', accessVerdict('/f', 0, '', 'you'), null],
  ['a folder that cannot be entered', accessVerdict('/f', 11, '', 'you'), 'problem: you cannot enter /f'],
  ['a folder that cannot be listed', accessVerdict('/f', 12, '', 'you'), 'problem: you cannot list /f'],
  [
    'a file that cannot be read',
    accessVerdict('/f', 13, './a.mp4', 'you'),
    'problem: you cannot read a file in /f: ./a.mp4',
  ],
  [
    'a directory that cannot be opened',
    accessVerdict('/f', 18, './private', 'you'),
    'problem: you cannot open a directory in /f: ./private',
  ],
  ['no right to create', accessVerdict('/f', 14, '', 'you'), 'problem: you cannot create files in /f'],
  ['no right to rename', accessVerdict('/f', 15, '', 'you'), 'problem: you cannot rename files in /f'],
  ['no right to delete', accessVerdict('/f', 16, '', 'you'), 'problem: you cannot delete files in /f'],
  [
    'a try that could not be made',
    accessVerdict('/f', 127, '', 'you'),
    'warning: could not test whether you may use /f (setpriv: exit 127)',
  ],
  ['a certificate for long', certificateVerdict(15 * day, 0), null],
  ['no certificate', certificateVerdict(null, 0), null],
  [
    'a certificate for a week',
    certificateVerdict(7 * day, 0),
    'warning: the certificate of the service is valid for 7 more days',
  ],
  [
    'a certificate that ended',
    certificateVerdict(-day, 0),
    'warning: the certificate of the service is valid for 0 more days',
  ],
  ['the right time', clockVerdict(60_000, 0), null],
  ['a service without a clock', clockVerdict(null, 0), null],
  ['a clock ahead', clockVerdict(0, 90_000), "warning: the clock of this machine is 90 s ahead of the service's"],
  ['a clock behind', clockVerdict(hour, 0), "warning: the clock of this machine is 3600 s behind the service's"],
  ['clocks that agree', jumpVerdict({ wallMs: day, monotonicMs: day - 59_000 }), null],
  [
    'a clock that was set forward',
    jumpVerdict({ wallMs: day, monotonicMs: hour }),
    'warning: the clock was set forward by 82800 s',
  ],
  [
    'a clock that was set back',
    jumpVerdict({ wallMs: -hour, monotonicMs: hour }),
    'warning: the clock was set back by 7200 s',
  ],
  ['the installed version', versionVerdict(5, 6, { service }), null],
  [
    'an older version',
    versionVerdict(7, 6, { service }),
    'warning: another version was installed after the daemon started',
  ],
  ['a clone', versionVerdict(7, 6, { service: null }), null],
  ['a new backup', backupVerdict({ backupAt: 8 * hour, writtenAt: 8.5 * hour, runningSince: 0, now: 9 * hour }), null],
  [
    'an old backup',
    backupVerdict({ backupAt: 5 * hour, writtenAt: 8.5 * hour, runningSince: 0, now: 9 * hour }),
    'warning: the newest backup is more than an hour older',
  ],
  [
    'no backup',
    backupVerdict({ backupAt: null, writtenAt: 8 * hour, runningSince: 0, now: 9 * hour }),
    'warning: there is no backup of the ledger',
  ],
  [
    'no backup yet',
    backupVerdict({ backupAt: null, writtenAt: 8 * hour, runningSince: 8.5 * hour, now: 9 * hour }),
    null,
  ],
  ['no backup of nothing', backupVerdict({ backupAt: null, writtenAt: 0, runningSince: 0, now: 9 * hour }), null],
  ['no daemon to make any', backupVerdict({ backupAt: null, writtenAt: 1, runningSince: null, now: 9 * hour }), null],
  ['a failure log that is rotated', failureLogVerdict({ path: '/l', size: MB, isRotated: true }), null],
  [
    'one that is not',
    failureLogVerdict({ path: '/l', size: 0, isRotated: false }),
    'warning: /etc/logrotate.d/dropcast is missing',
  ],
  ['a large one', failureLogVerdict({ path: '/l', size: 100 * MB, isRotated: null }), 'warning: /l has 105 MB'],
  ['a linked one', [linkedLog('/l', true)], 'warning: /l is a symbolic link, so no failure is written there'],
  [
    'a target that refuses the token',
    [
      deafVerdict(
        { name: 'phone', type: 'ntfy', why: 'answered 401: unauthorized', since: noon, waiting: 3 },
        { ...usual, now: noon + hour },
      ),
    ],
    'warning: ntfy "phone" has accepted nothing since 12:00: answered 401: unauthorized; 3 messages wait',
  ],
  ['receipts that are known', receiptVerdict(0, 0, service), null],
  ['receipts that are not', receiptVerdict(2, 0, service), 'problem: 2 of the newest receipts'],
  ['strange receipts', receiptVerdict(0, 3, service), 'warning: receipts.jsonl has 3 lines'],
  ['a key of one’s own', othersFinding({ limit: 1000, others: 50 }), null],
  ['a shared key', othersFinding({ limit: 1000, others: 51 }), 'warning: something else used 51 of the 1000 requests'],
  ['nothing to do', filesVerdict({ stuck: 0, suspects: 0, waits: [] }, usual), null],
  ['one file', filesVerdict({ stuck: 1, suspects: 0, waits: [] }, usual), 'warning: 1 file needs you'],
  [
    'suspects',
    filesVerdict({ stuck: 0, suspects: 2, waits: [] }, usual),
    'warning: 2 records on the service may be empty',
  ],
  [
    'everything waits',
    filesVerdict({ stuck: 3, suspects: 2, waits: [stop] }, usual),
    'problem: Everything waits: no answer',
  ],
  ['enough inotify instances', instanceFindings(128), null],
  ['unknown instances', instanceFindings(null), null],
  ['too few instances', instanceFindings(8), 'warning: a user may open only 8 inotify instances'],
];

test.each(cases)('%s', (_, findings, said) => {
  const [first] = findings;
  const line = first === undefined ? null : `${first.level}: ${first.what}`;
  if (said === null) expect(findings).toEqual([]);
  else expect(line).toContain(said);
});

test('too low a limit of watches comes with the lines that raise it now and at every boot', () => {
  expect(watchFinding(tooFewWatches(5, 4))).toMatchObject({
    what: 'the folders have more directories than the 4 inotify watches that a user may have',
    fix: "echo 'fs.inotify.max_user_watches=16' | sudo tee /etc/sysctl.d/60-dropcast-max_user_watches.conf && sudo sysctl --system",
  });
});

test('a mount of fstab that is missing is a problem, with the command that mounts it', () => {
  const message =
    "/srv/nas is on /srv, which is in /etc/fstab but not mounted: `sudo mount '/srv'`, otherwise dropcast watches the directory under the mount point";
  expect(watchFinding(message)).toMatchObject({ level: 'problem', fix: "sudo mount '/srv'" });
});

test('the command at the end of a message becomes the fix', () => {
  expect(findingFrom('problem', 'it is closed; run: sudo chmod u+x /a', 'why')).toEqual({
    level: 'problem',
    what: 'it is closed',
    why: 'why',
    fix: 'sudo chmod u+x /a',
  });
  expect(findingFrom('warning', 'it is odd', 'why').fix).toBeNull();
});

test('the groups of a drop-in count, by name and by number', () => {
  expect(joined('SupplementaryGroups=media 1234 gone\nReadWritePaths=-/a\n', 'root:x:0:\nmedia:x:1001:a\n')).toEqual([
    1001, 1234,
  ]);
});

test('what a finding says to run names the instance, and the configuration where it is not the usual one', () => {
  const press = { service: installedService('press'), option: '/etc/dropcast/press.yaml' };
  const own = { service: null, option: "it's.yaml" };
  const stuck = { stuck: 1, suspects: 0, waits: [] };
  const fixes = [usual, press, own].map((patient) => filesVerdict(stuck, patient)[0]?.fix);
  expect(fixes).toEqual([
    'sudo dropcast ls --state needs-you',
    'sudo dropcast ls --state needs-you --config /etc/dropcast/press.yaml',
    String.raw`dropcast ls --state needs-you --config 'it'\''s.yaml'`,
  ]);
  expect(receiptVerdict(1, 0, press.service)[0]?.fix).toContain('systemctl restart dropcast@press ');
  expect(fixFor('/f', press.service)).toContain('sudo dropcast setup --instance press ');
  expect(fixFor("/it's", null)).toBe(String.raw`ls -ld '/it'\''s'`);
});

test('a member of the group is not told that what only root can read is wrong', async () => {
  const at = { file: '/f', line: 1, column: 1 };
  const closed = {
    ...at,
    key: 'service.api_key',
    message: 'cannot read the key file /k: permission denied (EACCES)',
  };
  const wrong = { ...at, key: 'folders', message: 'is wrong' };
  const examined = (problems: readonly object[]) =>
    ({
      ...usual,
      noConfig: null,
      isOutsider: true,
      shell: { cwd: '/' },
      checked: { file: '/f', paths: {}, problems },
      reach: {},
    }) as unknown as Patient;
  await expect(configuration.run(examined([closed]))).rejects.toThrow('only root can read all of it: run it with sudo');
  await expect(ledger.run(examined([]))).rejects.toThrow('this needs root');
  expect(await configuration.run(examined([closed, wrong]))).toHaveLength(1);
});

test('what a member of the group may not check is not called wrong, and the last line says how much that is', async () => {
  const problem = { key: 'service.api_key', message: 'cannot read the key file /k: permission denied (EACCES)' };
  const checked = { file: '/f', paths: {}, problems: [problem] };
  const member = { ...usual, isOutsider: true, config: null, status: null, checked, shell: {} } as unknown as Patient;
  for (const check of [serviceCheck, connection, watches, fleet, notifications])
    await expect(check.run(member), check.name).rejects.toThrow('you may not read the key; run it with sudo');
  const results = [null, null, null, 'this is a single host', ...Array.from({ length: 9 }, () => 'run it with sudo')];
  const scope = (isWell: boolean) =>
    scopeOf(
      results.map((skipped) => ({ skipped })),
      isWell,
    );
  expect(scope(true)).toEqual(['No problems in the 3 checks that you may run; 9 more need sudo.']);
  expect(scope(false)).toEqual(['9 more need sudo.']);
  expect(scopeOf([{ skipped: null }], true)).toEqual(['No problems found.']);
});

test('files that only the service may read are not reported to root: access is tested as the user of the service', async () => {
  const at = { file: '/f', line: 1, column: 1 };
  const squashed = {
    ...at,
    key: 'folders[0].path',
    message: 'cannot list /nas: permission denied (EACCES)',
    passing: true,
  };
  const closed = { ...at, key: 'service.api_key', message: 'cannot read the key file /k: permission denied (EACCES)' };
  const examined = (problems: readonly object[], of: object = usual) =>
    ({
      ...of,
      noConfig: null,
      isRoot: true,
      isOutsider: false,
      shell: { cwd: '/' },
      checked: { file: '/f', paths: {}, problems },
    }) as unknown as Patient;
  await expect(configuration.run(examined([squashed]))).rejects.toThrow('access is tested as the user of the service');
  expect(await configuration.run(examined([squashed, closed]))).toHaveLength(1);
  expect(await configuration.run(examined([squashed], { service: null, option: undefined }))).toHaveLength(1);
});

test('what does not respond is looked for by a command that does not touch it', () => {
  expect(hungFix).toMatch(/^findmnt /);
});

import { expect, test } from 'vitest';
import { configure, dropVideo, expectOneVideo, journal, journalMoment, quoted, said, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';
import { until } from '../../support/until.ts';
import { settings } from './settings.ts';

/** What the machine has besides; the late ones are not there yet. */
const places = `
groupadd media && useradd --create-home --groups media alice && useradd --create-home bob
install -d -o alice -g media -m 2770 /srv/team
install -d -o alice -g alice -m 2770 /home/alice/in
install -d -o alice -g media -m 2770 "/srv/My 100% Videos"
install -d -o bob -g bob -m 700 /home/bob/closed
`;

const there = ['/srv/team', '/home/alice/in', '/srv/My 100% Videos', '/home/bob/closed'] as const;
export const folders = [...there, '/srv/late', '/srv/disk'];

const moving = 'after_ready: { move: done }, ';
const apply = 'dropcast systemd drop-in --install && systemctl daemon-reload && systemctl restart dropcast';

export function checkFolders(scene: () => Scene): void {
  test('`dropcast systemd drop-in --install` opens the configured folders to the service', async () => {
    const { box } = scene();
    await box.read(places);
    await configure(box, settings(folders, moving));
    const { stdout: checked } = await box.run('dropcast check');
    expect(checked).toMatch(/cannot use \/home\/bob\/closed; run: sudo setfacl/);
    expect(checked).toMatch(/warning: .*folders\.conf is missing; run: sudo dropcast setup/);
    const printed = await box.read('dropcast systemd drop-in --install 2>&1');
    expect(printed).toContain('systemctl daemon-reload');
    expect(printed).toContain('systemctl restart dropcast');
    const file = '/etc/systemd/system/dropcast.service.d/folders.conf';
    expect(await box.read(`stat -c "%a %U:%G" ${file}`)).toBe('644 root:root');
    expect(await box.read(`dropcast systemd drop-in | diff - ${file}`)).toBe('');
    const { stdout } = await box.run('systemd-analyze --man=no verify dropcast.service 2>&1 | grep folders.conf');
    expect(stdout).toBe('');
    const [opens = ''] = /sudo setfacl .*'\/home\/bob\/closed'/.exec(printed) ?? [];
    await box.read(`${opens} && ${apply}`);
    const { SupplementaryGroups } = await unitState(box, 'dropcast', 'SupplementaryGroups');
    // Not bob: the access control list is enough, although the mode looks as if the group were of use now.
    expect(await box.read('stat -c %A /home/bob/closed && getfacl -p /home/bob/closed')).toMatch(
      /^drwxrwx[^]*group::---/,
    );
    expect(SupplementaryGroups?.split(' ').toSorted()).toEqual(['alice', 'media']);
  });

  test('`dropcast check` reports what keeps the service from its folders and its configuration, and nothing else', async () => {
    const { box } = scene();
    const file = '/etc/dropcast/dropcast.yaml';
    for (const check of ['dropcast check', 'runuser -u dropcast -- dropcast check'])
      expect((await box.run(check)).stdout).not.toMatch(/drop-in|setfacl|chgrp/);
    await box.read(`chgrp root ${file} && chmod 600 ${file}`);
    const { code, stdout } = await box.run('dropcast check');
    await box.read(`chgrp dropcast ${file} && chmod 640 ${file}`);
    expect(code).not.toBe(0);
    expect(stdout).toContain(`sudo chgrp dropcast ${file} && sudo chmod 640 ${file}`);
    await box.read('setfacl -x u:dropcast /home/bob/closed');
    const closed = await box.run('dropcast check');
    await box.read('setfacl -m u:dropcast:rwX /home/bob/closed');
    expect(closed.stdout).toMatch(/cannot use \/home\/bob\/closed; run: sudo setfacl/);
  });

  test('systemd blocks another port for the status page, and the message has the commands that open it', async () => {
    const { box, suite } = scene();
    const moment = await journalMoment(box);
    await configure(box, `${settings(folders, moving)}status: { listen: "127.0.0.1:8099" }\n`);
    await box.read('systemctl restart dropcast');
    const refusal = (await journal(box, moment)).find(({ MESSAGE }) => String(MESSAGE).startsWith('No status page'));
    // Debian 12 builds systemd without the part that SocketBindDeny= needs.
    if (suite !== 'bookworm') {
      expect(refusal).toMatchObject({ PRIORITY: '3' });
      expect(String(refusal?.MESSAGE)).toContain('run: sudo dropcast setup');
    }
    expect((await box.run('dropcast check')).stdout).toMatch(/warning: .*folders\.conf is out of date/);
    await box.read(apply);
    await box.read('exec 3<>/dev/tcp/127.0.0.1/8099');
    await configure(box, settings(folders, moving));
    await box.read(apply);
  });

  test.for([
    { name: 'a folder of a group', folder: there[0], user: 'alice', file: 'of_the_group' },
    { name: 'a folder below /home', folder: there[1], user: 'alice', file: 'at_home' },
    { name: 'a folder with spaces and a percent sign', folder: there[2], user: 'alice', file: 'in_an_odd_folder' },
    { name: 'a folder of one user alone', folder: there[3], user: 'bob', file: 'of_his_own' },
  ])('a file in $name becomes a ready video with the same SHA-256, and is moved to done/', async (row) => {
    const { folder, user, file } = row;
    const { box } = scene();
    const sha256 = await dropVideo(box, `${folder}/${file}.mp4`);
    await expectOneVideo(scene(), `${folder}/${file}.mp4`, sha256);
    const moved = `"${folder}/done/${file}.mp4"`;
    await until('it is in done/', async () => (await box.run(`test -f ${moved}`)).code === 0);
    // Whoever may use the folder may also have what was moved.
    expect(await box.read(`runuser -u ${user} -- ls "${folder}/done"`)).toBe(`${file}.mp4`);
    expect(await box.read(`runuser -u ${user} -- sha256sum ${moved} | cut -c -64`)).toBe(sha256);
    await box.read(`runuser -u ${user} -- rm ${moved}`);
  });

  test('below /home the service sees its configured folder and nothing else', async () => {
    const { box } = scene();
    await box.read('install -o alice -m 644 /dev/null /home/alice/private');
    const { MainPID } = await unitState(box, 'dropcast', 'MainPID');
    expect(await box.read(`cd /proc/${MainPID}/root/home && echo * */*`)).toBe('alice bob alice/in bob/closed');
  });

  test('the service cannot execute what it can write', async () => {
    const { box } = scene();
    const { MainPID } = await unitState(box, 'dropcast', 'MainPID');
    const writable = ['/tmp', '/var/tmp', '/dev/shm', '/run/dropcast', '/var/lib/dropcast', '/var/log/dropcast'];
    // Looked at from outside: that nothing is executed there is a flag of the mount.
    const attempts = [...writable, ...there].map((folder) => quoted(`/proc/${MainPID}/root${folder}/true`));
    for (const file of attempts) {
      const { code, stderr } = await box.run(`cp /bin/true ${file} && ${file}; code=$?; rm ${file}; exit $code`);
      expect({ file, code, stderr }).toMatchObject({ code: 126, stderr: expect.stringContaining('Permission denied') });
    }
  });

  test('a directory that replaces a bound one is seen after a restart', async () => {
    const { box } = scene();
    const file = '/etc/systemd/system/dropcast.service.d/folders.conf';
    expect(await box.read(`cat ${file}`)).toMatch(/^# .*\/home\/alice\/in.* restart the service\.$/m);
    await box.read('mv /home/alice/in /home/alice/old && install -d -o alice -g alice -m 2770 /home/alice/in');
    await box.read('systemctl restart dropcast');
    const sha256 = await dropVideo(box, '/home/alice/in/in_the_new_one.mp4');
    await expectOneVideo(scene(), '/home/alice/in/in_the_new_one.mp4', sha256);
  });

  test('a link that a user made on the way to a folder gives the service nothing', async () => {
    const { box } = scene();
    await box.read(
      `runuser -u alice -- sh -c 'mkdir -p "/home/alice/x:/usr/lib/dropcast/bin" && ln -s "x:/usr/lib/dropcast/bin" /home/alice/drop'`,
    );
    await configure(box, settings([...folders, '/home/alice/drop'], moving));
    for (const command of ['dropcast systemd drop-in', 'dropcast systemd drop-in --install', 'dropcast check']) {
      const { code, stdout, stderr } = await box.run(command);
      expect({ command, code }).not.toMatchObject({ code: 0 });
      expect(stdout + stderr).toContain('the symbolic link "/home/alice/drop", which users other than root can change');
    }
    expect(await box.read('cat /etc/systemd/system/dropcast.service.d/folders.conf')).not.toContain('/home/alice/drop');
    await configure(box, settings(folders, moving));
  });

  test('a folder that its user replaced by a link is left alone, and all others continue', async () => {
    const { box } = scene();
    await box.read('install -d -o alice -g alice /srv/own && install -d -o alice -g media -m 2770 /srv/own/in');
    await configure(box, settings([...folders, '/srv/own/in'], moving));
    await box.read(apply);
    for (const target of ['/var/lib/dropcast', '/srv/team']) {
      await box.read(`runuser -u alice -- sh -c 'rm -rf /srv/own/in && ln -s ${target} /srv/own/in'`);
      await box.read('systemctl restart dropcast');
      expect(await box.read('dropcast status || true')).toMatch(/\/srv\/own\/in waits: .*belongs to another user/);
    }
    const sha256 = await dropVideo(box, '/srv/team/beside_a_link.mp4');
    await expectOneVideo(scene(), '/srv/team/beside_a_link.mp4', sha256);
    await configure(box, settings(folders, moving));
    await box.read(apply);
  });

  test('a folder that is missing at the start is reported, and used once a disk is mounted there', async () => {
    const { box } = scene();
    expect(await box.read('dropcast status || true')).toMatch(/Folder \/srv\/disk: (?!watching)/);
    await box.read('mkdir /srv/disk && mount -t tmpfs -o mode=2770,gid=media disk /srv/disk');
    const sha256 = await dropVideo(box, '/srv/disk/on_a_late_disk.mp4');
    await expectOneVideo(scene(), '/srv/disk/on_a_late_disk.mp4', sha256);
    await until('it is in done/', async () => (await box.run('test -f /srv/disk/done/on_a_late_disk.mp4')).code === 0);
  });

  test('files in a folder created later are uploaded, and the service reports that it cannot write there until a restart', async () => {
    const { box } = scene();
    const moment = await journalMoment(box);
    await box.read('install -d -g media -m 2770 /srv/late');
    const sha256 = await dropVideo(box, '/srv/late/in_a_late_folder.mp4');
    await expectOneVideo(scene(), '/srv/late/in_a_late_folder.mp4', sha256);
    await until('it is said', async () => /\/srv\/late.*restart|restart.*\/srv\/late/s.test(await said(box, moment)));
    await box.read('systemctl restart dropcast');
    await dropVideo(box, '/srv/late/after_the_restart.mp4');
    await until(
      'it is in done/',
      async () => (await box.run('test -f /srv/late/done/after_the_restart.mp4')).code === 0,
    );
  });
}

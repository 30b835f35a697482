import { expect, test } from 'vitest';
import { configure, dropVideo, expectOneVideo, journalMoment, quoted, said, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';
import { eventually } from '../box.ts';
import { settings } from './settings.ts';

/** What the machine has besides; the late ones are not there yet. */
const places = `
groupadd media && useradd --create-home --groups media alice
install -d -o alice -g media -m 2770 /srv/team
install -d -o alice -g alice -m 2770 /home/alice/in
install -d -o alice -g media -m 2770 "/srv/My 100% Videos"
`;

export const folders = ['/srv/team', '/home/alice/in', '/srv/My 100% Videos', '/srv/late', '/srv/disk'];

export function checkFolders(scene: () => Scene): void {
  test('`dropcast systemd drop-in --install` makes the folders of the configuration open to the service', async () => {
    const { box } = scene();
    await box.read(places);
    await configure(box, settings(folders, 'after_ready: { move: done }, '));
    const printed = await box.read('dropcast systemd drop-in --install 2>&1');
    expect(printed).toContain('systemctl daemon-reload');
    expect(printed).toContain('systemctl restart dropcast');
    const file = '/etc/systemd/system/dropcast.service.d/folders.conf';
    expect(await box.read(`stat -c "%a %U:%G" ${file}`)).toBe('644 root:root');
    expect(await box.read(`dropcast systemd drop-in | diff - ${file}`)).toBe('');
    const { stdout } = await box.run('systemd-analyze --man=no verify dropcast.service 2>&1 | grep folders.conf');
    expect(stdout).toBe('');
    await box.read('systemctl daemon-reload && systemctl restart dropcast');
    const { SupplementaryGroups } = await unitState(box, 'dropcast', 'SupplementaryGroups');
    expect(SupplementaryGroups?.split(' ').toSorted()).toEqual(['alice', 'media']);
  });

  test.for([
    { name: 'a folder of a group', folder: '/srv/team', file: 'of_the_group' },
    { name: 'a folder below /home', folder: '/home/alice/in', file: 'at_home' },
    { name: 'a folder with spaces and a percent sign', folder: '/srv/My 100% Videos', file: 'in_an_odd_folder' },
  ])('a file in $name becomes a ready video with the same SHA-256, and is moved to done/', async ({ folder, file }) => {
    const { box } = scene();
    const sha256 = await dropVideo(box, `${folder}/${file}.mp4`);
    await expectOneVideo(scene(), `${folder}/${file}.mp4`, sha256);
    const moved = `"${folder}/done/${file}.mp4"`;
    await eventually('it is in done/', async () => (await box.run(`test -f ${moved}`)).code === 0);
    // Whoever may use the folder may also have what was moved.
    expect(await box.read(`runuser -u alice -- sha256sum ${moved} | cut -c -64`)).toBe(sha256);
  });

  test('of /home the service sees the folder of its configuration and nothing else', async () => {
    const { box } = scene();
    await box.read('install -o alice -m 644 /dev/null /home/alice/private');
    const { MainPID } = await unitState(box, 'dropcast', 'MainPID');
    expect(await box.read(`cd /proc/${MainPID}/root/home && echo * */*`)).toBe('alice alice/in');
  });

  test('what the service may write it cannot execute', async () => {
    const { box } = scene();
    const { MainPID } = await unitState(box, 'dropcast', 'MainPID');
    const writable = ['/tmp', '/var/tmp', '/dev/shm', '/run/dropcast', '/var/lib/dropcast', '/var/log/dropcast'];
    // Looked at from outside: that nothing is executed there is a flag of the mount.
    const attempts = [...writable, ...folders.slice(0, 3)].map((folder) =>
      quoted(`/proc/${MainPID}/root${folder}/true`),
    );
    for (const file of attempts) {
      const { code, stderr } = await box.run(`cp /bin/true ${file} && ${file}; code=$?; rm ${file}; exit $code`);
      expect({ file, code, stderr }).toMatchObject({ code: 126, stderr: expect.stringContaining('Permission denied') });
    }
  });

  test('a folder that is away at the start is said, and taken when a disk is mounted there', async () => {
    const { box } = scene();
    expect(await box.read('dropcast status')).toMatch(/Folder \/srv\/disk: (?!watching)/);
    await box.read('mkdir /srv/disk && mount -t tmpfs -o mode=2770,gid=media disk /srv/disk');
    const sha256 = await dropVideo(box, '/srv/disk/on_a_late_disk.mp4');
    await expectOneVideo(scene(), '/srv/disk/on_a_late_disk.mp4', sha256);
    await eventually(
      'it is in done/',
      async () => (await box.run('test -f /srv/disk/done/on_a_late_disk.mp4')).code === 0,
    );
  });

  test('a folder that is made later is uploaded from; that it cannot be written to until a restart is said', async () => {
    const { box } = scene();
    const moment = await journalMoment(box);
    await box.read('install -d -g media -m 2770 /srv/late');
    const sha256 = await dropVideo(box, '/srv/late/in_a_late_folder.mp4');
    await expectOneVideo(scene(), '/srv/late/in_a_late_folder.mp4', sha256);
    await eventually('it is said', async () =>
      /\/srv\/late.*restart|restart.*\/srv\/late/s.test(await said(box, moment)),
    );
    await box.read('systemctl restart dropcast');
    await dropVideo(box, '/srv/late/after_the_restart.mp4');
    await eventually(
      'it is in done/',
      async () => (await box.run('test -f /srv/late/done/after_the_restart.mp4')).code === 0,
    );
  });
}

import { expect, test } from 'vitest';
import { dropVideo, expectOneVideo, fileState, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';
import { newerPackage } from './newer-package.ts';

const newer = '/root/dropcast-newer.deb';

const units = ['dropcast.service', 'dropcast@a.service', 'dropcast@b.service'] as const;

export function checkLifeCycle(scene: () => Scene): void {
  test('an upgrade keeps the configuration and restarts running instances, and nothing else', async () => {
    const { box, package: file } = scene();
    await box.read(newerPackage(file, '99.0', newer), { timeoutMs: 300_000 });
    const config = await box.read('sha256sum /etc/dropcast/*');
    const pids = async () => Promise.all(units.map(async (unit) => (await unitState(box, unit, 'MainPID')).MainPID));
    const before = await pids();
    const printed = await box.read(`DEBIAN_FRONTEND=noninteractive dpkg -i ${newer} 2>&1`);
    expect(printed).not.toMatch(/^\s*1\. /m);
    expect(await box.read('dpkg-query -W dropcast')).toContain('99.0');
    const after = await pids();
    expect(after.map((pid, index) => pid === before[index])).toEqual([false, false, true]);
    expect(after.map((pid) => pid === '0')).toEqual([false, false, true]);
    expect(await box.read('sha256sum /etc/dropcast/*')).toBe(config);
    expect((await box.run('systemctl is-enabled dropcast')).stdout).toBe('enabled\n');
    const sha256 = await dropVideo(box, '/srv/team/after_the_upgrade.mp4');
    await expectOneVideo(scene(), '/srv/team/after_the_upgrade.mp4', sha256);
    await box.read(`systemctl stop dropcast && dpkg -i ${newer}`);
    expect((await unitState(box, 'dropcast', 'ActiveState')).ActiveState).toBe('inactive');
    await box.read('systemctl start dropcast');
  });

  test('removing stops the service and keeps state, configuration and key; installed again, it says what to do and resumes', async () => {
    const { box, package: file } = scene();
    await box.read('DEBIAN_FRONTEND=noninteractive apt-get remove -y dropcast');
    expect(await box.read('ls /var/lib/dropcast/ledger.db /etc/dropcast/dropcast.yaml /etc/dropcast/api_key')).not.toBe(
      '',
    );
    expect((await box.run('ls /usr/lib/dropcast /usr/bin/dropcast 2>/dev/null')).stdout).toBe('');
    expect(await box.read('pgrep -c -u dropcast || true')).toBe('0');
    const printed = await box.read(`DEBIAN_FRONTEND=noninteractive apt-get install -y ${file} 2>&1`);
    expect(printed).toContain('sudo dropcast setup ');
    expect((await box.run('ls /run/dropcast.installing')).code).not.toBe(0);
    await box.read('systemctl enable --now dropcast');
    expect((await fileState(box, 'power_cut.mp4'))?.state).toBe('done');
  });

  test('purging removes state, log, configuration and key, and leaves the videos in the folders alone', async () => {
    const { box } = scene();
    await box.read('DEBIAN_FRONTEND=noninteractive apt-get purge -y dropcast');
    const { stdout } = await box.run(
      'ls -d /etc/dropcast /var/lib/dropcast* /var/log/dropcast* /usr/lib/dropcast 2>/dev/null',
    );
    expect(stdout).toBe('');
    expect(await box.read('ls /srv/team/done')).toContain('after_the_upgrade.mp4');
    const { code } = await box.run('systemctl is-enabled dropcast');
    expect(code).not.toBe(0);
  });
}

import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import type { Box } from '../box.ts';
import {
  dropVideo,
  expectOneVideo,
  fileState,
  journal,
  journalMoment,
  reaches,
  said,
  unitState,
  withDropIn,
} from '../installed.ts';
import type { Scene } from '../installed.ts';

/** An upload of 16 MB that takes about 8 s. */
const slowly = { kind: 'slow_read', operation: 'uploads.put', bytes_per_second: 2_000_000 };
/** One that never ends: nothing is read any more. */
const stalling = { kind: 'stall', operation: 'uploads.put', of: 'request', after_bytes: 500_000 };

export function checkMishaps(scene: () => Scene): void {
  test('the watchdog kills a hung event loop, systemd restarts it, and work resumes', async ({ task }) => {
    const { box } = scene();
    // Loaded before the program: on a signal the loop of the real service runs in a circle for ever.
    await box.read('cat > /run/hang.cjs', { input: "process.on('SIGUSR2', () => { for (;;); });\n" });
    const hangable = '[Service]\nEnvironment=NODE_OPTIONS=--require=/run/hang.cjs\nWatchdogSec=2s\nRestartSec=100ms\n';
    await withDropIn(box, hangable, async () => {
      await box.read('systemctl restart dropcast');
      const { MainPID } = await unitState(box, 'dropcast', 'MainPID');
      // Well beyond the watchdog's time it is still the same process: the pings arrive.
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      expect(await unitState(box, 'dropcast', 'MainPID')).toEqual({ MainPID });
      const moment = await journalMoment(box);
      const start = performance.now();
      await box.read(`kill -USR2 ${MainPID}`);
      await isStartedAnew(box, MainPID);
      task.meta.figure = `up again after ${((performance.now() - start) / 1000).toFixed(1)} s`;
      expect(await box.read(`journalctl --after-cursor ${JSON.stringify(moment)} -u dropcast -o cat`)).toMatch(
        /Watchdog timeout/,
      );
      const sha256 = await dropVideo(box, '/srv/team/after_the_hang.mp4');
      await expectOneVideo(scene(), '/srv/team/after_the_hang.mp4', sha256);
    });
    await box.read('systemctl restart dropcast');
  });

  test('a stop waits for an upload that takes longer than TimeoutStopSec, and ends cleanly', async ({ task }) => {
    const { box, service } = scene();
    const file = '/srv/team/slow_at_the_stop.mp4';
    await withDropIn(box, '[Service]\nTimeoutStopSec=3s\n', async () => {
      await service.faults(slowly);
      const sha256 = await dropVideo(box, file, 16);
      await isUnderWay(box, file);
      const start = performance.now();
      const stop = box.read('systemctl stop dropcast');
      await until(
        'it says what it waits for',
        async () => (await unitState(box, 'dropcast', 'StatusText')).StatusText === 'Stopping: waiting for 1 upload',
      );
      await stop;
      const seconds = (performance.now() - start) / 1000;
      expect(seconds).toBeGreaterThan(3.5);
      task.meta.figure = `${seconds.toFixed(1)} s`;
      expect(await unitState(box, 'dropcast', 'Result', 'ExecMainStatus')).toEqual({
        Result: 'success',
        ExecMainStatus: '0',
      });
      const video = (await fileState(box, file))?.video_id ?? '';
      expect(await service.uploads(video)).toBe(1);
      await service.faults();
      await box.read('systemctl start dropcast');
      await expectOneVideo(scene(), file, sha256);
      expect(await service.uploads(video)).toBe(1);
    });
  });

  test('while the service is stopped, `dropcast status` exits with 3 and answers from the ledger', async () => {
    const { box } = scene();
    await box.read('systemctl stop dropcast');
    const { code, stdout } = await box.run('dropcast status');
    expect(code).toBe(3);
    expect(stdout).toContain('dropcast is not running');
    expect(stdout).toMatch(/\d+ done/);
    await box.read('useradd --groups dropcast viewer');
    const ofMember = await box.run('runuser -u viewer -- dropcast status 2>&1');
    expect(ofMember).toMatchObject({ code: 3, stdout: expect.stringContaining('the daemon is not running') });
    await box.read('systemctl start dropcast');
  });

  test('kill -9 in the middle of an upload: restarted, resumed, one video', async () => {
    const { box, service } = scene();
    const file = '/srv/team/killed_in_the_middle.mp4';
    await withDropIn(box, '[Service]\nRestartSec=200ms\n', async () => {
      await service.faults(stalling);
      const sha256 = await dropVideo(box, file, 16);
      await isUnderWay(box, file);
      const { MainPID } = await unitState(box, 'dropcast', 'MainPID');
      await service.faults();
      await box.read('systemctl kill --signal=SIGKILL dropcast');
      await isStartedAnew(box, MainPID);
      await expectOneVideo(scene(), file, sha256);
    });
  });

  test('systemd retries after any failure other than a wrong configuration, until it works', async () => {
    const { box } = scene();
    const moment = await journalMoment(box);
    // Where its control socket should be there is a directory: exit code 1.
    const block = 'sh -c "test ! -e /run/blocked || mkdir /run/dropcast/dropcast.sock"';
    const blocked = `[Service]\nRestartSec=200ms\nRestartSteps=0\nExecPaths=/bin /usr/bin\nExecStartPre=${block}\n`;
    await withDropIn(box, blocked, async () => {
      await box.read('touch /run/blocked && systemctl restart --no-block dropcast');
      await until(
        'it was tried twice',
        async () => Number((await unitState(box, 'dropcast', 'NRestarts')).NRestarts) >= 2,
      );
      expect((await unitState(box, 'dropcast', 'ExecMainStatus')).ExecMainStatus).not.toBe('78');
      expect(await said(box, moment)).toContain('control socket');
      await box.read('rm /run/blocked');
      await until('it works', async () => (await box.run('systemctl is-active dropcast')).code === 0);
    });
    await box.read('systemctl restart dropcast');
  });

  test('a full disk under the ledger makes no file fail; work resumes once there is space', async () => {
    const { box, service } = scene();
    await box.read(`systemctl stop dropcast && cp -a /var/lib/dropcast /root/state
mount -t tmpfs -o size=64m,mode=700 small /var/lib/dropcast && chown dropcast: /var/lib/dropcast
cp -a /root/state/. /var/lib/dropcast && systemctl start dropcast
head -c 100M /dev/zero > /var/lib/dropcast/filler 2>/dev/null || true`);
    const file = '/srv/team/on_a_full_disk.mp4';
    const sha256 = await dropVideo(box, file);
    await until('it says that the disk is full', async () => /full/.test(await box.read('dropcast status || true')));
    expect(await service.videos('on a full disk')).toEqual([]);
    await box.read('rm /var/lib/dropcast/filler && dropcast retry --all');
    await expectOneVideo(scene(), file, sha256);
    await box.read(`systemctl stop dropcast && cp -a /var/lib/dropcast/. /root/state
umount /var/lib/dropcast && cp -a /root/state/. /var/lib/dropcast && rm -r /root/state && systemctl start dropcast`);
  });

  test('power-off in the middle of an upload: after the boot the service runs, resumed, one video', async ({
    task,
  }) => {
    const { box, service } = scene();
    const file = '/srv/team/power_cut.mp4';
    await service.faults(stalling);
    const sha256 = await dropVideo(box, file, 16);
    await isUnderWay(box, file);
    await box.crash();
    const start = performance.now();
    await box.boot();
    await until('it runs', async () => (await box.run('systemctl is-active dropcast')).code === 0);
    task.meta.figure = `running ${((performance.now() - start) / 1000).toFixed(1)} s later`;
    await service.faults();
    await expectOneVideo(scene(), file, sha256);
    await box.read('mount -t tmpfs -o mode=2770,gid=media disk /srv/disk');
  });

  test('no process was killed for a system call, and the sandbox blocked nothing', async () => {
    const { box } = scene();
    const entries = await journal(box);
    // That the unit opens no other port was tried on purpose (folders.ts).
    const messages = entries.map(({ MESSAGE }) => String(MESSAGE)).filter((text) => !text.includes('port=8099'));
    const refused = messages.filter((text) => /EPERM|SIGSYS|seccomp|ERR_ACCESS/.test(text));
    expect(refused).toEqual([]);
    const { stdout } = await box.run(
      'journalctl -u dropcast -u init.scope -o cat | grep -E "SIGSYS|status=31/SYS|avc:|type=1326"',
    );
    expect(stdout).toBe('');
  });
}

async function isUnderWay(box: Box, path: string): Promise<void> {
  await reaches(box, path, 'uploading');
  await until('bytes are on their way', async () => ((await fileState(box, path))?.sent ?? 0) > 0);
}

async function isStartedAnew(box: Box, before: string | undefined): Promise<void> {
  await until('it is started again', async () => {
    const { MainPID, ActiveState } = await unitState(box, 'dropcast', 'MainPID', 'ActiveState');
    return ActiveState === 'active' && MainPID !== before && MainPID !== '0';
  });
}

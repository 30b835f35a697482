import { expect, test } from 'vitest';
import type { Box } from '../box.ts';
import { dropVideo, fileState, reaches, unitState } from '../installed.ts';
import { serviceUrl, startVideoService } from '../video-service.ts';
import type { VideoService } from '../video-service.ts';

/** `dropcast setup` as a new operator runs it, with the clock running, on a machine of its own. */
export function checkSetup(box: () => Box, file: string): void {
  let service: VideoService;
  const flags = `--service ${serviceUrl} --key-file /root/key --folder /srv/media/inbox --channel ch_main`;

  test('from apt install to a video that is ready, with one command of setup, in under three minutes', async ({
    task,
  }) => {
    const start = performance.now();
    await box().read(`DEBIAN_FRONTEND=noninteractive apt-get install -y ${file} 2>&1`);
    // The video service is the program of the package, so it has to wait for the installation.
    service = await startVideoService(box());
    await box().read('cat > /root/key', { input: `${await service.key()}\n` });
    const { code, stdout, stderr } = await box().run(`dropcast setup ${flags} --group media --yes --test-clip`);
    const tookMs = performance.now() - start;
    task.meta.figure = `${Math.round(tookMs / 1000)} s`;
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/^Test clip: its video was ready at http\S+; video and file are removed again$/m);
    expect(tookMs).toBeLessThan(180_000);
    expect(await box().read('ls -A /srv/media/inbox')).toBe('');
    expect(await service.videos('dropcast test clip')).toEqual([]);
    expect(await box().read('dropcast ls --json')).toContain(
      'a test clip: its video and its file were deleted on purpose',
    );
    const { ActiveState, UnitFileState } = await unitState(box(), 'dropcast', 'ActiveState', 'UnitFileState');
    expect({ ActiveState, UnitFileState }).toEqual({ ActiveState: 'active', UnitFileState: 'enabled' });
    const modes = await box().read(
      'stat -c "%a %U:%G" /etc/dropcast/dropcast.yaml /etc/dropcast/api_key /srv/media/inbox',
    );
    expect(modes).toBe('640 root:dropcast\n600 root:root\n2770 root:media');
    expect(await box().read('journalctl --no-pager; cat /etc/dropcast/dropcast.yaml')).not.toContain(
      await service.key(),
    );
  });

  test('a file that a person drops afterwards becomes a video', async () => {
    await dropVideo(box(), '/srv/media/inbox/first.mp4');
    await reaches(box(), '/srv/media/inbox/first.mp4', 'done');
  });

  test('a second setup changes nothing and restarts nothing', async () => {
    const seen = async (): Promise<string> =>
      (await box().read(
        'find /etc/dropcast /etc/systemd/system/dropcast* /srv/media/inbox -printf "%p %i %C@ %m %g\\n" | sort',
      )) + (await box().read('systemctl show dropcast -p MainPID -p InvocationID'));
    const before = await seen();
    expect((await box().run(`dropcast setup ${flags} --group media --yes`)).code).toBe(0);
    const { code, stdout } = await box().run('dropcast setup');
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toContain('is already running');
    expect(await seen()).toBe(before);
  });

  test('other answers replace nothing without --force, and the difference is shown', async () => {
    const other = await box().run(`dropcast setup ${flags.replace('ch_main', 'ch_news')} --yes`);
    expect(other).toMatchObject({ code: 1 });
    expect(other.stderr).toMatch(/--force replaces it\n(?:.*\n)*- +channel: ch_main.*\n\+ +channel: ch_news/);
  });

  test('a folder that is closed to the service is opened only with consent, and setup continues where it stopped', async () => {
    await box().read('useradd -m anna; install -d -o anna -g anna -m 700 /srv/closed');
    const closed = flags.replace('/srv/media/inbox', '/srv/closed');
    const asked = await box().run(`dropcast setup ${closed} --force`);
    expect(asked).toMatchObject({ code: 1 });
    expect(asked.stderr).toMatch(/setup stopped at this step: Permissions\n(?:.*\n)*.*sudo setfacl .*'\/srv\/closed'/);
    expect(await box().read('getfacl -c /srv/closed')).not.toContain('dropcast');
    await box().read('dropcast setup --yes');
    expect(await box().read('getfacl -c /srv/closed')).toContain('user:dropcast:r-x');
    await dropVideo(box(), '/srv/closed/second.mp4');
    await reaches(box(), '/srv/closed/second.mp4', 'done');
  });

  test('a later fault of the service is reported with its step, and fixed by continuing', async () => {
    await box().read('install -m 600 /dev/null /root/nothing; systemctl stop sandbox');
    const stopped = await box().run('dropcast setup --yes');
    expect(stopped.stderr).toContain('setup stopped at this step: Check');
    await box().read('systemctl start sandbox');
    await box().read('dropcast setup --yes');
  });

  test('an instance is set up next to it', async () => {
    const press = flags.replace('/srv/media/inbox', '/srv/media/press').replace('ch_main', 'ch_news');
    const { code, stdout, stderr } = await box().run(`dropcast setup --instance press ${press} --yes --test-clip`);
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(await box().read('systemctl is-active dropcast dropcast@press')).toBe('active\nactive');
    await dropVideo(box(), '/srv/media/press/third.mp4');
    await reaches(box(), '/srv/media/press/third.mp4', 'done', '--config /etc/dropcast/press.yaml');
    expect(await fileState(box(), '/srv/media/press/third.mp4')).toBeNull();
  });
}

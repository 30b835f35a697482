import { expect, test } from 'vitest';
import { dropVideo, reaches } from '../../../systemd/installed.ts';
import { serviceUrl, startVideoService } from '../../../systemd/video-service.ts';
import type { Machine } from '../machine.ts';
import { addRepository, apt, installed, serveTree } from '../repository.ts';

export const inbox = '/srv/media/inbox';

/** The first five minutes, from the line of the repository on. */
export function checkNewcomer(machine: () => Machine): void {
  test('from the repository line through setup to a live video, in under five minutes', async ({ task }) => {
    const { box, tree } = machine();
    const url = await serveTree(box, tree);
    const start = performance.now();
    await addRepository(box, url);
    expect(await apt(box, 'update')).toMatchObject({ code: 0 });
    const install = await apt(box, 'install dropcast=0.1.0');
    expect(install).toMatchObject({ code: 0, stdout: expect.stringContaining('sudo dropcast setup ') as string });
    // The video service is the program of the package, so it has to wait for the installation.
    const service = await startVideoService(box);
    machine().service = service;
    await box.read('install -m 600 /dev/null /root/key && cat > /root/key', { input: `${await service.key()}\n` });
    const answers = `--service ${serviceUrl} --key-file /root/key --folder ${inbox} --group media --channel ch_main`;
    const setup = await box.run(`dropcast setup ${answers} --feed feed_news --yes --test-clip`);
    expect(setup).toMatchObject({ code: 0 });
    await dropVideo(box, `${inbox}/first.mp4`);
    const { video_id: id } = await reaches(box, `${inbox}/first.mp4`, 'done');
    const tookMs = performance.now() - start;
    task.meta.figure = `${Math.round(tookMs / 1000)} s`;
    expect(tookMs).toBeLessThan(300_000);
    expect(await service.videos('first')).toMatchObject([{ id, status: 'ready' }]);
    expect(await box.read('dropcast show --json first.mp4')).toContain('feed_news');
    expect(await installed(box)).toBe('0.1.0 ii ');
  });
}

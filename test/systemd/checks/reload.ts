import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { configure, dropVideo, expectOneVideo, journalMoment, said, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';
import { folders } from './folders.ts';
import { settings } from './settings.ts';

const reloaded = '/srv/first';

export function checkReload(scene: () => Scene): void {
  test('systemctl reload waits until the new configuration is active', async ({ task }) => {
    const { box } = scene();
    const before = await unitState(box, 'dropcast', 'MainPID');
    await configure(box, settings([...folders, reloaded]));
    const start = performance.now();
    await box.read('systemctl reload dropcast');
    task.meta.figure = `${Math.round(performance.now() - start)} ms`;
    const { folders: watched } = JSON.parse(await box.read('dropcast status --json || true')) as {
      folders: readonly { readonly path: string }[];
    };
    expect(watched.map(({ path }) => path)).toContain(reloaded);
    const sha256 = await dropVideo(box, `${reloaded}/after_the_reload.mp4`);
    await expectOneVideo(scene(), `${reloaded}/after_the_reload.mp4`, sha256);
    expect(await unitState(box, 'dropcast', 'MainPID')).toEqual(before);
  });

  test('systemctl reload fails with the reason when the configuration is wrong, and the old one stays active', async () => {
    const { box, service } = scene();
    const before = await unitState(box, 'dropcast', 'MainPID', 'ActiveState');
    await configure(box, settings([reloaded]).replace('"**"', '"**", chanel: ch_main'));
    const moment = await journalMoment(box);
    expect((await box.run('systemctl reload dropcast')).code).toBe(1);
    expect(await said(box, moment)).toMatch(/dropcast\.yaml:\d+:\d+ folders\[0\].*chanel.*did you mean "channel"/);
    expect(await unitState(box, 'dropcast', 'MainPID', 'ActiveState')).toEqual(before);
    await dropVideo(box, '/srv/team/with_the_old_configuration.mp4');
    await until('it is still uploaded', async () =>
      (await service.videos('with the old configuration')).some(({ status }) => status === 'ready'),
    );
    await configure(box, settings([...folders, reloaded], 'after_ready: { move: done }, '));
    await box.read('systemctl reload dropcast');
  });
}

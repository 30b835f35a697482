import { expect, test } from 'vitest';
import { configure, dropVideo, expectOneVideo, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';
import { until } from '../../support/until.ts';
import { exposureIn } from './install.ts';
import { settings } from './settings.ts';

export function checkStart(scene: () => Scene): void {
  test('enable --now returns once the folders were scanned, with a status line', async ({ task }) => {
    const { box } = scene();
    await configure(box, settings(['/srv/first']));
    await box.read('install -d -m 2770 -g dropcast /srv/first');
    const sha256 = await dropVideo(box, '/srv/first/there_before.mp4');
    const before = performance.now();
    await box.read('systemctl enable --now --quiet dropcast');
    task.meta.figure = `${Math.round(performance.now() - before)} ms`;
    expect(await box.read('dropcast ls --json')).toContain('/srv/first/there_before.mp4');
    const { MainPID, UnitFileState, ...state } = await unitState(
      box,
      'dropcast',
      'MainPID',
      'UnitFileState',
      'ActiveState',
      'SubState',
      'Result',
    );
    expect(state).toEqual({ ActiveState: 'active', SubState: 'running', Result: 'success' });
    expect(UnitFileState).toBe('enabled');
    // What the checks of a hung loop and of restarts shorten.
    expect(await unitState(box, 'dropcast', 'WatchdogUSec', 'RestartUSec', 'Restart')).toEqual({
      WatchdogUSec: '1min',
      RestartUSec: '10s',
      Restart: 'always',
    });
    expect(JSON.parse(await box.read('dropcast status --json || true'))).toMatchObject({
      daemon: { running: true, pid: Number(MainPID) },
    });
    await expectOneVideo(scene(), '/srv/first/there_before.mp4', sha256);
  });

  test('systemctl status shows in one line what the service is doing', async ({ task }) => {
    const { box } = scene();
    const idle = /^Idle · \d+ done · API \d+\/\d+$/;
    await until('it is idle', async () => idle.test((await unitState(box, 'dropcast', 'StatusText')).StatusText ?? ''));
    expect(await box.read('systemctl status dropcast --no-pager')).toMatch(/Status: "Idle · /);
    task.meta.figure = (await unitState(box, 'dropcast', 'StatusText')).StatusText ?? '';
  });

  test('the exposure of the running service is at most 1.2', async ({ task }) => {
    const figure = exposureIn(await scene().box.read('systemd-analyze security --no-pager dropcast.service'));
    expect(figure).toBeLessThanOrEqual(1.2);
    task.meta.figure = String(figure);
  });
}

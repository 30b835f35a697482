import { expect, test } from 'vitest';
import { unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';

export function checkInstallation(scene: () => Scene): void {
  test('installing creates the user and the files, starts nothing, and prints the next step', async () => {
    const { box, package: file } = scene();
    const printed = await box.read(`DEBIAN_FRONTEND=noninteractive apt-get install -y ${file} 2>&1`);
    expect(printed).toContain('\n  sudo dropcast setup ');
    expect(await box.read('id -un dropcast; getent passwd dropcast | cut -d: -f7')).toBe('dropcast\n/usr/sbin/nologin');
    const modes = await box.read(
      'stat -c "%a %U:%G %n" /etc/dropcast /etc/dropcast/dropcast.yaml /etc/dropcast/api_key',
    );
    expect(modes.split('\n')).toEqual([
      '750 root:dropcast /etc/dropcast',
      '640 root:dropcast /etc/dropcast/dropcast.yaml',
      '600 root:root /etc/dropcast/api_key',
    ]);
    const { ActiveState, UnitFileState } = await unitState(box, 'dropcast', 'ActiveState', 'UnitFileState');
    expect({ ActiveState, UnitFileState }).toEqual({ ActiveState: 'inactive', UnitFileState: 'disabled' });
    await box.read('systemctl preset dropcast');
    expect((await box.run('systemctl is-enabled dropcast')).stdout).toBe('disabled\n');
  });

  test('systemd-analyze verify reports nothing about the units', async () => {
    const { box } = scene();
    const { stdout, stderr } = await box.run(
      'systemd-analyze --man=no verify dropcast.service dropcast@a.service 2>&1',
    );
    expect(`${stdout}${stderr}`).toBe('');
  });

  test('neither unit makes systemd warn in the journal, and a newer one has the keys that it knows', async () => {
    const { box, suite } = scene();
    await box.read('systemctl daemon-reload && systemctl show dropcast dropcast@a -p Id');
    expect(await box.read('journalctl --no-pager -o cat')).not.toMatch(/Unknown key/);
    const shown = await box.read(
      'systemctl show dropcast dropcast@a -p OpenFile -p RestartSteps -p RestartMaxDelayUSec',
    );
    const newer = ['RestartSteps=5', 'RestartMaxDelayUSec=5min', 'OpenFile=/run/systemd/notify::graceful']; // without a name that is that of the file
    const lines = shown.split('\n').filter(Boolean).toSorted();
    expect(lines).toEqual(suite === 'bookworm' ? [] : [...newer, ...newer].toSorted());
  });

  test('the exposure of the installed unit is at most 1.1', async ({ task }) => {
    const { box } = scene();
    const unit = '/usr/lib/systemd/system/dropcast.service';
    const figure = exposureIn(await box.read(`systemd-analyze security --no-pager --offline=true ${unit}`));
    expect(figure).toBeLessThanOrEqual(1.1);
    task.meta.figure = String(figure);
  });
}

/** Overall figure of `systemd-analyze security`. */
export function exposureIn(report: string): number {
  return Number(/Overall exposure level for \S+: (\d+\.\d+)/.exec(report)?.[1]);
}

import { expect, test } from 'vitest';
import { configure, dropVideo, expectOneVideo, giveKey, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';
import { settings } from './settings.ts';

export function checkInstances(scene: () => Scene): void {
  test('two more instances run in parallel, each with its own folder, key and state', async () => {
    const { box, service } = scene();
    for (const name of ['a', 'b']) {
      await box.read(`install -d -m 2770 -g media /srv/${name}`);
      const status = `status: { listen: off }\n`;
      await configure(box, settings([`/srv/${name}`]) + status, `/etc/dropcast/${name}.yaml`);
      await giveKey(box, (await service.newKey()).key, `/etc/dropcast/${name}.key`);
      await box.read(`dropcast check --config /etc/dropcast/${name}.yaml`);
      await box.read(`dropcast systemd drop-in --install --instance ${name} --config /etc/dropcast/${name}.yaml`);
    }
    await box.read('systemctl daemon-reload && systemctl start dropcast@a dropcast@b');
    for (const name of ['a', 'b']) {
      const sha256 = await dropVideo(box, `/srv/${name}/of_${name}.mp4`);
      await expectOneVideo(scene(), `/srv/${name}/of_${name}.mp4`, sha256, `--config /etc/dropcast/${name}.yaml`);
      expect(await box.read(`stat -c "%a %U" /var/lib/dropcast@${name}`)).toBe('700 dropcast');
    }
    const exposure = await unitState(box, 'dropcast@a', 'ActiveState');
    expect(exposure).toEqual({ ActiveState: 'active' });
    await box.read('systemctl stop dropcast@b');
  });
}

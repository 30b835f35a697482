import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { dropVideo, expectOneVideo, giveKey, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';

export function checkSecrets(scene: () => Scene): void {
  test('a revoked key pauses everything and says what to do; a new key and a restart resume it', async () => {
    const { box, service } = scene();
    const first = await service.newKey();
    const second = await service.newKey();
    await giveKey(box, first.key);
    await box.read('systemctl restart dropcast');
    await service.revokeKey(first.id);
    const sha256 = await dropVideo(box, '/srv/team/with_a_revoked_key.mp4');
    await until('it waits', async () => /waits: .*401/.test(await box.read('dropcast status || true')));
    expect(await box.read('dropcast status || true')).toContain('`sudo dropcast setup --key-file - --force`');
    await until('systemd is told', async () => {
      const { StatusText = '' } = await unitState(box, 'dropcast', 'StatusText');
      return StatusText.startsWith('Everything waits: ');
    });
    await giveKey(box, second.key);
    await box.read('systemctl restart dropcast');
    await expectOneVideo(scene(), '/srv/team/with_a_revoked_key.mp4', sha256);
    await expectNowhere(scene(), [first.key, second.key]);
  });

  test('an encrypted key works, and is nowhere on the disk in plain text', async () => {
    const { box, service } = scene();
    const key = await service.key();
    await box.read(
      `mkdir -p /etc/credstore.encrypted && systemd-creds encrypt --with-key=host --name=api_key - /etc/credstore.encrypted/dropcast.api_key`,
      { input: key },
    );
    const file = '/etc/systemd/system/dropcast.service.d/key.conf';
    const lines =
      '[Service]\nLoadCredential=\nLoadCredentialEncrypted=api_key:/etc/credstore.encrypted/dropcast.api_key\n';
    await box.read(
      `cat > ${file} && : > /etc/dropcast/api_key && systemctl daemon-reload && systemctl restart dropcast`,
      {
        input: lines,
      },
    );
    const sha256 = await dropVideo(box, '/srv/team/with_an_encrypted_key.mp4');
    await expectOneVideo(scene(), '/srv/team/with_an_encrypted_key.mp4', sha256);
    await expectNowhere(scene(), [key]);
    expect((await box.run(`grep -rlF -e ${key} /etc`)).stdout).toBe('');
    await giveKey(box, key);
    await box.read(`rm ${file} && systemctl daemon-reload && systemctl restart dropcast`);
  });
}

/** No key in the journal, the environment, the arguments, the properties of the unit, or what dropcast wrote. */
async function expectNowhere({ box }: Scene, keys: readonly string[]): Promise<void> {
  const { MainPID } = await unitState(box, 'dropcast', 'MainPID');
  const everything = [
    'journalctl --no-pager -o export',
    `tr "\\0" "\\n" < /proc/${MainPID}/environ`,
    'ps axww -o args',
    'systemctl show dropcast.service',
    'find /var/lib/dropcast /var/log/dropcast -type f -exec cat {} +',
    'dropcast status --json; dropcast ls --json',
  ].join('; ');
  const { stdout } = await box.run(`{ ${everything}; } 2>&1`);
  expect(stdout).toContain('MainPID=');
  expect(keys.filter((key) => stdout.includes(key))).toEqual([]);
}

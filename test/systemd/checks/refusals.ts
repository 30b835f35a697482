import { expect, test } from 'vitest';
import { configure, giveKey, journal, journalMoment, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';
import { settings } from './settings.ts';

export function checkRefusals(scene: () => Scene): void {
  test.for([
    { name: 'an empty key', spoil: ': > /etc/dropcast/api_key' },
    { name: 'a missing key', spoil: 'rm /etc/dropcast/api_key' },
  ])('$name stops the start with the commands that fix it, and systemd does not retry', async ({ spoil }) => {
    const { box } = scene();
    await box.read(`${spoil}; install -d /srv/first`);
    await configure(box, settings(['/srv/first']));
    const why = await failedStart(scene());
    expect(why).toContain('/etc/dropcast/api_key');
    expect(why).toContain('sudo install -m 600 /dev/stdin /etc/dropcast/api_key');
    expect(why).toContain('sudo systemctl restart dropcast');
  });

  test('a wrong configuration stops the start with file, line and key, and systemd does not retry', async () => {
    const { box, service } = scene();
    await giveKey(box, await service.key());
    await configure(box, settings(['/srv/first']).replace('concurrency:', 'concurency:'));
    expect(await failedStart(scene())).toMatch(
      /\/etc\/dropcast\/dropcast\.yaml:\d+:\d+ uploads\.concurency: .*did you mean "concurrency"/,
    );
  });
}

/** Starts what cannot start. Returns what it says, as `journalctl -p err` shows it; it must end with 78 and stay down. */
async function failedStart({ box }: Scene): Promise<string> {
  const moment = await journalMoment(box);
  expect((await box.run('systemctl start dropcast')).code).not.toBe(0);
  const names = ['ActiveState', 'ExecMainStatus', 'NRestarts'];
  expect(await unitState(box, 'dropcast', ...names)).toEqual({
    ActiveState: 'failed',
    ExecMainStatus: '78',
    NRestarts: '0',
  });
  const errors = (await journal(box, moment)).filter(({ PRIORITY }) => PRIORITY === '3');
  return errors.map(({ MESSAGE }) => String(MESSAGE)).join('\n');
}

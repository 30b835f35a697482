import { expect, test } from 'vitest';
import type { Machine } from '../machine.ts';
import { apt, installed } from '../repository.ts';
import { inbox } from './newcomer.ts';

/** What stays, and what does not. */
export function checkLeaving(machine: () => Machine): void {
  test('a removal keeps configuration, key and ledger; a purge leaves only the videos and the repository', async () => {
    const { box } = machine();
    const ours = 'ls -d /etc/dropcast /var/lib/dropcast* /usr/lib/dropcast /etc/systemd/system/dropcast* 2>/dev/null';
    expect(await apt(box, 'remove dropcast')).toMatchObject({ code: 0 });
    expect(await installed(box)).toBe('0.1.1 rc ');
    expect((await box.run(ours)).stdout).toMatch(
      /^\/etc\/dropcast\n(?:\/etc\/systemd\S+\n)*\/var\/lib\/dropcast\n\/var\/lib\/dropcast@golden\n$/,
    );
    await box.read('ls /etc/dropcast/dropcast.yaml /etc/dropcast/api_key /var/lib/dropcast/ledger.db');
    expect(await apt(box, 'purge dropcast')).toMatchObject({ code: 0 });
    expect((await box.run(ours)).stdout).toBe('');
    expect((await box.run('dpkg-query -W dropcast')).code).not.toBe(0);
    expect(await box.read(`ls ${inbox}`)).toContain('first.mp4');
    expect(await box.read('ls /etc/apt/sources.list.d')).toBe('dropcast.sources');
  });
}

import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { journal, journalMoment, quoted, unitState } from '../installed.ts';
import type { Scene } from '../installed.ts';

/** A name that would forge an entry of priority 2, colour a terminal, turn text around, and talk to systemd. */
const hostile = 'a\n<2>forged\u{1B}[31m\u{202E}\nWATCHDOG=trigger.mp4';

export function checkLogs(scene: () => Scene): void {
  test('the journal has one entry per line, with priorities, and no file name can forge one', async () => {
    const { box } = scene();
    const before = await unitState(box, 'dropcast', 'MainPID', 'NRestarts');
    const moment = await journalMoment(box);
    await box.read(`head -c 2000 /dev/urandom > /srv/team/${quoted(hostile)}`);
    await until('it is mentioned', async () =>
      (await journal(box, moment)).some(({ MESSAGE }) => String(MESSAGE).includes('forged')),
    );
    const entries = await journal(box);
    expect(entries.filter(({ MESSAGE }) => typeof MESSAGE !== 'string')).toEqual([]);
    expect(entries.filter(({ MESSAGE }) => /^forged|^WATCHDOG|^\s|^</.test(String(MESSAGE)))).toEqual([]);
    const controls = new RegExp(String.raw`[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]`);
    expect(entries.filter(({ MESSAGE }) => controls.test(String(MESSAGE)))).toEqual([]);
    expect([...new Set(entries.map(({ SYSLOG_IDENTIFIER }) => SYSLOG_IDENTIFIER))]).toEqual(['dropcast']);
    const priorities = new Set(entries.map(({ PRIORITY }) => PRIORITY));
    expect(priorities).toContain('6');
    expect([...priorities].filter((priority) => !['3', '4', '6'].includes(priority))).toEqual([]);
    expect(await unitState(box, 'dropcast', 'MainPID', 'NRestarts')).toEqual(before);
    await box.read(`rm /srv/team/${quoted(hostile)}`);
  });

  test('logrotate rotates the failure log, and the next failure goes to a new file', async () => {
    const { box } = scene();
    const log = '/var/log/dropcast/failures.jsonl';
    const fails = async (name: string): Promise<void> => {
      // No video: the service refuses it.
      await box.read(`head -c 2000 /dev/urandom > /srv/team/${name}.mpg`);
      await until(`${name} is in the log`, async () => (await box.run(`grep -q ${name} ${log}`)).code === 0);
    };
    await fails('before_the_rotation');
    expect(await box.read(`stat -c "%a %U:%G" /var/log/dropcast`)).toBe('750 dropcast:dropcast');
    const { stdout, stderr } = await box.run('logrotate --force /etc/logrotate.d/dropcast');
    expect(stdout + stderr).toBe('');
    expect(await box.read(`test ! -e ${log} && ls /var/log/dropcast`)).toBe('failures.jsonl.1');
    await fails('after_the_rotation');
    expect(await box.read(`grep -c before_the_rotation ${log}.1; grep -c before_the_rotation ${log} || true`)).toBe(
      '1\n0',
    );
  });
}

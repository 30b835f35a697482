import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import type { Box } from '../box.ts';

interface Finding {
  readonly level: string;
  readonly what: string;
  readonly fix: string | null;
}

/** `dropcast doctor` on the machine that `setup` left: well, then sick in one way after the other, each mended by the command that it names. */
export function checkDoctor(box: () => Box): void {
  const findings = async (): Promise<readonly Finding[]> => {
    const { stdout } = await box().run('dropcast doctor --json');
    return (JSON.parse(stdout) as { checks: { findings: Finding[] }[] }).checks.flatMap((check) => check.findings);
  };

  test('the doctor finds nothing on a machine that was set up', async () => {
    const { code, stdout, stderr } = await box().run('dropcast doctor --canary');
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain('\nNo problems found.\n');
    expect(stdout).toMatch(/ {2}done after \d/);
  });

  test.each([
    ['a daemon that was stopped', 'systemctl stop dropcast', /the daemon is not running/],
    [
      'a drop-in that was changed',
      'echo ReadWritePaths=/elsewhere >> /etc/systemd/system/dropcast.service.d/folders.conf',
      /folders\.conf is out of date/,
    ],
    [
      'a configuration that the service cannot read',
      'chown root:root /etc/dropcast/dropcast.yaml',
      /cannot read this file/,
    ],
    ['a folder that was closed', 'setfacl -b /srv/closed', /cannot use \/srv\/closed/],
    ['a version that was installed later', 'touch /usr/lib/dropcast/package.json', /another version was installed/],
  ])('the doctor finds %s, and its command fixes it', async (_, harm, what) => {
    await box().read(harm);
    const found = (await findings()).find((finding) => what.test(finding.what));
    expect(found, JSON.stringify(await findings())).toMatchObject({ fix: expect.stringMatching(/^sudo /) });
    await box().read(found?.fix ?? 'false');
    await until('it is mended', async () => (await findings()).length === 0, {
      seen: async () => JSON.stringify(await findings()),
    });
  });

  test('with a broken configuration the doctor reports the line, and still checks everything else', async () => {
    await box().read('cp -p /etc/dropcast/dropcast.yaml /root/kept; echo "chanel: x" >> /etc/dropcast/dropcast.yaml');
    const { code, stdout } = await box().run('dropcast doctor');
    expect(code).toBe(1);
    expect(stdout).toMatch(/problem: .*dropcast\.yaml:\d+:1 chanel: unknown key/);
    expect(stdout).toContain('disk: fine');
    expect(stdout).toContain('daemon: fine');
    await box().read('cp -p /root/kept /etc/dropcast/dropcast.yaml');
  });

  test('a bundle holds the journal and no key', async () => {
    await box().read('cd /root && dropcast doctor --bundle report.tar.gz');
    const text = await box().read('tar -xzOf /root/report.tar.gz');
    expect(text).toContain('Ready');
    expect(text).not.toContain(await box().read('cat /etc/dropcast/api_key'));
    expect(text).not.toContain('second.mp4');
  });
}

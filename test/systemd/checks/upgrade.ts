import { beforeAll, describe, expect, test } from 'vitest';
import type { Box } from '../box.ts';

/** The same package with a lower version and another example. */
const older = '/root/older.deb';
const config = '/etc/dropcast/dropcast.yaml';
const mine = 'service: { base_url: https://mine.example }';

/** Packages go up and down while nobody is there to answer questions. */
export function checkUpgrade(box: () => Box, file: string): void {
  const dpkg = async (args: string): Promise<string> => {
    // Nobody answers: the end of standard input is an error to dpkg.
    const { code, stdout } = await box().run(`DEBIAN_FRONTEND=noninteractive dpkg ${args} 2>&1 < /dev/null`);
    expect({ args, code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).not.toMatch(/'\/etc\/dropcast.*' not empty/);
    return box()
      .read("dpkg-query -W -f '${db:Status-Abbrev}' dropcast")
      .catch(() => 'none');
  };
  const text = () => box().read(`cat ${config}`);
  const owner = () => box().read(`stat -c '%a %U:%G' ${config} /etc/dropcast`);

  beforeAll(async () => {
    await box().read(olderPackage(file), { timeoutMs: 300_000 });
  }, 300_000);

  describe.each([
    { what: 'an edited configuration', edit: `echo '${mine}' > ${config}`, isMine: true },
    { what: 'an untouched example', edit: 'true', isMine: false },
  ])('with $what', ({ edit, isMine }) => {
    test('an upgrade, going back, removal and installation leave it as it is, and purging removes it', async () => {
      expect(await dpkg(`-i ${older}`)).toBe('ii ');
      await box().read(edit);
      const before = await text();
      for (const step of [`-i ${file}`, `-i ${older}`, `-i ${file}`]) {
        expect(await dpkg(step)).toBe('ii ');
        expect(await text()).toBe(before);
      }
      expect(before).toBe(isMine ? mine : await box().read('cat /root/older.yaml'));
      expect(await owner()).toBe('640 root:dropcast\n750 root:dropcast');
      await dpkg('-r dropcast');
      expect(await text()).toBe(before);
      expect(await dpkg(`-i ${file}`)).toBe('ii ');
      expect(await text()).toBe(before);
      await dpkg('-P dropcast');
      expect((await box().run('ls -d /etc/dropcast')).code).not.toBe(0);
    });
  });

  test('an installation on an empty machine brings the example, and purging removes all of it', async () => {
    expect(await dpkg(`-i ${file}`)).toBe('ii ');
    expect(await text()).toBe(await box().read('cat /usr/lib/dropcast/dropcast.yaml | tee /root/newer.yaml'));
    expect(await owner()).toBe('640 root:dropcast\n750 root:dropcast');
    expect(await dpkg(`-i ${older}`)).toBe('ii ');
    expect(await text()).toBe(await box().read('cat /root/newer.yaml'));
    await dpkg('-r dropcast');
    await dpkg('-P dropcast');
    expect((await box().run('ls -d /etc/dropcast')).code).not.toBe(0);
  });

  test('a configuration that was deleted does not come back with an upgrade', async () => {
    await dpkg(`-i ${older}`);
    await box().read(`rm ${config}`);
    await dpkg(`-i ${file}`);
    expect((await box().run(`ls ${config}`)).code).not.toBe(0);
    await dpkg('-P dropcast');
  });
}

function olderPackage(file: string): string {
  return `set -e
rm -rf /root/older
dpkg-deb -R ${file} /root/older
cd /root/older
sed -i 's/^Version: .*/Version: 0.0.9/' DEBIAN/control
example=usr/lib/dropcast/dropcast.yaml
{ echo '# Of an older version.'; cat $example; } > /root/older.yaml
install -m 644 /root/older.yaml $example
cd /
dpkg-deb --root-owner-group -Znone -b /root/older ${older} > /dev/null
rm -r /root/older`;
}

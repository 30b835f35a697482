import { beforeAll, describe, expect, test } from 'vitest';
import type { Box } from '../box.ts';

/** Earlier versions had the example configuration among the files that dpkg manages. */
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

  // Going back to the older one after it asks nothing: dpkg remembers what it had installed.
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
    // The older package has the file as its own, and asks about the one that is there: only this answer keeps it.
    expect(await dpkg(`-i --force-confold ${older}`)).toBe('ii ');
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

/** The same package as it was made earlier: with the example of its time as a conffile (deb-conffiles(5)). */
function olderPackage(file: string): string {
  return `set -e
rm -rf /root/older
dpkg-deb -R ${file} /root/older
cd /root/older
sed -i 's/^Version: .*/Version: 0.1.0/' DEBIAN/control
mkdir -p etc/dropcast && chmod 750 etc/dropcast
for example in usr/lib/dropcast/dropcast.yaml etc/dropcast/dropcast.yaml; do
  if [ -e $example ] && [ ! -e /root/older.yaml ]; then { echo '# Of an older version.'; cat $example; } > /root/older.yaml; fi
  rm -f $example
done
install -m 640 /root/older.yaml etc/dropcast/dropcast.yaml
grep -qx /etc/dropcast/dropcast.yaml DEBIAN/conffiles || echo /etc/dropcast/dropcast.yaml >> DEBIAN/conffiles
cd /
dpkg-deb --root-owner-group -Znone -b /root/older ${older} > /dev/null
rm -r /root/older`;
}

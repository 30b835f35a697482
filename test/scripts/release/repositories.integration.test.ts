import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { architectureOf } from '../../../scripts/package/architecture.ts';
import { writeDeb } from '../../../scripts/package/deb.ts';
import type { Deb } from '../../../scripts/package/deb.ts';
import { writeRpm } from '../../../scripts/package/rpm.ts';
import { writeAptRepository } from '../../../scripts/release/apt.ts';
import { writeDnfRepository } from '../../../scripts/release/dnf.ts';
import { openKeys, writeNewKeys } from '../../../scripts/release/keys.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';

const epochSeconds = 1_700_000_000;
const url = 'https://packages.example.com/dropcast';

const packageOf = (version: string, architecture: 'amd64' | 'arm64'): Deb => ({
  version,
  architecture: architectureOf(architecture),
  files: [{ path: 'usr/share/dropcast/version', content: version }],
  scripts: {},
  epochSeconds,
});

/** Writes both repositories with the keys of a directory, one version after the other. */
async function writeTree(out: string, keysIn: string, versions: readonly string[]): Promise<void> {
  await mkdir(out, { recursive: true });
  for (const version of versions) {
    await using keys = await openKeys(keysIn, epochSeconds);
    await keys.publish(join(out, 'keys'));
    const debs = await Promise.all(
      (['amd64', 'arm64'] as const).map(async (architecture) => {
        const file = join(out, `dropcast_${version}_${architecture}.deb`);
        await writeDeb(packageOf(version, architecture), file, true);
        return file;
      }),
    );
    await writeAptRepository({ out, debs, url, epochSeconds, keys });
    const rpm = join(out, `dropcast-${version}-1.x86_64.rpm`);
    await writeRpm(packageOf(version, 'amd64'), rpm, true);
    const rpms = [{ file: rpm, architecture: architectureOf('amd64') }];
    await writeDnfRepository({ out, rpms, url, epochSeconds, keys });
    // As a copy without times, into which the next version goes.
    await utimes(join(out, 'rpm/x86_64', basename(rpm)), new Date(), new Date());
  }
}

describe('repositories', needs('apt-ftparchive', 'dpkg-deb', 'gpg', 'minisign', 'rpmbuild', 'createrepo_c'), () => {
  let scratch: ScratchDirectory;
  let tree: string;
  let apts = 0;

  beforeAll(async () => {
    scratch = await scratchDirectory();
    tree = scratch.file('tree');
    await writeNewKeys(scratch.file('keys'), epochSeconds);
    await writeTree(tree, scratch.file('keys'), ['0.1.0', '0.1.1']);
  });
  afterAll(() => scratch[Symbol.asyncDispose]());

  /** An apt with a configuration, lists and a cache of its own. @param key of those that it trusts */
  const aptFor = async (from: string, key = join(tree, 'keys/dropcast.gpg')) => {
    const home = scratch.file(`apt-${(apts += 1)}`);
    for (const path of ['etc/apt/sources.list.d', 'var/lib/apt/lists/partial', 'var/cache/apt/archives/partial'])
      await mkdir(join(home, path), { recursive: true });
    await writeFile(join(home, 'status'), '');
    const lines = (await readFile(join(from, 'apt/dropcast.sources'), 'utf8'))
      .replace(`${url}/apt`, `file:${from}/apt`)
      .replace('/usr/share/keyrings/dropcast.gpg', key);
    await writeFile(join(home, 'etc/apt/sources.list.d/dropcast.sources'), lines);
    const own = [`Dir=${home}`, `Dir::State::status=${home}/status`, 'APT::Sandbox::User=root'];
    return (...args: readonly string[]) => {
      const options = [...own, 'APT::Architecture=amd64'].flatMap((each) => ['-o', each]);
      const { status, stdout, stderr } = spawnSync('apt-get', [...options, ...args], {
        encoding: 'utf8',
        cwd: home,
        env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      });
      return { status, said: `${stdout}${stderr}` };
    };
  };

  test('apt trusts it, and fetches the older version too', async () => {
    const apt = await aptFor(tree);
    expect(apt('--error-on=any', 'update')).toMatchObject({ status: 0 });
    for (const version of ['0.1.0', '0.1.1'])
      expect(apt('download', `dropcast=${version}`)).toMatchObject({ status: 0 });
  });

  test('apt finds the lists of the release file that it has, while a copy of the tree is half-way', async () => {
    const former = scratch.file('former');
    await writeTree(former, scratch.file('keys'), ['0.1.0']);
    const halfWay = scratch.file('half-way');
    await cp(tree, halfWay, { recursive: true });
    await cp(join(former, 'apt/dists/stable/InRelease'), join(halfWay, 'apt/dists/stable/InRelease'));
    const apt = await aptFor(halfWay);
    expect(apt('--error-on=any', 'update')).toMatchObject({ status: 0 });
    expect(apt('download', 'dropcast=0.1.0')).toMatchObject({ status: 0 });
  });

  test('apt refuses it with another key', async () => {
    await writeNewKeys(scratch.file('others'), epochSeconds);
    await using others = await openKeys(scratch.file('others'), epochSeconds);
    await others.publish(scratch.file('published'));
    const apt = await aptFor(tree, scratch.file('published', 'dropcast.gpg'));
    expect(apt('--error-on=any', 'update')).toMatchObject({
      status: 100,
      said: expect.stringContaining('NO_PUBKEY'),
    });
  });

  test.each([
    ['package', 'apt/pool/main/d/dropcast/dropcast_0.1.1_amd64.deb', /Hash Sum mismatch|unexpected size/],
    ['list', 'apt/dists/stable/main/binary-amd64/by-hash/SHA256/Packages.gz', /Hash Sum mismatch|unexpected size/],
    ['release', 'apt/dists/stable/InRelease', /BADSIG|not signed|Clearsigned/],
  ])('apt refuses a %s that was changed', async (what, path, why) => {
    const changed = scratch.file(`changed-${what}`);
    await cp(tree, changed, { recursive: true });
    const list = await readFile(join(tree, 'apt/dists/stable/main/binary-amd64/Packages.gz'));
    const file = join(changed, path.replace('Packages.gz', createHash('sha256').update(list).digest('hex')));
    const content = await readFile(file);
    content.set(Buffer.from('X'), content.indexOf('stable') + 1 || content.length - 1);
    await writeFile(file, content);
    const apt = await aptFor(changed);
    const updated = apt('--error-on=any', 'update');
    const refused = updated.status === 0 ? apt('download', 'dropcast') : updated;
    expect(refused).toMatchObject({ status: 100, said: expect.stringMatching(why) });
  });

  test('the index for dnf is signed, and lists both versions', async () => {
    const index = join(tree, 'rpm/x86_64/repodata/repomd.xml');
    const verified = spawnSync('gpgv', ['--keyring', join(tree, 'keys/dropcast.gpg'), `${index}.asc`, index], {
      encoding: 'utf8',
    });
    expect(verified).toMatchObject({ status: 0, stderr: expect.stringContaining('Good signature') });
    const { stdout } = spawnSync('zcat', [join(tree, 'rpm/x86_64/repodata/primary.xml.gz')], { encoding: 'utf8' });
    expect(stdout).toMatch(/dropcast-0\.1\.0-1[^]*dropcast-0\.1\.1-1/);
  });

  test('the same packages and keys give the same bytes, signatures included', async () => {
    const again = scratch.file('again');
    await writeTree(again, scratch.file('keys'), ['0.1.0', '0.1.1']);
    expect(spawnSync('diff', ['--recursive', '--brief', tree, again], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: '',
    });
  });
});

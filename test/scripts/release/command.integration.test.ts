import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openKeys, writeNewKeys } from '../../../scripts/release/keys.ts';
import { sourceOf, writeProvenance } from '../../../scripts/release/provenance.ts';
import { sumsOf, writeSums } from '../../../scripts/release/sums.ts';
import { requireClean, requireInstalled, requireUntagged, tagRelease } from '../../../scripts/release/write-release.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';

const command = fileURLToPath(new URL('../../../scripts/release.ts', import.meta.url));

let scratch: ScratchDirectory;
/** The locks of packages that a build fetches: those of npm, and those of Debian in the images. */
const locks = ['package-lock.json', 'scripts/release/image/debian.lock.json'];
/** A repository with one commit. */
let checkout: string;
let commit: string;

beforeAll(async () => {
  scratch = await scratchDirectory();
  checkout = scratch.file('checkout');
  await mkdir(checkout);
  await mkdir(join(checkout, 'scripts/release/image'), { recursive: true });
  for (const name of ['package.json', ...locks])
    await writeFile(join(checkout, name), '{ "version": "0.1.0", "repository": "https://git.example.com/dropcast" }');
  git('init', '--quiet');
  git('config', 'user.name', 'dropcast');
  git('config', 'user.email', 'dropcast@localhost');
  git('add', '.');
  git('commit', '--quiet', '--message', 'First');
  commit = git('rev-parse', 'HEAD');
});
afterAll(() => scratch[Symbol.asyncDispose]());

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: checkout, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

test.each([
  [[], /^--out DIR is missing/],
  [['--out', 'x', '--only', 'apt,dmg'], /^--only knows no "dmg": expected some of apt, rpm, /],
  [['--out', 'x', '--sign', 'k', '--version', '0.1.1'], /^a signed release is whole/],
  [['--out', 'x', '--sign', 'k', '--only', 'apt'], /^a signed release is whole/],
  [['--out', 'x', '--sign', 'k', '--dirty'], /^a signed release is whole/],
  [['--out', 'x', '--sign', 'k', '--fast'], /^a signed release is whole/],
])('%j is refused in a sentence', (args, sentence) => {
  const ended = spawnSync(process.execPath, [command, ...args], { cwd: scratch.path, encoding: 'utf8' });
  expect(ended).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(sentence) });
  expect(ended.stderr.trim().split('\n')).toHaveLength(1);
});

describe('a release is of a commit', () => {
  test('a checkout with a change is refused, and the change is named', async () => {
    await requireClean(checkout);
    await writeFile(join(checkout, 'notes'), '');
    await expect(requireClean(checkout)).rejects.toThrow(/^the checkout has changes[^]*\?\? notes$/);
    const source = await sourceOf(checkout);
    await writeProvenance(checkout, scratch.file('changed'), { version: '0.1.0', sums: [], source });
    expect(await readFile(scratch.file('changed/provenance/dropcast-0.1.0.intoto.json'), 'utf8')).not.toContain(commit);
    git('clean', '--quiet', '--force');
  });

  test('a file that git ignores is refused where it would enter a package', async () => {
    await mkdir(join(checkout, 'docs'));
    await writeFile(join(checkout, '.git/info/exclude'), '.*.swp\n');
    await writeFile(join(checkout, '.notes.swp'), '');
    await requireClean(checkout);
    await writeFile(join(checkout, 'docs/.install.md.swp'), '');
    await expect(requireClean(checkout)).rejects.toThrow(/^git ignores files [^]*\ndocs\/.install.md.swp$/);
    git('clean', '--quiet', '--force', '-x', '-d');
  });

  test('packages that are installed in another version than the locked one are refused', async () => {
    const root = scratch.file('installed');
    const write = async (file: string, version: string): Promise<void> =>
      writeFile(join(root, file), JSON.stringify({ packages: { '': {}, 'node_modules/got': { version } } }));
    await mkdir(join(root, 'node_modules'), { recursive: true });
    await write('package-lock.json', '16.1.0');
    await write('node_modules/.package-lock.json', '16.1.0');
    await requireInstalled(root);
    await write('package-lock.json', '16.2.0');
    await expect(requireInstalled(root)).rejects.toThrow(
      'node_modules/got is not as package-lock.json has it: run npm ci',
    );
  });

  test('its tag is made once', async () => {
    await requireUntagged(checkout, '0.1.0');
    await tagRelease(checkout, '0.1.0', commit);
    expect(git('rev-parse', 'v0.1.0^{commit}')).toBe(commit);
    await expect(requireUntagged(checkout, '0.1.0')).rejects.toThrow('the tag v0.1.0 exists: set the next version');
    await requireUntagged(checkout, '0.1.1');
  });

  test('the provenance names it, and each file with its SHA-256', async () => {
    const out = scratch.file('tree');
    const sums = [{ path: 'npm/dropcast-client-0.1.0.tgz', sha256: 'ab'.repeat(32) }];
    await writeProvenance(checkout, out, { version: '0.1.0', sums, source: await sourceOf(checkout) });
    const text = await readFile(join(out, 'provenance/dropcast-0.1.0.intoto.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'npm/dropcast-client-0.1.0.tgz', digest: { sha256: 'ab'.repeat(32) } }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          resolvedDependencies: [
            { uri: 'git+https://git.example.com/dropcast', digest: { gitCommit: commit } },
            ...locks.map((name) => ({ name, digest: { sha256: expect.stringMatching(/^[\da-f]{64}$/) } })),
          ],
        },
      },
    });
  });
});

describe('signatures', needs('gpg', 'minisign'), () => {
  test('a key that is younger than the commit signs, and gpgv accepts it', async () => {
    await writeNewKeys(scratch.file('keys'));
    await using keys = await openKeys(scratch.file('keys'), 1_700_000_000);
    await keys.publish(scratch.file('published'));
    const file = await scratch.write('Release', 'Suite: stable\n');
    await keys.detach(file, `${file}.gpg`);
    const args = ['--keyring', scratch.file('published/dropcast.gpg'), `${file}.gpg`, file];
    expect(spawnSync('gpgv', args, { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('Good signature'),
    });
  });

  test('keys with a password are refused before anything is built', async () => {
    const keys = scratch.file('with-password');
    await writeNewKeys(keys);
    await rm(join(keys, 'minisign.key'));
    const args = ['-G', '-s', join(keys, 'minisign.key'), '-p', scratch.file('unused.pub')];
    spawnSync('minisign', args, { input: 'secret\nsecret\n' });
    await expect(openKeys(keys, 1_700_000_000)).rejects.toThrow(
      /^the keys in .* cannot sign; they must have no password/,
    );
  });

  test('other keys never replace those that installations trust, but keys of a trial do not stay', async () => {
    const tree = scratch.file('trusted');
    const publish = async (name: string | null): Promise<void> => {
      await using keys = await openKeys(name === null ? null : scratch.file(name), 1_700_000_000);
      await keys.publish(tree);
    };
    await writeNewKeys(scratch.file('ours'));
    await publish(null);
    await publish(null);
    await publish('ours');
    await publish('ours');
    await expect(publish(null)).rejects.toThrow(/has other keys, and installations trust only those/);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s leaves neither secret keys nor an agent behind', async (signal) => {
    const tmp = scratch.file(signal);
    await mkdir(join(tmp, 'tree'), { recursive: true });
    await writeFile(join(tmp, 'tree/SHA256SUMS'), 'of the last release');
    const args = [command, '--out', join(tmp, 'tree'), '--only', 'man', '--dirty'];
    const release = spawn(process.execPath, args, { env: { ...process.env, TMPDIR: tmp } });
    let printed = '';
    const ended = once(release, 'exit');
    for await (const chunk of release.stderr) {
      printed += String(chunk);
      if (!release.killed && printed.includes('dropcast 0')) release.kill(signal);
    }
    expect(await ended).toEqual([1, null]);
    expect(printed).toContain(`stopped by ${signal}\n`);
    expect(await readdir(tmp)).toEqual(['tree']);
    // The tree does not look complete.
    expect(await readdir(join(tmp, 'tree'))).toEqual(['keys']);
    expect(spawnSync('pgrep', ['--full', `gpg-agent --homedir ${tmp}`]).status).toBe(1);
  });

  test('SHA256SUMS is what sha256sum reads, and minisign refuses it after a change', async () => {
    const out = scratch.file('summed');
    await mkdir(join(out, 'npm'), { recursive: true });
    await writeFile(join(out, 'npm/a.tgz'), 'a');
    await using keys = await openKeys(null, 1_700_000_000);
    await keys.publish(join(out, 'keys'));
    await keys.minisign(await writeSums(out, await sumsOf(out)));
    const verify = (): unknown =>
      spawnSync('minisign', ['-V', '-m', 'SHA256SUMS', '-p', 'keys/minisign.pub'], { cwd: out }).status;
    expect(spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out }).status).toBe(0);
    expect(verify()).toBe(0);
    await writeFile(join(out, 'SHA256SUMS'), 'b');
    expect(verify()).toBe(1);
  });
});

import { execFile } from 'node:child_process';
import { glob, readFile, stat, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { architectureOf } from '../../../scripts/package/architecture.ts';
import { scratchDirectory, type ScratchDirectory } from '../../support/scratch-directory.ts';
import { packageContents, packagedConfig } from '../../../scripts/package/contents.ts';
import { sha256Of, writeDeb } from '../../../scripts/package/deb.ts';
import { writeTree } from '../../../scripts/package/packaged-file.ts';
import { sourceDate } from '../../../scripts/package/source-date.ts';
import { missingTools } from '../../../scripts/package/tools.ts';
import { scratch } from '../../config/scratch.ts';
import { needs } from '../../support/needs.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const node = { version: '26.0.0', licence: 'Copyright Node.js contributors' };
const AT = 1_700_000_000;

let directory: ScratchDirectory;
let folder: string;
beforeEach(async () => {
  directory = await scratchDirectory();
  folder = directory.path;
});
afterEach(() => directory[Symbol.asyncDispose]());

test(
  'the same sources give the same bytes, whatever umask, time zone and folder they are built in',
  needs('dpkg-deb'),
  async () => {
    const build = async (name: string): Promise<string> => {
      const files = await packageContents(root, node, AT);
      const file = join(folder, name);
      await writeDeb(
        { version: '1.0.0', architecture: architectureOf('amd64'), files, scripts: {}, epochSeconds: AT },
        file,
        true,
      );
      return sha256Of(file);
    };
    const first = await build('one.deb');
    using stack = new DisposableStack();
    stack.use(otherSurroundings());
    expect(await build('another name.deb')).toBe(first);
  },
);

/** The process has them for a while. Tests of a file run one after the other. */
function otherSurroundings(): Disposable {
  const { TZ } = process.env;
  const umask = process.umask(0o077);
  process.env['TZ'] = 'Pacific/Kiritimati';
  return {
    [Symbol.dispose]: () => {
      process.umask(umask);
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    },
  };
}

test('the package holds every part in its place, owned by root, with its mode', needs('dpkg-deb'), async () => {
  const file = join(folder, 'dropcast.deb');
  const files = await packageContents(root, node, AT);
  await writeDeb(
    { version: '1.0.0', architecture: architectureOf('amd64'), files, scripts: {}, epochSeconds: AT },
    file,
    true,
  );
  const { stdout } = await run('dpkg-deb', ['--contents', file], { env: { ...process.env, TZ: 'UTC' } });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/));
  const modes = new Map(lines.map((words) => [words[5], words[0]]));
  expect(new Set(lines.map((words) => words[1]))).toEqual(new Set(['root/root']));
  expect(new Set(lines.map((words) => words[3]))).toEqual(new Set(['2023-11-14']));
  expect(Object.fromEntries(LAYOUT.map((path) => [path, modes.get(`./${path}`)]))).toEqual(
    Object.fromEntries(LAYOUT.map((path) => [path, SPECIAL[path] ?? '-rw-r--r--'])),
  );
});

const LAYOUT = [
  'etc/dropcast/',
  'etc/logrotate.d/dropcast',
  'usr/bin/dropcast',
  'usr/lib/dropcast/dist/main.js',
  'usr/lib/dropcast/dist/hash-thread.js',
  'usr/lib/dropcast/dist/media-info-thread.js',
  'usr/lib/dropcast/package.json',
  'usr/lib/dropcast/dropcast.yaml',
  'usr/lib/dropcast/openapi.yaml',
  'usr/lib/dropcast/test/media/clip.mp4',
  'usr/lib/systemd/system/dropcast.service',
  'usr/lib/systemd/system/dropcast@.service',
  'usr/lib/systemd/system-preset/50-dropcast.preset',
  'usr/lib/sysusers.d/dropcast.conf',
  'usr/share/man/man8/dropcast.8.gz',
  'usr/share/man/man5/dropcast.yaml.5.gz',
  'usr/share/bash-completion/completions/dropcast',
  'usr/share/zsh/vendor-completions/_dropcast',
  'usr/share/fish/vendor_completions.d/dropcast.fish',
  'usr/share/doc/dropcast/copyright',
  'usr/share/doc/dropcast/changelog.gz',
  'usr/share/doc/dropcast/install.md',
  'usr/share/doc/dropcast/examples/folders.conf',
];
const SPECIAL: Readonly<Record<string, string>> = {
  'etc/dropcast/': 'drwxr-x---',
  'usr/bin/dropcast': '-rwxr-xr-x',
};

// dpkg would ask which one to use whenever the example changes, and stop an upgrade that nobody watches.
test('the example configuration is no file that dpkg manages', needs('dpkg-deb'), async () => {
  const file = join(folder, 'dropcast.deb');
  const files = await packageContents(root, node, AT);
  await writeDeb(
    { version: '1.0.0', architecture: architectureOf('amd64'), files, scripts: {}, epochSeconds: AT },
    file,
    true,
  );
  const { stdout } = await run('dpkg-deb', ['--info', file, 'conffiles']);
  expect(stdout).toBe('/etc/logrotate.d/dropcast\n');
});

test('the licence of everything that is bundled is passed on', async () => {
  const files = await packageContents(root, node, AT);
  const text = String(files.find(({ path }) => path.endsWith('/copyright'))?.content);
  const libraries = await importedLibraries();
  expect(libraries).toEqual(expect.arrayContaining(['got', 'hono', 'kysely', 'xstate']));
  for (const name of libraries) expect(text).toMatch(new RegExp(`^Files: (?:\\S+/)?node_modules/${name}/\\*$`, 'm'));
  expect(text).toContain('Files: usr/lib/dropcast/bin/node\nComment: Node.js 26.0.0');
});

/** Those that the program's sources name, without Node's and our own. */
async function importedLibraries(): Promise<readonly string[]> {
  const names = new Set<string>();
  for await (const path of glob('{src,packages/*/src}/**/*.ts', { cwd: root })) {
    const text = await readFile(join(root, path), 'utf8');
    for (const [, name = ''] of text.matchAll(/^import (?!type )[^;]*?from '((?:@[\w.-]+\/)?[a-z][\w:.-]*)/gm))
      if (!isBuiltin(name) && !name.startsWith('@dropcast/')) names.add(name);
  }
  return [...names];
}

test('the installed configuration has no problems but those of the machine', async () => {
  await using here = await scratch();
  const text = packagedConfig(await readFile(join(root, 'config.example.yaml'), 'utf8'));
  expect(await here.problems(text.replace('!credential api_key', '!env KEY'), { KEY: 'abc' })).toEqual([]);
});

test('modes and times are those of the package, whatever the umask is', async () => {
  const umask = process.umask(0o027);
  try {
    await writeTree([{ path: 'a/b', content: 'x' }], folder, AT);
  } finally {
    process.umask(umask);
  }
  const [directory, file] = await Promise.all([stat(join(folder, 'a')), stat(join(folder, 'a/b'))]);
  expect([directory.mode & 0o7777, file.mode & 0o7777]).toEqual([0o755, 0o644]);
  expect([directory.mtimeMs, file.mtimeMs]).toEqual([AT * 1000, AT * 1000]);
});

test('the time is the requested one, otherwise that of the commit, otherwise that of the changelog', async () => {
  expect(await sourceDate(root, '', { SOURCE_DATE_EPOCH: '5' })).toBe(5);
  await expect(sourceDate(root, '', { SOURCE_DATE_EPOCH: 'now' })).rejects.toThrow('whole number of seconds');
  expect(await sourceDate(folder, '## 1.0.0 (2026-03-04)\n', {})).toBe(Date.parse('2026-03-04') / 1000);
  await expect(sourceDate(folder, '', {})).rejects.toThrow('set SOURCE_DATE_EPOCH');
  await run('git', ['init', '-q', folder]);
  await writeFile(join(folder, 'a'), '');
  await run('git', ['-C', folder, 'add', 'a']);
  await run('git', ['-C', folder, '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-qm', 'a'], {
    env: { ...process.env, GIT_COMMITTER_DATE: `${AT} +0500` },
  });
  expect(await sourceDate(folder, '## 1.0.0 (2026-03-04)\n', {})).toBe(AT);
});

test('a missing tool is named with the line that installs it', async () => {
  expect(await missingTools({ 'no-such-tool': 'binutils' })).toMatch(
    /^no-such-tool .*: sudo apt-get install binutils$/,
  );
  expect(await missingTools({ node: 'nodejs' })).toBeNull();
});

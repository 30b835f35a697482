import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../packages/sandbox/src/sandbox.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** A program of somebody else, with the packed package installed. */
let consumer: string;
let installed: string;

beforeAll(async () => {
  consumer = await mkdtemp(join(tmpdir(), 'dropcast-consumer-'));
  const checkout = join(consumer, 'checkout');
  await copyCheckout(checkout);
  await run('npm', ['run', 'build'], { cwd: checkout }); // scripts of npm itself are switched off, a prepack would not run
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', consumer], { cwd: checkout });
  installed = join(consumer, 'node_modules/dropcast');
  await mkdir(installed, { recursive: true });
  const tarball = join(consumer, packed.stdout.trim().split('\n').at(-1) ?? '');
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  await linkDependencies();
});
afterAll(() => rm(consumer, { recursive: true, force: true }));

/** What is under version control, and nothing that lies about; building it must not touch the tree that is tested. */
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

/** Those that the package asks for, and no others. */
async function linkDependencies(): Promise<void> {
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    const link = join(consumer, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, 'node_modules', name), link);
  }
}

test('the package has what its package.json promises', async () => {
  const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg ?? {}))).toEqual([]);
});

test('its library is imported, type-checked and used by another program', async () => {
  await using sandbox = await startSandbox();
  const program = `import { createVideoClient, NotFoundError } from 'dropcast';
const [baseUrl, apiKey] = process.argv.slice(2) as [string, string];
await using client = createVideoClient({ baseUrl, apiKey });
const { id } = await client.videos.create({ title: 'From another program' });
const error: unknown = await client.videos.get('vid_nobody').catch((thrown: unknown) => thrown);
const titles: string[] = [];
for await (const video of client.videos.list()) titles.push(video.title ?? '');
console.log(JSON.stringify([typeof id, titles, error instanceof NotFoundError && error.status]));
`;
  await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
  await writeFile(join(consumer, 'program.ts'), program);
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,esnext'];
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
  await run(join(root, 'node_modules/.bin/tsc'), [...options, ...types, 'program.ts'], { cwd: consumer });
  const args = [join(consumer, 'program.ts'), sandbox.baseUrl, sandbox.apiKey];
  const { stdout } = await run(process.execPath, args, { cwd: consumer });
  expect(JSON.parse(stdout)).toEqual(['string', ['From another program'], 404]);
});

test('its sandbox runs from the built files', async () => {
  const { stdout } = await run(process.execPath, [join(installed, 'bin/dropcast.cjs'), 'sandbox', '--help']);
  expect(stdout).toContain('dropcast sandbox');
});

import { mkdir, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { eventually } from '../../support/until.ts';
import { execute } from '../../systemd/execute.ts';
import { podmanObstacle, startPodman } from './podman.ts';
import type { Podman } from './podman.ts';
import { buildah, inStorage } from './storage.ts';
import type { Storage } from './storage.ts';

const images = inject('images');
const obstacle = typeof images === 'string' ? images : await podmanObstacle();
if (obstacle !== null) process.stderr.write(`\n*** NOT CHECKED: contrib/compose.sandbox.yaml: ${obstacle}\n\n`);

const root = join(import.meta.dirname, '../../..');
const token = 'a-token-of-the-test';
const key = 'sk_sandbox_57bcjgd20fqtvtgpzy57k681vvt97met';

// Its tests are the steps of one story, in their order.
describe.skipIf(obstacle !== null)('contrib/compose.sandbox.yaml', () => {
  const own = new AsyncDisposableStack();
  let podman: Podman;
  let compose: (...args: readonly string[]) => Promise<string>;

  beforeAll(async () => {
    const scratch = own.use(await scratchDirectory());
    await mkdir(scratch.file('contrib'));
    await copyFile(join(root, 'contrib/compose.sandbox.yaml'), scratch.file('contrib', 'compose.sandbox.yaml'));
    podman = own.use(await startPodman(images as Storage, scratch.path));
    compose = async (...args) => {
      const command = ['docker-compose', '-f', 'contrib/compose.sandbox.yaml', ...args] as const;
      const env = { DOCKER_HOST: podman.address, DROPCAST_SANDBOX_TOKEN: token };
      const { code, stdout, stderr } = await execute(command, { cwd: scratch.path, env, timeoutMs: 600_000 });
      if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stdout}${stderr}`);
      return stdout + stderr;
    };
  });
  afterAll(() => own.disposeAsync());

  const curl = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await podman.inNetwork('curl', '-sS', ...args);
    if (code !== 0) throw new Error(`curl ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout;
  };
  const uploadUrl = async (host: string): Promise<string> => {
    const asked = ['-H', `Authorization: Bearer ${key}`, '-H', `Host: ${host}`, '--json', '{"title":"T"}'];
    const { upload_url: url } = JSON.parse(await curl(...asked, 'http://127.0.0.1:8787/v1/videos')) as {
      upload_url: string;
    };
    return url;
  };

  test('has Node in its image, and no shell', async () => {
    const container = await buildah(images as Storage, 'from', 'localhost/dropcast-sandbox');
    own.defer(() => buildah(images as Storage, 'rm', container).then(() => undefined));
    const run = (...command: readonly string[]) =>
      execute([
        'buildah',
        ...inStorage(images as Storage),
        'run',
        '--isolation',
        'chroot',
        container,
        '--',
        ...command,
      ]);
    expect(await run('/usr/lib/dropcast/bin/node', '-p', 'process.getuid()')).toMatchObject({
      code: 0,
      stdout: '995\n',
    });
    expect(await run('/bin/sh', '-c', 'true')).not.toMatchObject({ code: 0 });
  });

  test('becomes healthy', async () => {
    await compose('up', '-d');
    const container = (await compose('ps', '-q', 'sandbox')).trim();
    const health = (): Promise<string> => podman.inspect(container, '{{.State.Health.Status}}');
    await eventually('the sandbox is healthy', async () => expect(await health()).toBe('healthy'));
    expect(await podman.inspect(container, '{{.Config.User}}')).toBe('995:995');
  });

  test('gives this machine and other containers links that lead there, and no other name an answer', async () => {
    expect(await uploadUrl('localhost:8787')).toMatch(/^http:\/\/localhost:8787\/uploads\//);
    expect(await uploadUrl('sandbox:8787')).toMatch(/^http:\/\/sandbox:8787\/uploads\//);
    expect(await curl('-H', 'Host: evil.example', 'http://127.0.0.1:8787/v1/videos')).toContain('misdirected_request');
  });

  test('takes a file, probes it, and resets with the chosen admin token', async () => {
    const url = await uploadUrl('localhost:8787');
    expect(await curl('-T', join(root, 'test/media/clip.mp4'), url)).toContain('"status":"processing"');
    const listed = () => curl('-H', `Authorization: Bearer ${key}`, 'http://localhost:8787/v1/videos?status=ready');
    await eventually('it is ready', async () => expect(await listed()).toContain('"duration":4'));
    await curl('-X', 'POST', '-H', `Authorization: Bearer ${token}`, 'http://localhost:8787/_sandbox/reset');
    expect(await listed()).toContain('"total":0');
  });

  test('warns in its log, and stops at once on request', async () => {
    expect(await compose('logs', 'sandbox')).toContain('API keys and the admin token cross the network in the clear');
    const container = (await compose('ps', '-q', 'sandbox')).trim();
    await compose('stop', '-t', '60', 'sandbox');
    expect(await podman.inspect(container, '{{.State.ExitCode}}')).toBe('0');
  });
});

import { chmod, chown, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { VideoHost } from '../../e2e/video-host.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { execute } from '../../systemd/execute.ts';
import { startPodman } from './podman.ts';
import type { Podman } from './podman.ts';
import { relay } from './relay.ts';
import { rootfs } from '../../systemd/rootfs.ts';
import { buildRecipe, importDebian } from './storage.ts';
import type { Storage } from './storage.ts';

const root = join(import.meta.dirname, '../../..');
/** User and group of the image. */
const user = 995;

/** A project of docker-compose: contrib/compose.fleet.yaml. Leaving its block ends and removes it. */
export interface Fleet extends AsyncDisposable {
  readonly podman: Podman;
  /** The folder that both members share. */
  readonly inbox: string;
  /** `docker-compose …` to its end. @returns what it printed @throws when it fails */
  compose(...args: readonly string[]): Promise<string>;
  /** The id of the container of a service. */
  container(service: string): Promise<string>;
  /** Makes the video service reachable from a member, at the address that its configuration has. */
  connect(service: string): Promise<void>;
}

/** Puts the project into a directory, as docs/fleet.md says, and starts nothing of it yet. */
export async function prepareFleet(storage: Storage, host: VideoHost): Promise<Fleet> {
  await using making = new AsyncDisposableStack();
  const scratch = making.use(await scratchDirectory());
  await chmod(scratch.path, 0o755);
  await mkdir(scratch.file('inbox'));
  await chown(scratch.file('inbox'), user, user);
  await writeProject(scratch, host);
  await buildPostgres(storage);
  const sockets = await shareOut(making, scratch, host);
  const podman = making.use(await startPodman(storage, scratch.path));
  const compose: Fleet['compose'] = async (...args) => {
    const command = ['docker-compose', '-f', 'contrib/compose.fleet.yaml', ...args] as const;
    const terms = { cwd: scratch.path, env: { DOCKER_HOST: podman.address }, timeoutMs: 600_000 };
    const { code, stdout, stderr } = await execute(command, terms);
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stdout}${stderr}`);
    return stdout;
  };
  const container = async (service: string): Promise<string> => (await compose('ps', '-q', service)).trim();
  const made = making.move();
  return {
    podman,
    inbox: scratch.file('inbox'),
    compose,
    container,
    connect: async (service) => {
      const program = [process.execPath, join(import.meta.dirname, 'relay.ts'), ...sockets];
      const child = await podman.beside(await container(service), ...program);
      let said = '';
      child.stdout?.on('data', (part) => (said += String(part)));
      await until(`${service} reaches the video service`, () => said.includes('relaying'));
    },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

/**
 * The files of contrib as they are, but for two lines: the address of the video service, which may go without TLS on loopback
 * only, and the folder of the host.
 */
async function writeProject(scratch: ScratchDirectory, host: VideoHost): Promise<void> {
  await mkdir(scratch.file('contrib'));
  const contrib = async (name: string, from: string, to: string): Promise<void> => {
    const text = await readFile(join(root, 'contrib', name), 'utf8');
    if (!text.includes(from)) throw new Error(`contrib/${name} has no "${from}"`);
    await scratch.write(`contrib/${name}`, text.replaceAll(from, to));
  };
  await contrib('dropcast.fleet.yaml', 'https://video.example.com/v1', host.baseUrl);
  await contrib('compose.fleet.yaml', '- /srv/media/inbox:', `- ${scratch.file('inbox')}:`);
  const secrets = { api_key: host.key, ledger_password: 'a password of some length' };
  for (const [name, secret] of Object.entries(secrets)) {
    const file = await scratch.write(`contrib/${name}`, `${secret}\n`);
    await chmod(file, 0o400);
    await chown(file, user, user);
  }
}

/** Under the name by which the compose file knows it. */
async function buildPostgres(storage: Storage): Promise<void> {
  const text = await readFile(join(root, 'contrib/compose.fleet.yaml'), 'utf8');
  const { services } = parse(text, { merge: true }) as { services: { postgres: { image: string } } };
  await importDebian(storage, await rootfs('bookworm'));
  const context = join(import.meta.dirname, 'postgres');
  await buildRecipe(storage, join(context, 'Containerfile'), services.postgres.image, context);
}

/** The loopback interface of a container is its own: so both ports of the service get a Unix socket, which no network hides. */
async function shareOut(own: AsyncDisposableStack, scratch: ScratchDirectory, host: VideoHost): Promise<string[]> {
  const ports = [host.baseUrl, host.uploadOrigin].map((address) => Number(new URL(address).port));
  for (const port of ports)
    own.use(await relay({ path: scratch.file(`service-${port}`) }, { host: '127.0.0.1', port }));
  return ports.map((port) => scratch.file(`service-${port}`));
}

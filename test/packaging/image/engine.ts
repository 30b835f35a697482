import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { ImageConfig } from '../../../scripts/release/image/recipes.ts';
import { execute } from '../../systemd/execute.ts';
import type { Ended } from '../../systemd/execute.ts';
import { buildah, inStorage } from './storage.ts';
import type { Storage } from './storage.ts';

/** An image, and one container of it. Leaving its block removes the container. */
export interface Image extends AsyncDisposable {
  /** What an engine does by itself. */
  readonly config: ImageConfig;
  /** Runs a program in the container as its user, to its end. */
  run(...command: readonly string[]): Promise<Ended>;
  /** Starts what the image starts. @param volumes from the host → in the container */
  start(volumes: Readonly<Record<string, string>>): Promise<Started>;
}

export interface Started {
  /** What it has printed. */
  said(): string;
  /** Sends the stop signal of the image to the program, as an engine does. @returns exit code */
  stop(): Promise<number>;
}

/**
 * A container of the image `localhost/dropcast`. buildah runs it, which needs no daemon and no OCI runtime. It has the network of
 * the host.
 */
export async function openImage(storage: Storage): Promise<Image> {
  await using making = new AsyncDisposableStack();
  const container = await buildah(storage, 'from', 'localhost/dropcast');
  making.defer(() => buildah(storage, 'rm', container).then(() => undefined));
  const inspected = JSON.parse(await buildah(storage, 'inspect', container)) as { Docker: { config: ImageConfig } };
  const { config } = inspected.Docker;
  const running = (volumes: Readonly<Record<string, string>>) => {
    const mounts = Object.entries(volumes).flatMap(([from, to]) => ['--volume', `${from}:${to}`]);
    return ['buildah', ...inStorage(storage), 'run', '--isolation', 'chroot', ...mounts, container, '--'] as const;
  };
  let mounted: Readonly<Record<string, string>> = {};
  const made = making.move();
  return {
    config,
    run: (...command) => execute([...running(mounted), ...command]),
    start: async (volumes) => {
      mounted = volumes;
      const [file, ...args] = [...running(volumes), ...config.Entrypoint, ...(config.Cmd ?? [])] as const;
      const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      made.defer(() => killed(child));
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += String(part)));
      return {
        said: () => said,
        stop: async () => {
          const ended = once(child, 'exit');
          process.kill(await innermost(child.pid), config.StopSignal);
          return Number((await ended)[0]);
        },
      };
    },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(await innermost(child.pid), 'SIGKILL');
  await ended;
}

/** buildah starts itself anew, from any of its threads, and that the program. */
async function innermost(pid: number | undefined): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const children = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  const child = children
    .join(' ')
    .split(' ')
    .find((part) => part !== '');
  return child === undefined ? Number(pid) : await innermost(Number(child));
}

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { until } from '../../support/until.ts';
import { execute } from '../../systemd/execute.ts';
import type { Ended } from '../../systemd/execute.ts';
import { inStorage } from './storage.ts';
import type { Storage } from './storage.ts';

/** A podman that answers as Docker does. Leaving its block ends it, its containers, their networks and their mounts. */
export interface Podman extends AsyncDisposable {
  /** Of its API, for $DOCKER_HOST. */
  readonly address: string;
  /** What it knows of a container, by a Go template. */
  inspect(container: string, template: string): Promise<string>;
  /** Runs a program to its end where containers publish their ports. */
  inNetwork(...command: readonly string[]): Promise<Ended>;
  /** Starts a program in the network of a container. It ends with podman at the latest. */
  beside(container: string, ...command: readonly string[]): Promise<ChildProcess>;
}

/** @returns why it cannot run on this machine, as one sentence; null if it can */
export async function podmanObstacle(): Promise<string | null> {
  const wanted = { podman: 'podman netavark aardvark-dns', crun: 'crun', iptables: 'iptables', ip: 'iproute2' };
  for (const [program, packages] of Object.entries({ ...wanted, 'docker-compose': 'docker-compose' })) {
    const { code } = await execute(['sh', '-c', `command -v ${program}`]);
    if (code !== 0) return `${program} is not installed: apt-get install ${packages}`;
  }
  const { code, stderr } = await execute(['unshare', ...namespaces, 'sh', '-c', networks]);
  return code === 0 ? null : `this machine lets no container have a network of its own: ${stderr.trim()}`;
}

/** What Podman makes for each network and container. */
const networks =
  'ip link add bridge0 type bridge && ip link add one type veth peer other && iptables -t nat -L >/dev/null';

/**
 * Everything it starts lives in namespaces of one holder process that ends when its input does: so nothing is left even if this
 * process is killed, and neither ports nor firewall of the host are touched.
 *
 * @param storage with the images
 * @param directory for its socket and the definitions of networks
 */
export async function startPodman(storage: Storage, directory: string): Promise<Podman> {
  const socket = `${directory}/podman.sock`;
  const address = `unix://${socket}`;
  const flags = [...inStorage(storage), '--cgroup-manager', 'cgroupfs', '--events-backend', 'file'];
  const network = ['--network-backend', 'netavark', '--network-config-dir', `${directory}/networks`];
  const holder = spawn('unshare', [...namespaces, 'sh', '-c', script, 'sh', address, ...flags, ...network], {
    env: { ...process.env, DISABLE_HC_SYSTEMD: 'true' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  await using making = new AsyncDisposableStack();
  making.defer(() => end(holder));
  let said = '';
  holder.stderr.on('data', (part) => (said += String(part)));
  await until('podman answers', () => existsSync(socket) || holder.exitCode !== null, { seen: () => said });
  if (holder.exitCode !== null) throw new Error(`podman cannot be started: ${said}`);
  const inside = ['nsenter', '-t', await onlyChild(holder), '--mount', '--pid', '--net', '--'] as const;
  const inspect: Podman['inspect'] = async (container, template) => {
    const { stdout } = await execute(['podman', '--url', address, 'inspect', '--format', template, container]);
    return stdout.trim();
  };
  const made = making.move();
  return {
    address,
    inspect,
    inNetwork: (...command) => execute([...inside, ...command]),
    beside: async (container, ...command) => {
      const [file, ...args] = [...inside, 'nsenter', '-t', await inspect(container, '{{.State.Pid}}'), '--net'];
      return spawn(file, [...args, '--', ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
    },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

const namespaces = '--mount --propagation private --net --pid --fork --kill-child --mount-proc'.split(' ');

/**
 * crun wants control groups of one version. Podman lets timers of systemd run the health checks, which a loop does here, at the
 * shortest interval of the compose file.
 */
const script = `set -e
address=$1; shift
ip link set lo up
mount -t tmpfs podman /run
mount -t tmpfs podman /dev/shm
if mountpoint -q /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi
podman "$@" system service --time=0 "$address" &
while sleep 5; do
  for container in $(podman "$@" ps --quiet); do podman "$@" healthcheck run "$container" || true; done
done >/dev/null 2>&1 &
exec cat`;

async function end(holder: ChildProcess): Promise<void> {
  const ended = holder.exitCode === null ? once(holder, 'exit') : Promise.resolve();
  holder.stdin?.end();
  await ended;
  // Control groups have no namespace here. Those of others are not empty, and stay.
  await execute(['sh', '-c', 'find /sys/fs/cgroup -depth -path "*/libpod_parent*" -type d -exec rmdir {} + 2>&1']);
}

async function onlyChild({ pid }: ChildProcess): Promise<string> {
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim();
}

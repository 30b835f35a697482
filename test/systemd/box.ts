import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { execute } from './execute.ts';
import type { Ended, Terms } from './execute.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

/** A Debian with systemd as PID 1, with a network of its own that has only loopback. Leaving its block destroys it. */
export interface Box extends AsyncDisposable {
  /** A shell script as root inside, to its end. */
  run(script: string, terms?: Terms): Promise<Ended>;
  /** One that must succeed: what it printed, without the last line end. */
  read(script: string, terms?: Terms): Promise<string>;
  /** A program of the host in the network of the box. */
  outside(command: readonly [string, ...string[]], terms?: Terms): Promise<Ended>;
  /** The same for one that stays: the program to start, and its arguments. */
  residentOutside(command: readonly string[]): [string, string[]];
  /** Pulls the plug: everything inside dies at this instant. What was written stays for the next boot. */
  crash(): Promise<void>;
  boot(): Promise<void>;
}

/**
 * Boots a root file system. Its changes go to an overlay in memory, which lasts as long as the box. All of it, mounts and
 * processes, lives in namespaces of one holder process that ends when its input does: so nothing is left even if this process
 * is killed.
 *
 * @param binds directories of the host to be seen inside, read-only: from → to
 */
export async function startBox(root: string, binds: Readonly<Record<string, string>>): Promise<Box> {
  await using making = new AsyncDisposableStack();
  const { path: ground } = making.use(await scratchDirectory());
  const cgroups = await makeCgroups(basename(ground));
  making.defer(() => removeCgroups(cgroups));
  const holder = await startHolder(root, ground);
  making.defer(() => end(holder));
  const args = Object.entries(binds).map(([from, to]) => `--bind-ro=${from}:${to}`);
  const machine = new Machine({ holder: await onlyChild(holder), ground, cgroups, args });
  await machine.boot();
  const made = making.move();
  return {
    run: (script, terms) => machine.run(script, terms),
    read: async (script, terms) => {
      const { code, stdout, stderr } = await machine.run(script, terms);
      if (code !== 0) throw new Error(`${script}\nended with ${code}\n${stdout}${stderr}`.trimEnd());
      return stdout.replace(/\n$/, '');
    },
    outside: (command, terms) => execute(['nsenter', '-t', machine.leader, '-n', '--', ...command], terms),
    residentOutside: (command) => ['nsenter', ['-t', machine.leader, '-n', '--', ...command]],
    crash: () => machine.crash(),
    boot: () => machine.boot(),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

interface Ground {
  /** Process id of the one whose namespaces are those of the box. */
  readonly holder: string;
  readonly ground: string;
  readonly cgroups: readonly string[];
  readonly args: readonly string[];
}

class Machine {
  /** Process id, on the host, of systemd inside. */
  leader = '';
  #container: ChildProcess | null = null;
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  async boot(): Promise<void> {
    const { holder, ground, cgroups, args } = this.#ground;
    const enter = cgroups.map((path) => `echo 0 > ${path}/cgroup.procs; `).join('');
    const identity = ['-D', `${ground}/root`, `--machine=${basename(ground)}`, '--hostname=box'];
    const nspawn = ['systemd-nspawn', '-q', '--boot', ...identity, ...options, ...args];
    const child = spawn('sh', ['-c', `${enter}exec nsenter -t ${holder} -m -p -- "$@"`, 'sh', ...nspawn], {
      env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#container = child;
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += String(part)));
    await until('systemd runs as PID 1', async () => {
      this.leader = (await descendants(child.pid)).get('systemd') ?? '';
      return this.leader !== '' || child.exitCode !== null;
    });
    if (child.exitCode !== null) throw new Error(`systemd-nspawn ended with ${child.exitCode}: ${said}`);
    let state = '';
    const isUp = async (): Promise<boolean> => {
      const { stdout, stderr } = await this.run('systemctl is-system-running; systemctl list-jobs --no-legend');
      state = `${stdout}${stderr}`;
      return /^(running|degraded)$/m.test(stdout);
    };
    await until('the machine is up', isUp, { withinMs: bootMs, seen: () => `${state}; ${said}` });
  }

  run(script: string, terms?: Terms): Promise<Ended> {
    const clean = [
      'env',
      '-i',
      `PATH=/usr/sbin:/usr/bin:/sbin:/bin`,
      'LANG=C.UTF-8',
      'TERM=dumb',
      'HOME=/root',
    ] as const;
    return execute(['nsenter', '-t', this.leader, '-a', '--', ...clean, 'bash', '-c', script], terms);
  }

  async crash(): Promise<void> {
    const off = this.#container === null ? Promise.resolve() : once(this.#container, 'exit');
    process.kill(Number(this.leader), 'SIGKILL');
    await off;
    this.leader = '';
  }
}

const options = [
  // There need not be a systemd on this host that knows of it.
  '--register=no --keep-unit --link-journal=no --console=pipe',
  '--private-network --resolv-conf=off --timezone=off',
  // IPAddressDeny= and SocketBindDeny= of units are BPF programs.
  '--system-call-filter=bpf --capability=CAP_BPF,CAP_NET_ADMIN,CAP_PERFMON',
].flatMap((words) => words.split(' '));

/** PID 1 of a PID namespace of its own: when it ends, the kernel ends everything in it, and its mounts are gone. */
async function startHolder(root: string, ground: string): Promise<ChildProcess> {
  const script = `set -e
mount -t tmpfs -o size=3g,mode=755 box "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" box "$1/root"
echo ready
exec cat`;
  const namespaces = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const holder = spawn('unshare', [...namespaces, 'sh', '-c', script, 'sh', ground, root], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  holder.stderr.on('data', (part) => (said += String(part)));
  holder.stdout.on('data', (part) => (said += String(part)));
  await until('the file system of the box is mounted', () => said.includes('ready') || holder.exitCode !== null);
  if (holder.exitCode !== null) throw new Error(`the file system of the box cannot be mounted: ${said}`);
  return holder;
}

async function end(holder: ChildProcess): Promise<void> {
  const ended = holder.exitCode === null ? once(holder, 'exit') : Promise.resolve();
  holder.stdin?.end();
  await ended;
}

/**
 * Each box has its own parent cgroup: with --keep-unit two boxes would share one, and each would see, and could kill, the
 * services of the other. Where version 1 is mounted too, systemd has a hierarchy of its own in both.
 */
async function makeCgroups(name: string): Promise<string[]> {
  const base = '/sys/fs/cgroup';
  const hierarchies = existsSync(`${base}/unified`) ? [`${base}/unified`, `${base}/systemd`] : [base];
  const paths = hierarchies.map((path) => join(path, name));
  for (const path of paths) await mkdir(path);
  return paths;
}

async function removeCgroups(paths: readonly string[]): Promise<void> {
  for (const path of paths)
    await until(`the cgroup ${path} is empty`, async () => {
      const { code } = await execute(['find', path, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', '+']);
      return code === 0;
    });
}

async function onlyChild({ pid }: ChildProcess): Promise<string> {
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim();
}

/** Processes below one, by their names: the outermost of each, because what systemd forks is called `systemd` too at first. */
async function descendants(pid: number | undefined): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const visit = async (parent: string): Promise<void> => {
    const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => '');
    for (const child of children.split(' ').filter((part) => part !== '')) {
      const name = (await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '')).trim();
      if (!found.has(name)) found.set(name, child);
      await visit(child);
    }
  };
  await visit(String(pid));
  return found;
}

/** A boot takes a second; where 25 others wanted the two processors it took more than 40. */
const bootMs = 120_000;

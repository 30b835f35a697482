import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server } from 'node:net';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A network namespace: what runs in it reaches some ports of this machine's loopback, over a line that can be cut. */
export interface OwnNetwork extends AsyncDisposable {
  /** Before a command, makes it run in there. */
  readonly within: readonly string[];
  /** Nothing arrives any more in either direction, and nobody is told. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** Whether this machine lets us make one: as root, with `ip`, `unshare`, `nsenter` and `iptables`. */
export function hasOwnNetworks(): boolean {
  return spawnSync('unshare', ['-n', '--', 'iptables', '-t', 'nat', '-L'], { stdio: 'ignore' }).status === 0;
}

let count = 0;

/** @param ports of 127.0.0.1 that are the same on the inside */
export async function openOwnNetwork(ports: readonly number[]): Promise<OwnNetwork> {
  await using stack = new AsyncDisposableStack();
  // The namespace, and with it the line, goes when this process does.
  const keeper = spawn('unshare', ['-n', '--', 'sh', '-c', 'echo there; exec sleep infinity'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stack.defer(async () => {
    const ended = once(keeper, 'exit');
    keeper.kill('SIGKILL');
    await ended;
  });
  await once(keeper.stdout, 'data');
  count += 1;
  const line = `dc${process.pid}n${count}`;
  const net = `10.${200 + (process.pid % 50)}.${Math.floor(process.pid / 50) % 256}`;
  const [near, far] = [`${net}.${4 * count + 1}`, `${net}.${4 * count + 2}`];
  const within = ['nsenter', '-t', `${keeper.pid}`, '-n', '--'];
  const inside = async (...[command = '', ...args]: readonly string[]): Promise<unknown> =>
    run('nsenter', [...within.slice(1), command, ...args]);
  await run('ip', ['link', 'add', line, 'type', 'veth', 'peer', 'name', 'outside', 'netns', `${keeper.pid}`]);
  await run('ip', ['addr', 'add', `${near}/30`, 'dev', line]);
  await run('ip', ['link', 'set', line, 'up']);
  await inside('ip', 'link', 'set', 'lo', 'up');
  await inside('ip', 'addr', 'add', `${far}/30`, 'dev', 'outside');
  await inside('ip', 'link', 'set', 'outside', 'up');
  await inside('sysctl', '-q', '-w', 'net.ipv4.conf.all.route_localnet=1');
  const nat = ['iptables', '-t', 'nat', '-A'];
  await inside(...nat, 'OUTPUT', '-o', 'lo', '-d', '127.0.0.1', '-p', 'tcp', '-j', 'DNAT', '--to-destination', near);
  await inside(...nat, 'POSTROUTING', '-o', 'outside', '-j', 'MASQUERADE');
  for (const port of ports) stack.use(await relay(near, port));
  const parts = stack.move();
  return {
    within,
    cut: async () => void (await run('ip', ['link', 'set', line, 'down'])),
    mend: async () => void (await run('ip', ['link', 'set', line, 'up'])),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Connections to an address go on to the same port of the loopback. */
async function relay(address: string, port: number): Promise<AsyncDisposable> {
  const sockets = new Set<{ destroy(): void }>();
  const server: Server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(port, address);
  await once(server, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

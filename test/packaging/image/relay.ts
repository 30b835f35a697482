import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { ListenOptions, Server, TcpNetConnectOpts, IpcNetConnectOpts } from 'node:net';
import { pipeline } from 'node:stream';

/** Passes each connection on, both ways; where one side ends, the other does. */
export async function relay(from: ListenOptions, to: TcpNetConnectOpts | IpcNetConnectOpts): Promise<Server> {
  const server = createServer((taken) => {
    const passedOn = connect(to);
    pipeline(taken, passedOn, taken, () => undefined);
  });
  await once(server.listen(from), 'listening');
  return server;
}

/** As a program, in the network of a container: its own ports of loopback lead to the Unix sockets of these names. */
if (import.meta.main) {
  for (const socket of process.argv.slice(2))
    await relay({ host: '127.0.0.1', port: Number(socket.split('-').at(-1)) }, { path: socket });
  process.stdout.write('relaying\n');
}

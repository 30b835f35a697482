import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * @returns a port on loopback that nothing listens on at present. It is below the range from which the kernel picks ports
 *   (`ip_local_port_range`), so that no other server or connection takes it before its user listens on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

import { serveControl } from '../../src/daemon/control/server.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';

type Ports = Parameters<typeof serveControl>[2];

/** The control socket of a daemon that nobody asks to reload. */
export function servedControl(daemon: unknown, socket: string, ports: Partial<Ports> = {}): Promise<AsyncDisposable> {
  return serveControl(daemon as Daemon, socket, {
    reload: () => Promise.reject(new Error('not asked for')),
    pageLink: () => null,
    testNotifications: async () => [],
    ...ports,
  });
}

import { createPageAccess } from '../../../src/status/page/access.ts';
import { serveStatusPage, type StatusPage } from '../../../src/status/page/serve.ts';

type Ports = Parameters<typeof serveStatusPage>[1];

/** The page of a daemon that is well, on a free port of loopback. Its token is `the-token`. */
export function servedPage(ports: Pick<Ports, 'daemon'> & Partial<Ports>, port = 0): Promise<StatusPage> {
  return serveStatusPage(
    { host: '127.0.0.1', port },
    {
      health: () => 'ok',
      receive: () => 'not wanted',
      access: createPageAccess('the-token'),
      testNotifications: async () => [],
      ...ports,
    },
  );
}

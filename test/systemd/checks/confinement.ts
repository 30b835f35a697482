import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Scene } from '../installed.ts';

const probes = await readFile(new URL('../probes.mjs', import.meta.url), 'utf8');

/** The unit itself, but with another program: what that may do, the service may do. */
const probeUnit = `
node='/usr/lib/dropcast/bin/node --jitless --disallow-code-generation-from-strings'
sed -e "s|^ExecStart=.*|ExecStart=$node /run/probes.mjs|" -e 's|^Type=.*|Type=oneshot|' -e 's|^RuntimeDirectory=.*|RuntimeDirectory=probe|' \\
  -e '/^Restart/d' -e '/^ExecReload=/d' -e '/^WatchdogSec=/d' -e '/^OpenFile=/d' -e '/^NotifyAccess=/d' \\
  /usr/lib/systemd/system/dropcast.service > /run/systemd/system/probe.service
mkdir -p /run/systemd/system/probe.service.d
printf '[Service]\\nStandardOutput=truncate:/run/probes.json\\nSyslogIdentifier=probe\\n' > /run/systemd/system/probe.service.d/output.conf
systemctl daemon-reload && systemctl start probe && cat /run/probes.json
`;

export function checkConfinement(scene: () => Scene): void {
  test('an attacker inside the service can do next to nothing', async ({ task }) => {
    const { box, suite } = scene();
    // Everybody else is answered there, if only that nothing listens: what is in the way is the sandbox.
    await box.read('ip address add 169.254.169.254/32 dev lo');
    expect((await box.outside(['curl', '-sS', 'http://169.254.169.254/'])).stderr).toMatch(
      /Failed to connect.*Couldn't connect/,
    );
    await box.read('cat > /run/probes.mjs', { input: probes });
    const results = JSON.parse(await box.read(probeUnit)) as Record<string, string>;
    const { 'listen on a TCP port': listen, 'look into /root': root, ...others } = results;
    expect(others).toEqual({
      'write to /etc': 'EROFS',
      // What may be executed are mounts of their own, which systemd leaves writable: there it is the owner that is in the way.
      'write to /usr': 'EACCES',
      'write to /srv': 'EROFS',
      'add a configuration': 'EROFS',
      'read /etc/shadow': 'EACCES',
      'read the key file': 'EACCES',
      'look into /home': 'nothing there',
      'see other processes': 'nothing there',
      'start a shell': 'EACCES',
      'start a program of its own': 'EACCES',
      'become root': 'EPERM',
      'make a set-uid file': 'EPERM',
      'reach the metadata service': 'no answer',
      'make code': 'EvalError',
      'use WebAssembly': 'ReferenceError',
    });
    // An empty one on Debian 12, one that it may not open on Debian 13.
    expect(['nothing there', 'EACCES']).toContain(root);
    // Debian 12 builds systemd without the part that SocketBindDeny= needs.
    expect(listen).toBe(suite === 'bookworm' ? 'allowed' : 'EPERM');
    task.meta.figure = `${Object.values(results).filter((result) => result !== 'allowed').length} of ${Object.keys(results).length} attempts refused`;
  });
}

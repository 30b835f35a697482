import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Box } from '../../systemd/box.ts';
import type { Ended } from '../../systemd/execute.ts';

/** Where the box has the release tree. */
export const treeInside = '/mnt/release';

/**
 * Serves the release tree over HTTP in the network of the box, to the end of the test.
 *
 * @param part one byte of each file with this in its path is altered on the way
 * @returns the address
 */
export async function serveTree(box: Box, tree: string, part?: string): Promise<string> {
  const port = ports.next++;
  const program = [process.execPath, fileURLToPath(new URL('serve.ts', import.meta.url)), tree, String(port)];
  const server = spawn(...box.residentOutside(part === undefined ? program : [...program, part]), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    const ended = once(server, 'exit');
    server.kill();
    await ended;
  });
  await once(server.stdout, 'data');
  return `http://127.0.0.1:${port}`;
}

const ports = { next: 8100 };

/** Adds the repository to the sources of apt, as its page says: the key, then the file that names both. There are no others. */
export async function addRepository(box: Box, url: string, keyring = `${treeInside}/keys/dropcast.gpg`): Promise<void> {
  await box.read(`set -e
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/* /var/cache/apt/archives/*.deb
sed 's|^URIs:.*|URIs: ${url}/apt|' ${treeInside}/apt/dropcast.sources > /etc/apt/sources.list.d/dropcast.sources
signed=$(sed -n 's/^Signed-By: *//p' /etc/apt/sources.list.d/dropcast.sources)
install -D -m 644 ${keyring} "$signed"`);
}

/** apt as a script runs it, without questions. Its exit code tells an error of a repository, too. */
export function apt(box: Box, args: string): Promise<Ended> {
  const strict = '-o APT::Update::Error-Mode=any -o Acquire::Retries=0';
  return box.run(`DEBIAN_FRONTEND=noninteractive apt-get -q -y ${strict} ${args} 2>&1 < /dev/null`, {
    timeoutMs: 300_000,
  });
}

/** @returns version and status of the package, as `0.1.0 ii ` */
export function installed(box: Box): Promise<string> {
  return box.read("dpkg-query -W -f '${Version} ${db:Status-Abbrev}' dropcast 2> /dev/null || true");
}

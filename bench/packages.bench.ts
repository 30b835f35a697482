import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Bench, Build } from './bench.ts';
import { output, watched } from './child.ts';
import { installedFrom } from './packages/installed.ts';
import type { Installed } from './packages/installed.ts';

export const bench: Bench = {
  about:
    'The client and the sandbox as npm installs them from their tarballs, each in an empty project: sizes, the CPU time of a request, and the start. ' +
    'Requests are lists of channels, one after the other; the parallel ones are lists of videos.',
  rounds: 3,
  isOnlyAsShipped: true,
  rows: {
    clientTarball: { what: '@dropcast/client: tarball', unit: 'kB' },
    clientSize: { what: '@dropcast/client: installed, with what it needs', unit: 'MB', most: 20 },
    load: { what: '@dropcast/client: CPU time to load it', unit: 'ms' },
    request: { what: 'a request, http: CPU time of the client', unit: 'ms', most: 1 },
    requestTls: { what: 'a request, https with `ca`: CPU time of the client', unit: 'ms', most: 1 },
    parallelTls: { what: '300 requests at once, https with `ca`', unit: 's', most: 2 },
    sandboxTarball: { what: '@dropcast/sandbox: tarball', unit: 'kB' },
    sandboxSize: { what: '@dropcast/sandbox: installed, with what it needs', unit: 'MB', most: 40 },
    start: { what: '@dropcast/sandbox: CPU time until it answers', unit: 's', most: 1 },
  },
  limit: 'A request without a kept connection pays for a new one, over https with a handshake.',
  round: async (build, size) => {
    const { client, sandbox } = await installedFrom(build);
    const requests = size === 'full' ? 300 : 30;
    const plain = await measuredWith(build, { client, sandbox, requests, flags: [] });
    const tls = await measuredWith(build, { client, sandbox, requests, flags: ['--tls'] });
    return {
      values: {
        clientTarball: client.tarballBytes / 1e3,
        clientSize: client.bytes / 1e6,
        load: plain.load,
        request: plain.request,
        requestTls: tls.request,
        parallelTls: tls.parallel,
        sandboxTarball: sandbox.tarballBytes / 1e3,
        sandboxSize: sandbox.bytes / 1e6,
        start: plain.start,
      },
    };
  },
};

interface Setting {
  readonly client: Installed;
  readonly sandbox: Installed;
  readonly requests: number;
  /** Of the sandbox. */
  readonly flags: readonly string[];
}

interface Figures {
  readonly load: number;
  readonly request: number;
  readonly parallel: number;
  readonly start: number;
}

async function measuredWith({ plainNode }: Build, { client, sandbox, requests, flags }: Setting): Promise<Figures> {
  const command = join(sandbox.project, 'node_modules/.bin/dropcast-sandbox');
  const args = ['--port', '0', '--json', '--requests-per-hour', '1000000', ...flags];
  const child = spawn(plainNode, [command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const start = await watched(child.pid ?? 0).cpuSeconds();
    const ready = JSON.parse(line) as { base_url: string; api_key: string; ca_path?: string };
    const program = join(client.project, 'requests.mjs');
    await copyFile(join(import.meta.dirname, 'packages/requests.mjs'), program);
    const from = [ready.base_url, ready.api_key, ready.ca_path ?? '', String(requests)];
    return { start, ...(JSON.parse(await output(plainNode, [program, ...from])) as Omit<Figures, 'start'>) };
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

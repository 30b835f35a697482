import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Resumable } from '../test/e2e/resumable-host.ts';
import { startVideoHost } from '../test/e2e/video-host.ts';
import type { Bench, Build, Size } from './bench.ts';
import { start, until } from './child.ts';
import { freePort } from './free-port.ts';

const mib = 1024 * 1024;
const sizes: Readonly<Record<Size, number>> = { full: 2048 * mib, small: 256 * mib };
const shares = [0.1, 0.5, 0.9, 0.99];
const protocols = ['content-range', 'tus'] as const;

export const bench: Bench = {
  about:
    'A file of 2 GiB whose connection breaks once, at 10, 50, 90 and 99 %: the bytes that leave in all, against the size of the file. ' +
    '`dropcast run` with the flags of the unit, and a host that keeps what arrived.',
  rounds: 1,
  isOnlyAsShipped: true,
  rows: Object.fromEntries(
    protocols.flatMap((protocol) =>
      shares.map((share) => [
        nameOf(protocol, share),
        { what: `${protocol}, broken at ${share * 100} %`, unit: '×', most: 1.01 },
      ]),
    ),
  ),
  round: async (build, size) => {
    const values: Record<string, number> = {};
    for (const protocol of protocols)
      for (const share of shares)
        values[nameOf(protocol, share)] = await sentFor(build, protocol, { share, bytes: sizes[size] });
    return { values };
  },
};

function nameOf(protocol: Resumable, share: number): string {
  return `${protocol} ${share}`;
}

/** Returns the bytes that arrived for each byte of the file. */
async function sentFor(
  build: Build,
  resumable: Resumable,
  { share, bytes }: { readonly share: number; readonly bytes: number },
): Promise<number> {
  let isBroken = false;
  await using host = await startVideoHost({
    resumable,
    processingMs: () => 0,
    meddleUpload: (request, _, id) => {
      request.on('data', () => {
        if (isBroken || (host.partial.get(id)?.size ?? 0) < bytes * share) return;
        isBroken = true;
        request.socket.destroy();
      });
      return false;
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'dropcast-resumption-'));
  try {
    await mkdir(join(folder, 'inbox'));
    await writeLarge(join(folder, 'inbox', 'large.mpg'), bytes);
    const config = join(folder, 'dropcast.yaml');
    const port = await freePort();
    await writeFile(config, configOf(host, port), { mode: 0o600 });
    await using _ = start(build.node, [build.program, 'run', '--config', config]);
    const isOver = (): boolean => [...host.videos.values()].some(({ bodies }) => bodies.length > 0);
    await until(isOver);
    const sent = await sentBytes(folder, port);
    if (!isBroken) throw new Error(`the upload did not break (${resumable}, ${share})`);
    return sent / bytes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeLarge(path: string, bytes: number): Promise<void> {
  const block = randomBytes(mib);
  await using file = await open(path, 'w');
  for (let at = 0; at < bytes; at += block.length) await file.write(block);
}

/** What the daemon has passed to the kernel, also of uploads that broke. */
async function sentBytes(folder: string, port: number): Promise<number> {
  const token = (await readFile(join(folder, 'state', 'metrics-token'), 'utf8')).trim();
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return Number(/^dropcast_upload_bytes_total (\S+)$/m.exec(await answer.text())?.[1]);
}

function configOf({ baseUrl, key }: { readonly baseUrl: string; readonly key: string }, port: number): string {
  return `service: { base_url: "${baseUrl}", api_key: ${key} }
state_dir: state
status: { listen: "127.0.0.1:${port}" }
poll: { interval: 1s }
folders:
  - path: inbox
    settle: 1s
    rules: [{ match: "**", channel: ch_main }]
`;
}

import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Build, Size } from './bench.ts';
import { output, usageOf } from './child.ts';
import type { Usage } from './child.ts';
import { builtClient } from './upload/built-client.ts';
import { buildSink, startSink } from './upload/sink.ts';

const mib = 1024 * 1024;
const sizes: Readonly<Record<Size, number>> = { full: 2048 * mib, small: 64 * mib };
const atOnce = 8;

export const bench: Bench = {
  about:
    'The client sends 2 GiB from the page cache to a host on this machine that throws them away, as one file and as eight at once. ' +
    'The comparison does the same work: `curl -T` and `openssl dgst -sha256` side by side. All without the start of the programs.',
  rounds: 5,
  rows: {
    http: { what: 'one upload, http, against curl with openssl in parallel', unit: '×', least: 0.9 },
    https: { what: 'one upload, https, against curl with openssl in parallel', unit: '×', least: 0.95 },
    http8: { what: 'eight uploads, http, against eight curl with openssl in parallel', unit: '×', least: 0.9 },
    https8: { what: 'eight uploads, https, against eight curl with openssl in parallel', unit: '×', least: 0.95 },
    httpCurl: { what: 'one upload, http, against curl alone', unit: '×' },
    httpsCurl: { what: 'one upload, https, against curl alone', unit: '×' },
    rclone: { what: 'one upload, http, against rclone (WebDAV), if it is installed', unit: '×' },
    rate: { what: 'one upload, http', unit: 'Gbit/s', least: 10 },
    cpu: { what: 'CPU per GiB, http, above the start', unit: 's', most: 1.7 },
    cpuTls: { what: 'CPU per GiB, https, above the start', unit: 's' },
    cpuOthers: { what: 'CPU, http, against curl and sha256sum', unit: '×', most: 1.3 },
    rss: { what: 'peak RSS, one upload', unit: 'MB', most: 120 },
    rss8: { what: 'peak RSS, eight uploads', unit: 'MB' },
    sink: { what: 'what the host takes from eight curl, http', unit: 'Gbit/s' },
    sinkTls: { what: 'what the host takes from eight curl, https', unit: 'Gbit/s' },
  },
  round: async (build, size) => {
    const folder = await mkdtemp(join(tmpdir(), 'dropcast-upload-'));
    try {
      await buildSink(folder);
      const client = await builtClient(build.root, folder);
      const files = {
        whole: await write(join(folder, 'whole.mp4'), sizes[size]),
        eighth: await write(join(folder, 'eighth.mp4'), sizes[size] / atOnce),
        empty: await write(join(folder, 'empty.mp4'), 0),
      };
      const plain = await compare({ build, client, folder, size, files, scheme: 'http' });
      const tls = await compare({ build, client, folder, size, files, scheme: 'https' });
      return {
        values: {
          http: plain.one,
          https: tls.one,
          http8: plain.eight,
          https8: tls.eight,
          httpCurl: plain.curl,
          httpsCurl: tls.curl,
          ...(plain.rclone !== null && { rclone: plain.rclone }),
          rate: plain.rate,
          cpu: plain.cpu,
          cpuTls: tls.cpu,
          cpuOthers: plain.cpuOthers,
          rss: Math.max(plain.rss, tls.rss),
          rss8: Math.max(plain.rss8, tls.rss8),
          sink: plain.sink,
          sinkTls: tls.sink,
        },
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

interface Setting {
  readonly build: Build;
  /** Its client, built. */
  readonly client: string;
  readonly folder: string;
  readonly size: Size;
  readonly files: { readonly whole: string; readonly eighth: string; readonly empty: string };
  readonly scheme: 'http' | 'https';
}

/** Ratios of rates: above 1 is faster than the others. */
async function compare({ build, client, folder, size, files, scheme }: Setting) {
  await using sink = await startSink(folder, scheme);
  const send = (file: string, times: number): Promise<Sent> =>
    sendWith(build, [client, sink.origin, file, String(times), join(folder, 'cert.pem')]);
  const curl = (file: string): Promise<Usage> => usageOf('curl', ['-sk', '-T', file, `${sink.origin}/put`]);
  const openssl = (file: string): Promise<Usage> => usageOf('openssl', ['dgst', '-sha256', file]);

  const one = await send(files.whole, 1);
  const beside = (file: string, times: number): Promise<number> =>
    wallMs(Array.from({ length: times }, () => [curl(file), openssl(file)]).flat());
  const besideOne = (await beside(files.whole, 1)) - (await beside(files.empty, 1));
  const eight = await send(files.eighth, atOnce);
  const besideEight = (await beside(files.eighth, atOnce)) - (await beside(files.empty, atOnce));
  const curlAlone = without(await curl(files.empty), await curl(files.whole));
  const curls = await wallMs(Array.from({ length: atOnce }, () => curl(files.eighth)));
  const sum = without(await usageOf('sha256sum', [files.empty]), await usageOf('sha256sum', [files.whole]));
  const gib = sizes[size] / 1024 / mib;
  const gigabits = (sizes[size] * 8) / 1e9;
  return {
    one: besideOne / one.wallMs,
    eight: besideEight / eight.wallMs,
    curl: curlAlone.wallMs / one.wallMs,
    rclone: scheme === 'http' ? await againstRclone(sink.origin, files.whole, one) : null,
    rate: gigabits / (one.wallMs / 1_000),
    cpu: one.cpuMs / 1_000 / gib,
    cpuOthers: one.cpuMs / (curlAlone.cpuMs + sum.cpuMs),
    rss: one.rssMb,
    rss8: eight.rssMb,
    sink: gigabits / (curls / 1_000),
  };
}

interface Sent {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly rssMb: number;
}

async function sendWith({ node }: Build, args: readonly string[]): Promise<Sent> {
  const program = join(import.meta.dirname, 'upload/send.mjs');
  return JSON.parse(await output(node, [program, ...args])) as Sent;
}

/** What a program used beyond its start. */
function without(start: Usage, all: Usage): Usage {
  return { ...all, wallMs: all.wallMs - start.wallMs, cpuMs: all.cpuMs - start.cpuMs };
}

async function wallMs(work: readonly Promise<unknown>[]): Promise<number> {
  const start = performance.now();
  await Promise.all(work);
  return performance.now() - start;
}

/** @returns null when it is not installed */
async function againstRclone(origin: string, file: string, sent: Sent): Promise<number | null> {
  const remote = `:webdav,url='${origin}':x`;
  const args = ['copyto', '--config', '', '--retries', '1', '--no-check-dest', '--ignore-checksum', file, remote];
  const start = await usageOf('rclone', ['version']).catch(() => null);
  return start === null ? null : without(start, await usageOf('rclone', args)).wallMs / sent.wallMs;
}

/** Of random bytes, repeated: nothing on the way may find them easier than others. */
async function write(path: string, bytes: number): Promise<string> {
  const block = randomBytes(4 * mib);
  await using file = await open(path, 'w');
  for (let at = 0; at < bytes; at += block.length) await file.write(block);
  return path;
}

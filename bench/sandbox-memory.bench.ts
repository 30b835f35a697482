import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Bench, Build } from './bench.ts';
import { watched } from './child.ts';
import type { Watched } from './child.ts';
import { snapshotWith } from './sandbox-memory/library.ts';
import type { Snapshot } from './sandbox-memory/library.ts';

export const bench: Bench = {
  about:
    'What `dropcast sandbox` takes: to start, with nothing in it, after 1,000 requests to its API, and with 100,000 videos in it. ' +
    'Those come in one import; then all are listed, a feed is published and read, and everything is exported. Always without flags, as users start it.',
  rounds: 3,
  isOnlyAsShipped: true,
  rows: {
    start: { what: 'CPU time until it answers', unit: 's', most: 1 },
    clone: { what: 'CPU time until it answers, from a clone', unit: 's', most: 1 },
    idle: { what: 'memory when it has started', unit: 'MB', most: 90 },
    used: { what: 'memory after 1,000 requests', unit: 'MB', most: 90 },
    imported: { what: '100,000 videos: most memory during an import', unit: 'MB', most: 250 },
    listed: { what: '100,000 videos: most memory while all are listed and a feed is published', unit: 'MB', most: 250 },
    exported: { what: '100,000 videos: most memory during an export', unit: 'MB', most: 250 },
  },
  limit:
    "The memory after 1,000 requests is mostly V8's: optimising what they run took 28 MB of 117 before the journal kept headers and bodies, which brought 19 MB more; " +
    '`--max-semi-space-size=2`, as in the container image, saves 10 to 15 MB.',
  round: async (build, size) => {
    const videos = size === 'full' ? 100_000 : 10_000;
    return { values: { ...(await fromClone(build)), ...(await started(build)), ...(await filled(build, videos)) } };
  },
};

/** The second start: the first one leaves what Node made of the sources. */
async function fromClone({ plainNode, root }: Build) {
  const launcher = [`${root}/bin/dropcast.cjs`];
  await (await sandbox(plainNode, launcher)).stop();
  const service = await sandbox(plainNode, launcher);
  const clone = await service.process.cpuSeconds();
  await service.stop();
  return { clone };
}

async function started({ plainNode, program }: Build) {
  await using service = await sandbox(plainNode, [program]);
  const start = await service.process.cpuSeconds();
  const { rssMb: idle } = await service.process.memory();
  for (let n = 0; n < 1_000; n += 1) await service.ask(n % 3 === 0 ? '/channels' : '/videos');
  return { start, idle, used: (await service.process.memory()).rssMb };
}

async function filled({ plainNode, program }: Build, videos: number) {
  await using service = await sandbox(plainNode, [program]);
  const empty = (await (await service.administer('GET /export')).json()) as Snapshot;
  const encoder = new TextEncoder();
  const document = ReadableStream.from(snapshotWith(empty, videos)).pipeThrough(
    new TransformStream<string, Uint8Array>({ transform: (text, to) => to.enqueue(encoder.encode(text)) }),
  );
  await service.administer('POST /import', document);
  const { peakMb: imported } = await service.process.memory();
  for (let page = 1; page <= videos / 100; page += 1) await service.ask(`/videos?per_page=100&page=${page}`);
  await service.ask('/feeds/feed_main/publish', 'POST');
  await drained(await fetch(new URL('/feeds/feed_main.xml', service.baseUrl)));
  const { peakMb: listed } = await service.process.memory();
  await drained(await service.administer('GET /export'));
  return { imported, listed, exported: (await service.process.memory()).peakMb };
}

interface Service extends AsyncDisposable {
  readonly process: Watched;
  readonly baseUrl: string;
  /** A request to the API. */
  ask(path: string, method?: string): Promise<void>;
  /** A request to the admin side, like `GET /state`. */
  administer(what: string, body?: ReadableStream): Promise<Response>;
  /** As Ctrl-C does. */
  stop(): Promise<void>;
}

async function sandbox(node: string, program: readonly string[]): Promise<Service> {
  const args = [...program, 'sandbox', '--port', '0', '--json', '--requests-per-hour', '1000000'];
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { base_url: baseUrl, api_key: key, admin_url: adminUrl, admin_token: token } = JSON.parse(line) as ReadyLine;
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  return {
    process: watched(child.pid ?? 0),
    baseUrl,
    ask: async (path, method = 'GET') =>
      drained(await answered(baseUrl + path, { method, headers: { Authorization: `Bearer ${key}` } })),
    administer: async (what, body) => {
      const [method = '', path = ''] = what.split(' ');
      const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
      return answered(adminUrl + path, { method, headers, ...(body && { body, duplex: 'half' }) });
    },
    stop: () => stop('SIGTERM'),
    [Symbol.asyncDispose]: () => stop('SIGKILL'),
  };
}

interface ReadyLine {
  readonly base_url: string;
  readonly api_key: string;
  readonly admin_url: string;
  readonly admin_token: string;
}

async function answered(url: string, request: RequestInit): Promise<Response> {
  const answer = await fetch(url, request);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

async function drained({ body }: Response): Promise<void> {
  await body?.pipeTo(new WritableStream()); // `text()` would hold all of it
}

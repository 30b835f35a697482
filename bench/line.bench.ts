import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { link, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Bench, Build, Row, Size } from './bench.ts';
import { start, until, usageOf } from './child.ts';
import { buildLine, farAddress, openLine } from './line/long-line.ts';
import type { LineSettings, LongLine } from './line/long-line.ts';
import { buildSink, startSink } from './upload/sink.ts';
import type { Sink } from './upload/sink.ts';

const settleMs = 200;
const rateMbit = 100;

interface Load {
  readonly big: number;
  readonly small: number;
  readonly count: number;
}

const loads: Readonly<Record<Size, Load>> = {
  full: { big: 100_000_000, small: 2_000_000, count: 40 },
  small: { big: 5_000_000, small: 200_000, count: 8 },
};

/** Every line of a full run; the small one measures the first. */
const lines = (['cubic', 'bbr'] as const).flatMap((congestion) =>
  [20, 100, 250].flatMap((roundTripMs) => [0, 0.1, 1].map((loss) => ({ congestion, roundTripMs, loss }))),
);
type Line = (typeof lines)[number];

export const bench: Bench = {
  about:
    'Uploads over a line of 100 Mbit/s with delay and loss, https, congestion control as named: one file of 100 MB against curl, and 40 files of 2 MB with `uploads.concurrency: auto` ' +
    'against `rclone --transfers 4` (WebDAV) and against what the line needs for their bytes. From the drop, without its settle time, or from the start of the other program, to the last byte. ' +
    'The same packets are lost for both sides of a ratio as far as they send the same ones. Needs root.',
  rounds: 5,
  isOnlyAsShipped: true,
  rows: Object.fromEntries(lines.flatMap(rowsOf)),
  limit:
    'The first upload to a host finds out alone how it takes files, for up to 2 s. Each new connection costs two round trips and begins slowly (RFC 5681), and each file waits a round trip for `100 Continue` and one for the answer. At 1 % loss, a connection carries a few Mbit/s.',
  round: async (build, size) => {
    const folder = await mkdtemp(join(tmpdir(), 'dropcast-line-'));
    try {
      await Promise.all([buildSink(folder, farAddress), buildLine(folder)]);
      const files = await writeFiles(folder, loads[size]);
      const values: Record<string, number> = {};
      for (const line of size === 'full' ? lines : lines.slice(3, 4))
        Object.assign(values, await measureLine({ build, folder, files, load: loads[size], line }));
      return { values };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function keyOf(what: 'one' | 'many' | 'needed', { congestion, roundTripMs, loss }: Line): string {
  return `${what} ${congestion} ${roundTripMs} ${loss}`;
}

function rowsOf(line: Line): readonly (readonly [string, Row])[] {
  const where = `${line.roundTripMs} ms, ${line.loss} % loss, ${line.congestion}`;
  return [
    [keyOf('one', line), { what: `one file, against curl: ${where}`, unit: '×', least: 0.98 }],
    [keyOf('many', line), { what: `40 files, against rclone: ${where}`, unit: '×', least: 1 }],
    [keyOf('needed', line), { what: `40 files, time against what the line needs: ${where}`, unit: '×', most: 2 }],
  ];
}

interface Setting {
  readonly build: Build;
  readonly folder: string;
  readonly files: Files;
  readonly load: Load;
  readonly line: Line;
}

async function measureLine({ build, folder, files, load, line }: Setting): Promise<Readonly<Record<string, number>>> {
  const settings: LineSettings = { ...line, rateMbit, seed: 1 };
  const once = async (count: number, send: (far: Far) => Promise<number>): Promise<number> => {
    // A new line for each, so that the same packets are lost.
    await using far = await openFar(build, folder, settings);
    const startedMs = await send(far);
    await until(() => far.sink.puts.length >= count);
    return Math.max(...far.sink.puts.map(({ endedMs }) => endedMs)) - startedMs;
  };
  const ca = join(folder, 'cert.pem');
  const curl = ({ line: { near }, sink }: Far): Promise<number> =>
    started([...near, 'curl', '-s', '--cacert', ca, '-T', files.big, `${sink.origin}/put`]);
  const rclone = ({ line: { near }, sink }: Far): Promise<number> =>
    started([
      ...near,
      'rclone',
      'copy',
      '--config',
      '',
      '--ca-cert',
      ca,
      '--transfers',
      '4',
      '--no-check-dest',
      '--ignore-checksum',
      files.small,
      `:webdav,url='${sink.origin}':`,
    ]);
  const one = await once(1, (far) => drop(far, build, [files.big]));
  const oneCurl = await once(1, curl);
  const small = Array.from({ length: load.count }, (_, n) => join(files.small, `${n}.mp4`));
  const many = await once(load.count, (far) => drop(far, build, small));
  const manyRclone = await once(load.count, rclone);
  const neededMs = (load.count * load.small * 8) / (rateMbit * 1_000) + line.roundTripMs;
  return {
    [keyOf('one', line)]: oneCurl / one,
    [keyOf('many', line)]: manyRclone / many,
    [keyOf('needed', line)]: many / neededMs,
  };
}

/** The line with the far end's programs. */
interface Far extends AsyncDisposable {
  readonly folder: string;
  readonly line: LongLine;
  readonly sink: Sink;
  /** Origin of the service. */
  readonly service: string;
}

async function openFar(build: Build, folder: string, settings: LineSettings): Promise<Far> {
  await using stack = new AsyncDisposableStack();
  const line = stack.use(await openLine(folder, settings));
  const sink = stack.use(await startSink(folder, 'https', { address: line.address, inside: line.far }));
  const program = join(import.meta.dirname, 'line/far-service.ts');
  const tls = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const [command = '', ...args] = [...line.far, build.plainNode, program, line.address, sink.origin, ...tls];
  const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  stack.defer(() => void server.kill());
  const [service] = (await once(createInterface(server.stdout), 'line')) as [string];
  const parts = stack.move();
  return { folder, line, sink, service, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Lets a daemon at the near end upload files. @returns when they had settled (milliseconds of the monotonic clock) */
async function drop({ folder, line, service, sink }: Far, build: Build, files: readonly string[]): Promise<number> {
  const place = await mkdtemp(join(folder, 'near-'));
  const inbox = join(place, 'inbox');
  await mkdir(inbox);
  const config = join(place, 'dropcast.yaml');
  await writeFile(config, configOf({ place, inbox, service, ca: join(folder, 'cert.pem') }), { mode: 0o600 });
  const [command = '', ...near] = line.near;
  await using _ = start(command, [...near, build.node, build.program, 'run', '--config', config]);
  const staged = join(place, 'staged');
  await mkdir(staged);
  for (const [n, file] of files.entries()) await link(file, join(staged, `${n}.mp4`));
  await until(() => isWatching(build, config));
  await rename(staged, join(inbox, 'dropped'));
  const droppedMs = nowMs();
  await until(() => sink.puts.length >= files.length);
  return droppedMs + settleMs;
}

async function isWatching({ plainNode, program }: Build, config: string): Promise<boolean> {
  return (await usageOf(plainNode, [program, 'status', '--config', config], [0, 1, 3])).code === 0;
}

function configOf({
  place,
  inbox,
  service,
  ca,
}: { readonly [key in 'place' | 'inbox' | 'service' | 'ca']: string }): string {
  return `
service: { base_url: "${service}/v1", api_key: noted, requests_per_hour: 1000000 }
tls: { ca: "${ca}" }
state_dir: ${place}/state
folders:
  - { path: ${inbox}, settle: ${settleMs}ms, on_duplicate: upload, rules: [{ match: "**", channel: ch_main }] }
uploads: { concurrency: auto }
status: { listen: off, socket: "${place}/dropcast.sock" }
`;
}

/** Runs a program to its end. @returns when it was started */
async function started([command = '', ...args]: readonly string[]): Promise<number> {
  const startedMs = nowMs();
  await usageOf(command, args);
  return startedMs;
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

interface Files {
  readonly big: string;
  /** A folder. */
  readonly small: string;
}

/** Of random bytes: nothing on the way may find them easier than others. */
async function writeFiles(folder: string, { big, small, count }: Load): Promise<Files> {
  const files = { big: join(folder, 'big.mp4'), small: join(folder, 'small') };
  await mkdir(files.small);
  await writeFile(files.big, randomBytes(big));
  for (let n = 0; n < count; n += 1) await writeFile(join(files.small, `${n}.mp4`), randomBytes(small));
  return files;
}

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openNotifySocket } from '../systemd/notify-socket.ts';
import type { NotifySocket } from '../systemd/notify-socket.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { node } from './dropcast-process.ts';
import { expectUploadedOnce, startStation } from './station.ts';
import type { Station } from './station.ts';

/** Half of them need a person: an answer with `all=1` lists 1,000. */
const knownFiles = 20_000;

/** The flags of the unit that the environment can give, and the heap that Node takes under `MemoryHigh=384M`. */
const flags = '--jitless --disallow-code-generation-from-strings --max-semi-space-size=8 --max-old-space-size=256';

/** `MemoryHigh=` of the unit. */
const memoryHighKb = 384 * 1024;

let station: Station;
let socket: NotifySocket;
let port: number;
let stack: AsyncDisposableStack;

beforeAll(async () => {
  await using making = new AsyncDisposableStack();
  socket = making.use(await openNotifySocket());
  port = await freePort();
  station = making.use(
    await startStation({
      isStarted: false,
      page: `127.0.0.1:${port}`,
      folders: [{}],
      env: { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '2000000', NODE_OPTIONS: flags },
    }),
  );
  const root = join(import.meta.dirname, '../..');
  const make = join(root, 'bench/known-ledger.ts');
  await promisify(execFile)(node, [make, root, station.scratch.path, String(knownFiles), '200']);
  {
    using database = new DatabaseSync(station.scratch.file('state', 'ledger.db'));
    const failure = JSON.stringify({ kind: 'permanent', code: 'processing_failed', message: 'it has no video track' });
    // The service counts its videos from the start, so the known ones get other ids.
    database.exec(`UPDATE file SET checksum = NULL, video_id = 'old_' || seq`);
    database.exec(`UPDATE file SET state = 'failed', "end" = 'failed', last_failure = '${failure}' WHERE seq % 2 = 1`);
  }
  await station.start();
  stack = making.move();
});

afterAll(() => stack.disposeAsync());

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
const list = get('/files?limit=1000');
const read = (): { path: string } => ({ path: station.scratch.file('state', 'dropcast.read.sock') });
const page = (): { host: string; port: number } => ({ host: '127.0.0.1', port });

const attacks: Readonly<Record<string, () => readonly Callers[]>> = {
  'a hundred members who ask 50 times at once for the whole status': () => [
    { at: read(), connections: 100, text: get('/status?all=1'), times: 50, isReading: true },
  ],
  'users who ask 450,000 times at once whether it is healthy, and read nothing': () => [
    { at: page(), connections: 250, text: get('/healthz'), times: 1_800, isReading: false },
  ],
  'connections without a question': () =>
    [read(), page()].map((at) => ({ at, connections: 300, text: '', times: 1, isReading: false })),
  'callers who read no answer': () => [
    { at: page(), connections: 300, text: get('/healthz'), times: 50, isReading: false },
    { at: read(), connections: 300, text: list, times: 50, isReading: false },
  ],
  'webhooks without a signature': () => [
    {
      at: page(),
      connections: 300,
      text: `POST /webhooks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 65536\r\n\r\n${'x'.repeat(65_536)}`,
      times: 20,
      isReading: true,
    },
  ],
};

test.each(Object.keys(attacks))('%s: uploads, watchdog and control socket continue', async (name) => {
  const pings = (): number => socket.messages.filter((text) => text === 'WATCHDOG=1').length;
  const before = pings();
  const calls = (attacks[name]?.() ?? []).map((callers) => new Calls(callers));
  try {
    await Promise.all(calls.map((one) => one.made));
    const title = name.replaceAll(/[^a-z]+/g, '-');
    const clip = `${title}.mpg`;
    await station.drop(clip);
    expect((await station.status()).counts['failed']).toBe(knownFiles / 2);
    expect((await station.reaches(clip, 'done')).state).toBe('done');
    expectUploadedOnce(station, title);
    await until('the watchdog is fed twice more', () => pings() >= before + 2);
    for (const { answers, connections } of calls) expect(answers).toBeLessThanOrEqual(connections);
  } finally {
    for (const one of calls) one[Symbol.dispose]();
  }
  expect(await mostMemoryKb()).toBeLessThan(memoryHighKb);
});

interface Callers {
  readonly at: { readonly path: string } | { readonly host: string; readonly port: number };
  readonly connections: number;
  /** What each sends, so many times at once. */
  readonly text: string;
  readonly times: number;
  readonly isReading: boolean;
}

/** Callers at work. */
class Calls implements Disposable {
  /** Of all connections together. */
  answers = 0;
  readonly connections: number;
  /** Resolves when each connection was accepted or refused. */
  readonly made: Promise<unknown>;
  readonly #sockets: readonly Socket[];

  constructor({ at, connections, text, times, isReading }: Callers) {
    this.connections = connections;
    const bytes = Buffer.from(text.repeat(times));
    this.#sockets = Array.from({ length: connections }, () => connect(at));
    this.made = Promise.all(
      this.#sockets.map((one) => {
        one.on('error', () => {});
        if (isReading)
          one.on('data', (part) => (this.answers += part.toString('latin1').split('HTTP/1.1 ').length - 1));
        const { promise, resolve } = Promise.withResolvers<void>();
        one
          .once('close', () => resolve())
          .once('connect', () => {
            one.write(bytes);
            resolve();
          });
        return promise;
      }),
    );
  }

  [Symbol.dispose](): void {
    for (const one of this.#sockets) one.destroy();
  }
}

async function mostMemoryKb(): Promise<number> {
  const status = await readFile(`/proc/${station.daemon().child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN);
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callDaemon } from '../../src/daemon/control/client.ts';
import type { Build } from '../bench.ts';
import { start, until } from '../child.ts';
import type { Running } from '../child.ts';

/** Daemons with one ledger, each with a folder of its own, and one service beside them. */
export interface Daemons extends AsyncDisposable {
  readonly inboxes: readonly string[];
  readonly running: readonly Running[];
  /** Number of files by state, of all of them. */
  counts(): Promise<Readonly<Record<string, number>>>;
}

interface Status {
  readonly counts: Readonly<Record<string, number>>;
  readonly folders: readonly { readonly state: string }[];
}

export interface Wanted {
  readonly members: number;
  /** Of the ledger; null: SQLite, for one member. */
  readonly ledger: string | null;
  /** What becomes of files that are there already. */
  readonly existing?: 'upload' | 'ignore';
  /** Fills the folders before the daemons start. */
  readonly before?: (inboxes: readonly string[]) => void;
}

export async function startDaemons(build: Build, { members, ledger, existing, before }: Wanted): Promise<Daemons> {
  await using stack = new AsyncDisposableStack();
  const path = await mkdtemp(join(tmpdir(), 'dropcast-bench-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  const service = fork(join(import.meta.dirname, '../pace/noting-service.ts'));
  stack.defer(() => void service.kill());
  const [{ origin }] = (await once(service, 'message')) as [{ readonly origin: string }];
  const hosts = Array.from({ length: members }, (_, n) => join(path, `bench${n}`));
  for (const host of hosts) await mkdir(join(host, 'inbox'), { recursive: true });
  const inboxes = hosts.map((host) => join(host, 'inbox'));
  before?.(inboxes);
  const running: Running[] = [];
  const status = (host: string): Promise<Status> => callDaemon<Status>(join(host, 'dropcast.sock'), 'GET', '/status');
  for (const [n, host] of hosts.entries()) {
    const config = join(host, 'dropcast.yaml');
    const shared = ledger === null ? '' : `ledger: "${ledger}"\nhost_name: bench${n}\n`;
    const text = `
service: { base_url: "${origin}/v1", api_key: noted, requests_per_hour: 1000000 }
state_dir: ${host}/state
poll: { interval: 1s }
folders:
  - { path: ${host}/inbox, settle: 500ms, existing: ${existing ?? 'upload'}, rules: [{ match: "**", channel: ch_main }] }
status: { listen: off, socket: "${host}/dropcast.sock" }
${shared}`;
    await writeFile(config, text, { mode: 0o600 });
    running.push(stack.use(start(build.node, [build.program, 'run', '--config', config])));
    // One after the other: the first makes the tables.
    await until(() =>
      status(host).then(
        ({ folders }) => folders.every(({ state }) => state === 'watching'),
        () => false,
      ),
    );
  }
  const parts = stack.move();
  return {
    inboxes,
    running,
    counts: async () => (await status(hosts[0] ?? '')).counts,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

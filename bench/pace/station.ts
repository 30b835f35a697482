import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callDaemon } from '../../src/daemon/control/client.ts';
import type { Build } from '../bench.ts';
import { start, until } from '../child.ts';
import type { Noted } from './noted.ts';

/** A daemon that watches an empty folder, and a service beside it. */
export interface Station extends AsyncDisposable {
  /** Absolute. */
  readonly inbox: string;
  /** Number of files by state. */
  counts(): Promise<Readonly<Record<string, number>>>;
  /** What the service got so far. */
  noted(): Promise<readonly Noted[]>;
}

export async function startStation(build: Build, settleMs: number): Promise<Station> {
  await using stack = new AsyncDisposableStack();
  const path = await mkdtemp(join(tmpdir(), 'dropcast-bench-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  const inbox = join(path, 'inbox');
  await mkdir(inbox);
  const service = fork(join(import.meta.dirname, 'noting-service.ts'));
  stack.defer(() => void service.kill());
  const [{ origin }] = (await once(service, 'message')) as [{ readonly origin: string }];
  const config = join(path, 'dropcast.yaml');
  const text = `
service: { base_url: "${origin}/v1", api_key: noted, requests_per_hour: 1000000 }
state_dir: ${path}/state
poll: { interval: 1s }
folders:
  - { path: ${inbox}, settle: ${settleMs}ms, rules: [{ match: "**", channel: ch_main }] }
status: { listen: off, socket: "${path}/dropcast.sock" }
`;
  await writeFile(config, text, { mode: 0o600 });
  stack.use(start(build.node, [build.program, 'run', '--config', config]));
  type Status = {
    readonly counts: Readonly<Record<string, number>>;
    readonly folders: readonly { readonly state: string }[];
  };
  const status = (): Promise<Status> => callDaemon<Status>(join(path, 'dropcast.sock'), 'GET', '/status');
  await until(() =>
    status().then(
      ({ folders }) => folders.every(({ state }) => state === 'watching'),
      () => false,
    ),
  );
  const parts = stack.move();
  return {
    inbox,
    counts: async () => (await status()).counts,
    noted: async () => {
      const answer = (await (await fetch(`${origin}/noted`)).json()) as { readonly data: readonly Noted[] };
      return answer.data;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

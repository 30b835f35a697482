import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './bench.ts';
import { output, start, until } from './child.ts';
import type { Running } from './child.ts';
import { longestPause, tellingPauses } from './pauses/pauses.ts';

/** A daemon's configuration and state in a temporary directory, with an inbox. */
export interface WatchedFolder extends AsyncDisposable {
  readonly inbox: string;
  /** Starts `dropcast run`. @param flags further ones for its Node */
  run(flags?: readonly string[]): Running;
  /** The longest pause of the daemon's event loop since this was asked before, in milliseconds. */
  longestPause(running: Running): Promise<number>;
  /** What `dropcast status --json` shows; null while the control socket does not answer. */
  status(): Promise<FolderReport | null>;
}

/** The part of a status that the benchmarks read. */
export interface FolderReport {
  readonly settling: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly requests: { readonly total: number } | null;
  readonly folders: readonly { readonly state: string; readonly paths: { readonly seen: number } }[];
}

/** @param known files that are there and done already, in a hundredth as many folders */
export async function watchedFolder(build: Build, known: number): Promise<WatchedFolder> {
  const directory = await mkdtemp(join(tmpdir(), 'dropcast-known-'));
  const folders = Math.max(1, Math.round(known / 100));
  const make = join(import.meta.dirname, 'known-ledger.ts');
  await output(build.plainNode, [make, build.root, directory, String(known), String(folders)]);
  const config = join(directory, 'dropcast.yaml');
  await writeFile(config, configOf(directory), { mode: 0o600 });
  const socket = join(directory, 'control.sock');
  const pauses = join(directory, 'pauses');
  return {
    inbox: join(directory, 'inbox'),
    run: (flags = []) =>
      start(build.node, [...flags, build.program, 'run', '--config', config], { env: tellingPauses(pauses) }),
    longestPause: (running) => longestPause(running, pauses),
    status: () => ask(socket).catch(() => null),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Nobody is at the address of the service: what waits for it stays in the ledger. */
function configOf(directory: string): string {
  return `service: { base_url: "http://127.0.0.1:9/v1", api_key: key }
state_dir: ${directory}/state
status: { socket: ${directory}/control.sock }
folders:
  - path: ${directory}/inbox
    settle: 1s
    rules: [{ match: "**", channel: ch_main }]
`;
}

/** All files were seen, and the daemon has nothing to do: less than a fiftieth of a core for two seconds. */
export async function caughtUp(folder: WatchedFolder, running: Running): Promise<void> {
  // Right after the start no folder is there yet.
  await until(async () => {
    const folders = (await folder.status())?.folders ?? [];
    return folders.length > 0 && folders.every(({ state }) => state === 'watching');
  });
  await until(async () => {
    const before = await running.cpuSeconds();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return (await running.cpuSeconds()) - before < 0.04;
  });
}

function ask(socketPath: string): Promise<FolderReport> {
  const { promise, resolve, reject } = Promise.withResolvers<FolderReport>();
  request({ socketPath, path: '/status' }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString()) as FolderReport));
    response.on('error', reject);
  })
    .on('error', reject)
    .end();
  return promise;
}

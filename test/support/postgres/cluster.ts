import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { scratchDirectory, type ScratchDirectory } from '../scratch-directory.ts';
import { descendantsOf, isRunning, killWithDescendants } from '../started-processes.ts';
import { until } from '../until.ts';
import { freePort } from '../free-port.ts';
import { ownerOfClusters, runPostgres, spawnPostgres } from './programs.ts';
import { issueCertificate } from '../../../packages/sandbox/src/tls.ts';

export interface ClusterOptions {
  /** Refuses connections over TCP that are not encrypted. */
  readonly tls?: boolean;
  /** SCRAM over TCP, with the password of the cluster; else everybody is trusted. */
  readonly password?: boolean;
  /** A second server, which follows this one by streaming. */
  readonly standby?: boolean;
  /** Lines of pg_hba.conf, after those for the Unix socket. */
  readonly access?: string;
  /** Lines of postgresql.conf, which win. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
}

/** A PostgreSQL server in a scratch directory, on a Unix socket and on 127.0.0.1. Leaving its block stops and removes it. */
export interface Cluster extends AsyncDisposable {
  /** Of the superuser, with the password, over TCP. */
  readonly url: string;
  urlOf(database: string): string;
  /** Over the Unix socket, where everybody is trusted. */
  socketUrlOf(database: string): string;
  readonly port: number;
  /** Of the postmaster. */
  readonly pid: number;
  readonly password: string;
  /** PEM file of the authority, with `tls`; any user may read it. */
  readonly ca: string;
  readonly standby: Cluster | null;
  /** @param mode `fast` ends sessions and writes everything; `immediate` is a crash: recovery at the next start */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL to the postmaster and all its processes. */
  kill(): Promise<void>;
  /** SIGSTOP to all of it: connections stay open and nobody answers, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Makes a standby the primary. */
  promote(): Promise<void>;
  /** What the server wrote. */
  log(): Promise<string>;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const scratch = await ownedDirectory();
  const data = scratch.file('data');
  await runPostgres('initdb', ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);
  await scratch.write('data/pg_hba.conf', accessRules(options));
  if (options.tls === true) await writeCertificate(scratch);
  const primary = new RunningCluster(scratch, await freePort(), options);
  try {
    await primary.start();
  } catch (error) {
    await primary[Symbol.asyncDispose]();
    // Another process has taken the port since it was found free.
    if (String(error).includes('Address already in use')) return startCluster(options);
    throw error;
  }
  if (options.password === true) await primary.ask(`alter role ${USER} password '${PASSWORD}'`);
  if (options.standby === true) primary.standby = await followerOf(primary, options);
  return primary;
}

async function followerOf(primary: RunningCluster, options: ClusterOptions): Promise<RunningCluster> {
  const scratch = await ownedDirectory();
  const from = ['-h', primary.socket, '-p', `${primary.port}`, '-U', USER];
  await runPostgres('pg_basebackup', [
    ...from,
    '-D',
    scratch.file('data'),
    '-R',
    '-X',
    'stream',
    '-c',
    'fast',
    '--no-sync',
  ]);
  if (options.tls === true) await scratch.write('ca.pem', await readFile(primary.ca));
  const standby = new RunningCluster(scratch, await freePort(), options);
  await standby.start();
  return standby;
}

const USER = 'postgres';
const PASSWORD = 'p@ss/word';

class RunningCluster implements Cluster {
  readonly #scratch: ScratchDirectory;
  readonly #options: ClusterOptions;
  readonly port: number;
  readonly password: string;
  standby: RunningCluster | null = null;
  #server: ChildProcess | null = null;
  /** A test that starts the cluster of its file again leaves it running (`child-processes.ts`). */
  readonly #inItsScope = AsyncLocalStorage.snapshot();

  constructor(scratch: ScratchDirectory, port: number, options: ClusterOptions) {
    this.#scratch = scratch;
    this.#options = options;
    this.port = port;
    this.password = options.password === true ? PASSWORD : '';
  }

  get pid(): number {
    return this.#server?.pid ?? NaN;
  }

  get url(): string {
    return this.urlOf('postgres');
  }

  get socket(): string {
    return this.#scratch.path;
  }

  get ca(): string {
    return this.#scratch.file('ca.pem');
  }

  urlOf(database: string): string {
    const password = this.password === '' ? '' : `:${encodeURIComponent(this.password)}`;
    return `postgres://${USER}${password}@127.0.0.1:${this.port}/${database}`;
  }

  socketUrlOf(database: string): string {
    return `postgres://${USER}@${encodeURIComponent(this.socket)}:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    const settings = { ...this.#settings(), ...this.#options.settings };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = this.#inItsScope(() => spawnPostgres('postgres', ['-D', this.#scratch.file('data'), ...args]));
    this.#server = server;
    for (const output of [server.stdout, server.stderr])
      output?.on('data', (text: Buffer) => (this.#log += text.toString()));
    const isOver = async () => hasEnded(server) || (await this.ask('select 1')).length === 1;
    await until('PostgreSQL answers', isOver, { seen: () => this.#log });
    if (hasEnded(server)) throw new Error(`PostgreSQL has ended instead of starting:\n${this.#log}`);
  }

  #settings(): ClusterOptions['settings'] {
    return {
      listen_addresses: '127.0.0.1',
      port: this.port,
      unix_socket_directories: this.socket,
      shared_buffers: '32MB',
      max_connections: 100,
      ...(this.#options.tls === true && { ssl: true, ssl_cert_file: 'server.pem', ssl_key_file: 'server.key' }),
    };
  }

  #log = '';

  log(): Promise<string> {
    return Promise.resolve(this.#log);
  }

  /** Over the Unix socket, as the superuser. */
  async ask(statement: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ host: this.socket, port: this.port, user: USER, database });
    client.on('error', () => {}); // the question fails, too
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    if (hasEnded(server)) return;
    const ended = once(server, 'exit');
    server.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  }

  async kill(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const ended = once(server, 'exit');
    this.#signal(server, 'SIGSTOP'); // without their parent, its children could not be found
    const killed = killWithDescendants(server.pid ?? 0);
    await ended;
    await until('all of PostgreSQL has ended', () => !killed.some(isRunning)); // what is left would stop the next start
  }

  freeze(): void {
    if (this.#server !== null) this.#signal(this.#server, 'SIGSTOP');
  }

  thaw(): void {
    if (this.#server !== null) this.#signal(this.#server, 'SIGCONT');
  }

  /** The postmaster first: it starts nobody new while we go through its children. */
  #signal(server: ChildProcess, signal: NodeJS.Signals): void {
    server.kill(signal);
    for (const child of descendantsOf(server.pid ?? 0)) {
      try {
        process.kill(child, signal);
      } catch {
        // It ended by itself.
      }
    }
  }

  async promote(): Promise<void> {
    await this.ask('select pg_promote()');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.standby?.[Symbol.asyncDispose]();
    this.thaw();
    await this.stop('immediate');
    await this.#scratch[Symbol.asyncDispose]();
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function ownedDirectory(): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  const owner = ownerOfClusters();
  if (owner !== null) await chown(scratch.path, owner.uid, owner.gid);
  await chmod(scratch.path, 0o755); // daemons of other users find the socket; the data is the server's alone
  return scratch;
}

/** pg_hba.conf: the first line that fits decides. */
function accessRules({ tls, password, access }: ClusterOptions): string {
  const method = password === true ? 'scram-sha-256' : 'trust';
  const kind = tls === true ? 'hostssl' : 'host';
  const lines = [
    'local all all trust',
    'local replication all trust',
    access ?? `${kind} all all 127.0.0.1/32 ${method}`,
    `host replication all 127.0.0.1/32 trust`,
  ];
  return `${lines.join('\n')}\n`;
}

async function writeCertificate(scratch: ScratchDirectory): Promise<void> {
  const { ca, cert, key } = await issueCertificate(['localhost', '127.0.0.1'], Date.now());
  await scratch.write('ca.pem', ca);
  await scratch.write('data/server.pem', cert);
  const file = await scratch.write('data/server.key', key);
  const owner = ownerOfClusters();
  if (owner !== null) await chown(file, owner.uid, owner.gid);
  await chmod(file, 0o600);
}

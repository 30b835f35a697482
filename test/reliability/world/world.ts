import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { callDaemon } from '../../../src/daemon/control/client.ts';
import type { FileView } from '../../../src/view/files/file-view.ts';
import type { ShowView } from '../../../src/view/files/show-view.ts';
import type { HostOptions } from '../../e2e/video-host.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import type { Allowance, Evidence, Exit, ListedRecord, RecordOnService, Request } from '../judge/evidence.ts';
import { filesBelow, listedIn, readExports, readLedger, readLinkFiles } from '../judge/gather.ts';
import { violationsOf } from '../judge/invariants.ts';
import type { Violation } from '../judge/invariants.ts';
import { startJudgedService } from './judged-service.ts';
import type { JudgedService } from './judged-service.ts';
import { startProgram } from './program-process.ts';
import type { ProgramProcess } from './program-process.ts';
import { Versions } from './versions.ts';
import { writeConfig, type FolderSettings, type Settings } from '../../support/configuration.ts';

export interface WorldOptions {
  /** Main file of the bundled program under judgement. */
  readonly program: string;
  readonly folder?: FolderSettings;
  readonly settings?: Settings;
  readonly allows?: Partial<Allowance>;
  /** How long a process may take to end, on a quiet machine. */
  readonly patienceMs?: number;
}

/** With the service that takes what no real one would take. */
export interface JudgedWorldOptions extends WorldOptions {
  readonly host?: HostOptions;
}

/** What a world needs of a service. */
export interface WorldService extends AsyncDisposable {
  readonly host: Pick<JudgedService['host'], 'baseUrl' | 'key' | 'leaks'>;
  readonly journal: readonly Request[];
  /** All records that ever were, oldest first. */
  records(): readonly RecordOnService[];
}

/** A folder, a service that remembers everything, the program, and the judge of what came of it. */
export class World<Service extends WorldService = JudgedService> implements AsyncDisposable {
  readonly service: Service;
  readonly scratch: ScratchDirectory;
  readonly people = new Versions();
  readonly #options: WorldOptions;
  readonly #exits: Exit[] = [];
  readonly #running = new Set<ProgramProcess>();
  #allows: Allowance;

  constructor(options: WorldOptions, service: Service, scratch: ScratchDirectory) {
    this.#options = options;
    this.service = service;
    this.scratch = scratch;
    this.#allows = { ...usual, ...options.allows };
  }

  /** How long to wait for anything, on a quiet machine. */
  get patienceMs(): number {
    return this.#options.patienceMs ?? 60_000;
  }

  /** The absolute path of a name in the watched folder. */
  at(name: string): string {
    return this.scratch.file('inbox', name);
  }

  /** Drops a file of no known container. */
  async drop(name: string, bytes: Uint8Array = randomBytes(2_000)): Promise<void> {
    await this.people.drop(this.at(name), bytes);
  }

  allow(allows: Partial<Allowance>): void {
    this.#allows = { ...this.#allows, ...allows };
  }

  /** `dropcast once` to its end. */
  async once({ env = {}, state = 'state' }: ProcessOptions = {}): Promise<Exit> {
    return this.command(['once'], { env, state });
  }

  async command(args: readonly string[], { env = {}, state = 'state' }: ProcessOptions = {}): Promise<Exit> {
    return this.end(this.start(args, { env, state }));
  }

  start(args: readonly string[], { env = {}, state = 'state' }: ProcessOptions = {}): ProgramProcess {
    const process = startProgram(this.#options.program, [...args, '--config', this.#config(state)], env);
    this.#running.add(process);
    return process;
  }

  /** `dropcast run`, once it is ready. */
  async daemon(options: ProcessOptions = {}): Promise<ProgramProcess> {
    const process = this.start(['run'], options);
    await until(`it is ready: ${process.output()}`, () => process.output().includes('"Ready"') || !process.isRunning());
    return process;
  }

  /** Waits for the end of a process, and tells the judge of it. */
  async end(process: ProgramProcess): Promise<Exit> {
    const exit = await process.end(this.#options.patienceMs);
    this.#running.delete(process);
    this.#exits.push(exit);
    return exit;
  }

  async stop(process: ProgramProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    process.send(signal);
    return this.end(process);
  }

  /** The newest row of a name, as the running daemon tells it. */
  async file(name: string): Promise<FileView | null> {
    const path = `/file?name=${encodeURIComponent(this.at(name))}`;
    const { found } = await callDaemon<{ found: readonly ShowView[] }>(
      this.scratch.file('state/dropcast.sock'),
      'GET',
      path,
    );
    return found[0]?.file ?? null;
  }

  /** Waits for a state. In vain it gives up: the judge says what came of it. */
  async reaches(name: string, ...states: readonly string[]): Promise<void> {
    const look = async (): Promise<boolean> => states.includes((await this.file(name))?.state ?? '');
    await until(`${name} is ${states.join(' or ')}`, look, { withinMs: this.patienceMs });
  }

  /** Waits until the running daemon has taken in what lies there now, or knows it already. */
  async takesIn(name: string): Promise<void> {
    const path = `/settling?path=${encodeURIComponent(this.at(name))}`;
    const isTaken = async (): Promise<boolean> => {
      const { why } = await callDaemon<{ why: string | null }>(this.scratch.file('state/dropcast.sock'), 'GET', path);
      return why === null;
    };
    await until(`${name} is taken in`, isTaken, { withinMs: this.patienceMs });
  }

  /** After the end of every process. */
  async evidence(): Promise<Evidence> {
    const { rows, history } = await readLedger(this.scratch.file('state'));
    const records = this.service.records();
    return {
      versions: this.people.all,
      disk: await filesBelow(this.scratch.file('inbox')),
      records,
      journal: this.service.journal,
      rows,
      history,
      listed: records.some(({ bodies }) => bodies.length === 0) ? await this.#listed() : [],
      exports: await readExports(
        this.scratch.file('state'),
        this.#options.settings?.exports?.map(({ to }) => to) ?? [],
      ),
      linkFiles: this.#options.folder?.beside === true ? await readLinkFiles(this.scratch.file('inbox')) : null,
      exits: this.#exits,
      leaks: this.service.host.leaks,
      allows: this.#allows,
    };
  }

  async judge(): Promise<readonly Violation[]> {
    for (const process of this.#running) await this.stop(process, 'SIGKILL');
    return violationsOf(await this.evidence());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#running) await this.stop(process, 'SIGKILL');
    await this.service[Symbol.asyncDispose]();
    await this.scratch[Symbol.asyncDispose]();
  }

  /** Only dropcast itself can say what it tells people: the ledger may hold more. */
  async #listed(): Promise<readonly ListedRecord[]> {
    return listedIn((await this.command(['suspects', '--json'])).stderr);
  }

  #config(state: string): string {
    return this.scratch.file(`${state}.yaml`);
  }

  /** A configuration for each state directory: a second one stands for a second installation. */
  async configure(state = 'state'): Promise<void> {
    const { settings, folder } = this.#options;
    const { baseUrl, key } = this.service.host;
    const rules = [{ match: '**', channel: 'ch_main', title: '{name}', publish: ['feed_news'] }];
    const all: Settings = {
      state_dir: state,
      poll: { interval: '10ms' },
      publish: { quiet: '0s', at_most: '0s' },
      retry: { attempts: 4, first: '10ms', max: '30ms' },
      log: { level: 'debug' },
      folders: [{ settle: '10ms', rescan: '1s', rules, ...folder }],
      ...settings,
      service: { base_url: baseUrl, api_key: key, requests_per_hour: 1_000_000, ...settings?.service },
    };
    await writeConfig(this.scratch, all, `${state}.yaml`);
  }
}

export interface ProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Name of the state directory. */
  readonly state?: string;
}

const usual: Allowance = {
  needsPerson: [],
  duplicates: false,
  requestsPerVideo: 12,
  requests: 200,
  exitCodes: [],
};

export async function openWorld({ host, ...options }: JudgedWorldOptions): Promise<World> {
  return openWorldOn(await startJudgedService(host), options);
}

/** A world with a service of its own, which ends with it. */
export async function openWorldOn<Service extends WorldService>(
  service: Service,
  options: WorldOptions,
): Promise<World<Service>> {
  const scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox'));
  const world = new World(options, service, scratch);
  await world.configure();
  return world;
}

import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { FileView } from '../../../src/view/files/file-view.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import type { Cluster } from '../../support/postgres/cluster.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import type { Evidence, Exit } from '../judge/evidence.ts';
import { filesBelow, historyOf, listedIn, rowOf } from '../judge/gather.ts';
import { violationsOf } from '../judge/invariants.ts';
import type { Invariant } from '../judge/invariants.ts';
import type { Finding } from '../planted/scenario.ts';
import { startJudgedService } from '../world/judged-service.ts';
import type { JudgedService } from '../world/judged-service.ts';
import { Versions } from '../world/versions.ts';
import { Member } from './fleet-member.ts';
import type { FleetMember } from './fleet-member.ts';
import { fleetViolations } from './judge.ts';
import type { Loss, Observed } from './judge.ts';
import { observedIn, observedText, observing } from './observed.ts';
import { openOwnNetwork } from './own-network.ts';
import { memberNames } from './schedule.ts';
import { startSilentProxy } from './silent-proxy.ts';
import { totalsOf } from './totals.ts';
import type { FleetTotals } from './totals.ts';
import { watchMachine } from './witness.ts';
import type { Witness } from './witness.ts';
import { writeConfig, type Settings } from '../../support/configuration.ts';

export interface FleetOptions {
  /** Main file of the program; each member may have another one. */
  readonly program: string;
  readonly hasStandby?: boolean;
  readonly requestsPerHour?: number;
  /** How wrong the wall clock of each member is. */
  readonly clocksMs?: readonly number[];
  /** The first member runs in a network namespace. */
  readonly hasOwnNetwork?: boolean;
  /** The budget is used up: files may wait for the next hour. */
  readonly mayWait?: boolean;
  /** A content may be a video twice. */
  readonly mayBeTwice?: boolean;
  /** Requests in all, and about one video. */
  readonly mostRequests?: number;
}

/** A real PostgreSQL, three members as processes, a share, a folder of each, and a service that remembers everything. */
export interface FleetWorld extends AsyncDisposable {
  /** Main file of the program. */
  readonly program: string;
  readonly cluster: Cluster;
  readonly service: JudgedService;
  readonly members: readonly FleetMember[];
  /** Drops a file on the share, or into the folder of a member. */
  drop(name: string, bytes?: Uint8Array, member?: FleetMember): Promise<string>;
  /** Whoever sends a file at present, once somebody does. */
  sender(path: string): Promise<FleetMember>;
  /** Waits until another member sends the file, or has sent it. */
  takenOver(path: string, from: FleetMember): Promise<void>;
  /** Waits until every file that was dropped is done, as one of the living members tells it. */
  settles(): Promise<void>;
  /** From now on nothing else goes wrong until it is judged: what this member holds has to be taken over in time. */
  loses(member: FleetMember): void;
  /** From now on the standby hears of nothing that is written. */
  standbyFallsBehind(): Promise<void>;
  /** The primary dies, the standby takes its place, and all connections go to it. */
  failOver(): Promise<void>;
  /** A folder of its own for what a schedule makes. */
  scratch(name: string): string;
  /** Ends all members, and says what went wrong. */
  judge(): Promise<readonly Finding[]>;
  /** Of all that was judged. */
  totals(): FleetTotals;
}

export async function openFleetWorld(options: FleetOptions): Promise<FleetWorld> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startCluster({ standby: options.hasStandby === true }));
  const service = stack.use(await startJudgedService());
  const scratch = stack.use(await scratchDirectory());
  await mkdir(scratch.file('nas'));
  const world = new World(options, { cluster, service, scratch });
  await world.open(stack);
  stack.defer(() => world.endAll());
  world.keep(stack.move());
  return world;
}

interface Parts {
  readonly cluster: Cluster;
  readonly service: JudgedService;
  readonly scratch: ScratchDirectory;
}

class World implements FleetWorld {
  readonly program: string;
  readonly cluster: Cluster;
  readonly service: JudgedService;
  readonly #options: FleetOptions;
  readonly #scratch: ScratchDirectory;
  readonly #people = new Versions();
  readonly #exits: Exit[] = [];
  readonly #losses: Loss[] = [];
  #members: readonly Member[] = [];
  #server: Cluster;
  #observed: readonly Observed[] = [];
  #witness: Witness | null = null;
  #resources: AsyncDisposable | null = null;

  constructor(options: FleetOptions, { cluster, service, scratch }: Parts) {
    this.#options = options;
    this.program = options.program;
    this.cluster = cluster;
    this.#server = cluster;
    this.service = service;
    this.#scratch = scratch;
  }

  get members(): readonly FleetMember[] {
    return this.#members;
  }

  async open(stack: AsyncDisposableStack): Promise<void> {
    await ask(this.cluster.url, 'CREATE DATABASE dropcast');
    for (const name of memberNames) await ask(this.cluster.url, `CREATE ROLE ${name} LOGIN SUPERUSER`);
    const members: Member[] = [];
    this.#witness = stack.use(watchMachine());
    for (const [n, name] of memberNames.entries()) {
      const proxy = stack.use(await startSilentProxy(() => this.#server.port));
      await mkdir(this.#scratch.file(name, 'in'), { recursive: true });
      const folder = this.#scratch.file(name);
      await writeConfig(this.#scratch, this.#settings(name, proxy.port), join(name, 'dropcast.yaml'));
      const network =
        n === 0 && this.#options.hasOwnNetwork === true
          ? stack.use(await openOwnNetwork(this.#ports(proxy.port)))
          : null;
      const { program, clocksMs } = this.#options;
      const ended = (exit: Exit): unknown => this.#exits.push(exit);
      members.push(new Member(name, { proxy, network, folder, program, clockMs: clocksMs?.[n] ?? 0, ended }));
    }
    this.#members = members;
    const [first, ...others] = members;
    await first?.start();
    await ask(this.cluster.urlOf('dropcast'), observing());
    await Promise.all(others.map((member) => member.start()));
  }

  keep(resources: AsyncDisposable): void {
    this.#resources = resources;
  }

  async drop(name: string, bytes: Uint8Array = randomBytes(200_000), member?: FleetMember): Promise<string> {
    const path = member === undefined ? this.#scratch.file('nas', name) : this.#scratch.file(member.name, 'in', name);
    await this.#people.drop(path, bytes);
    return path;
  }

  async sender(path: string): Promise<FleetMember> {
    return until(`a member sends ${path}`, async () => {
      for (const member of this.#living()) {
        const file = (await member.files()).find((one) => one.path === path);
        if (file?.state === 'uploading' && file.host === member.name && (file.sent ?? 0) > 0) return member;
      }
      return false;
    });
  }

  async takenOver(path: string, from: FleetMember): Promise<void> {
    await until(`another has ${path}`, async () => {
      for (const member of this.#living().filter(({ name }) => name !== from.name)) {
        const file = (await member.files()).find((one) => one.path === path);
        if (file !== undefined && file.host !== null && file.host !== from.name) return true;
      }
      return false;
    });
  }

  async settles(): Promise<void> {
    let seen: readonly FileView[] = [];
    const isOver = async (): Promise<boolean> => {
      const views = await Promise.all(this.#living().map((member) => member.files()));
      seen = views.flat();
      return this.#people.all
        .filter(({ isLeft }) => isLeft)
        .every(({ path }) => seen.some((file) => file.path === path && file.state === 'done'));
    };
    await until('all files are done', isOver, {
      withinMs: 120_000,
      seen: () =>
        [
          ...seen
            .filter(({ state }) => state !== 'done')
            .map(({ path, state, why }) => `${path}: ${state}: ${why ?? ''}`),
          ...this.#members.map((member) => member.lastWords()),
        ].join('\n'),
    });
  }

  loses({ name }: FleetMember): void {
    this.#losses.push({ at: Date.now(), member: name, calmUntil: Infinity });
  }

  async standbyFallsBehind(): Promise<void> {
    const url = this.#standby().url;
    await ask(url, "ALTER SYSTEM SET primary_conninfo = ''");
    await ask(url, 'SELECT pg_reload_conf()');
    const isAlone = async (): Promise<boolean> => (await ask(url, 'SELECT 1 FROM pg_stat_wal_receiver')).length === 0;
    await until('the standby has no primary', isAlone);
  }

  async failOver(): Promise<void> {
    const standby = this.#standby();
    await this.cluster.kill();
    await standby.promote();
    this.#server = standby;
    for (const { proxy } of this.#members) proxy.mend();
  }

  #standby(): Cluster {
    if (this.cluster.standby === null) throw new Error('there is no standby');
    return this.cluster.standby;
  }

  scratch(name: string): string {
    return this.#scratch.file(name);
  }

  totals(): FleetTotals {
    return totalsOf({
      files: this.#people.all.length,
      observed: this.#observed,
      exits: this.#exits,
      requests: this.service.host.requests,
    });
  }

  async endAll(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await Promise.all(this.#members.map((member) => member.end(signal)));
  }

  async judge(): Promise<readonly Finding[]> {
    const listed = listedIn((await this.#living()[0]?.says('suspects', '--json')) ?? '');
    await this.endAll('SIGTERM');
    const { mayWait = false, mayBeTwice = false, mostRequests = 1_000 } = this.#options;
    const url = this.#server.urlOf('dropcast');
    const rows = await ask(url, 'SELECT * FROM dropcast.file ORDER BY seq');
    const records = this.service.records();
    const evidence: Evidence = {
      versions: this.#people.all,
      disk: await filesBelow(this.#scratch.path).then((files) =>
        files.filter(({ path }) => /\/(?:nas|in)\/[^.]/.test(path)),
      ),
      records,
      journal: this.service.journal,
      rows: rows.map(rowOf).map((row) => ({ ...row, path: this.#here(row.path) })),
      history: historyOf(await ask(url, 'SELECT file_id, state FROM dropcast.history ORDER BY seq')),
      listed,
      exports: new Map(),
      linkFiles: null,
      exits: this.#exits,
      leaks: this.service.host.leaks,
      allows: {
        needsPerson: [],
        duplicates: false,
        requestsPerVideo: mostRequests,
        requests: mostRequests,
        exitCodes: [1],
      },
    };
    this.#observed = observedIn(await ask(url, observedText));
    const fleet = fleetViolations({
      observed: this.#observed,
      losses: this.#losses.map((loss) => ({ ...loss, calmUntil: this.#witness?.lateAfter(loss.at) ?? loss.at })),
      // Real processes on a busy machine may be late.
      troubles: [{ from: -Infinity, to: Infinity, member: null }],
      completions: [],
      requests: this.service.host.requests,
      requestsPerHour: this.#options.requestsPerHour ?? 1_000_000,
      publishes: null,
    });
    const one = violationsOf(evidence).filter(
      ({ invariant }) => !(mayWait && invariant === onTheService) && !(mayBeTwice && invariant === onceOnly),
    );
    return [...one, ...fleet.map(({ invariant, found }) => ({ invariant, what: 'the fleet', evidence: found }))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources?.[Symbol.asyncDispose]();
  }

  /** Rows name folders by their place. */
  #here(path: string): string {
    return path.replace(/^nas1:\/?/, `${this.#scratch.file('nas')}/`).replace(/^ingest\d:/, '');
  }

  #living(): readonly Member[] {
    return this.#members.filter((member) => member.isRunning());
  }

  /** What a member connects to. */
  #ports(proxy: number): readonly number[] {
    const { baseUrl, uploadOrigin } = this.service.host;
    return [proxy, Number(new URL(baseUrl).port), Number(new URL(uploadOrigin).port)];
  }

  #settings(name: string, port: number): Settings {
    const { baseUrl, key } = this.service.host;
    const rules = [{ match: '**', channel: 'ch_main', title: '{name}', publish: ['feed_news'] }];
    const usual = { settle: '10ms', rescan: '1s', rules };
    return {
      service: {
        base_url: baseUrl,
        api_key: key,
        requests_per_hour: this.#options.requestsPerHour ?? 1_000_000,
      },
      ledger: { url: `postgres://${name}@127.0.0.1:${port}/dropcast`, tls: false },
      host_name: name,
      publish: { quiet: '0s', at_most: '0s' },
      retry: { attempts: 4, first: '10ms', max: '30ms' },
      uploads: { concurrency: 2, bandwidth: '100kB/s' },
      log: { level: 'info', format: 'json' },
      folders: [
        { path: this.#scratch.file('nas'), share: 'nas1', ...usual },
        { path: 'in', ...usual },
      ],
    };
  }
}

const onceOnly = 'no content is a video twice' satisfies Invariant;
const onTheService = 'every file on disk is ready, or a person is notified' satisfies Invariant;

async function ask(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Something that happens to real processes and a real PostgreSQL. The judge alone says whether it went well. */
export interface ChaosSchedule {
  readonly options?: Partial<FleetOptions>;
  /** The quick part plays it too. */
  readonly isQuick?: boolean;
  play(world: FleetWorld): Promise<void>;
}

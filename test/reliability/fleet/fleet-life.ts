import { startDaemon } from '../../../src/daemon/daemon.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { AfterReady, Config, FolderConfig } from '../../../src/config/config.ts';
import { bounds, needsEnd, violationsOf } from '../simulation/judge.ts';
import type { Evidence, JudgedRow } from '../simulation/judge.ts';
import type { Lived } from '../simulation/life.ts';
import { Disk } from '../simulation/machine/disk.ts';
import { connectNetwork } from '../simulation/machine/exchange.ts';
import { insertDisk } from '../simulation/machine/file-system.ts';
import { Machine, switchOn } from '../simulation/machine/machine.ts';
import type { Process } from '../simulation/machine/machine.ts';
import { askPostgres, machineLedger } from '../simulation/machine/postgres.ts';
import { Random } from '../simulation/machine/random.ts';
import { freeNames } from '../simulation/machine/small-modules.ts';
import { idle } from '../simulation/machine/timeline.ts';
import { loseEvents } from '../simulation/machine/watch-events.ts';
import { People } from '../simulation/people.ts';
import { Service } from '../simulation/service.ts';
import { configOf, filesIn, folderOf, installMachine, judgedRow, loggerOf } from '../simulation/settings.ts';
import { Weather } from '../simulation/weather.ts';
import { fleetViolations } from './judge.ts';
import type { FleetEvidence } from './judge.ts';
import { observedIn, observedText, observing } from './observed.ts';
import { memberNames, scheduleOf } from './schedule.ts';
import type { Schedule } from './schedule.ts';
import { Storm } from './storm.ts';
import type { Ongoing, Struck } from './storm.ts';

/** Plays the schedule of one seed with three members on one database: a storm of faults, then calm, then the judges. */
export async function liveAsFleet(seed: number, onLine: ((line: string) => void) | null = null): Promise<Lived> {
  const life = new FleetLife(seed, onLine);
  try {
    return await life.play();
  } finally {
    switchOn(null);
  }
}

/** Starts and stops one member, for the tables that it makes; from then on the database writes down what it sees. */
export async function openOnce(): Promise<void> {
  const life = new FleetLife(0, null);
  try {
    await life.openTables();
  } finally {
    switchOn(null);
  }
}

/** Of one member. */
interface Member extends Struck {
  readonly config: Config;
  daemon: Daemon | null;
}

const share = '/nas';
const sameEverywhere = { share: 'nas1' };
const localFolder = (name: string): string => `/${name}/in`;

const mostWishes = 6;

/** By then every folder was scanned with a look at each file: each eighth scan does. */
const deepScanMs = 8 * 1.25 * 20_000;

class FleetLife {
  readonly #schedule: Schedule;
  readonly #machine: Machine;
  readonly #random: Random;
  readonly #disk: Disk;
  readonly #service: Service;
  readonly #people: People;
  readonly #members: readonly Member[];
  readonly #storm: Storm;
  readonly #beganAt: number;
  #isCalm = false;
  #isOver = false;
  #kills = 0;

  constructor(seed: number, onLine: ((line: string) => void) | null) {
    this.#schedule = scheduleOf(seed, 60_000);
    this.#machine = new Machine(seed);
    this.#machine.onLine = onLine;
    this.#beganAt = this.#machine.time.trueWall;
    this.#random = new Random(seed, 'fleet life');
    switchOn(this.#machine);
    freeNames();
    this.#disk = new Disk(this.#machine.time);
    insertDisk(this.#disk);
    installMachine(this.#disk);
    this.#members = this.#membersOf();
    this.#service = new Service(this.#machine, new Random(seed, 'service'), {
      takesSecondBody: true,
      lagMs: 0,
      processingMs: this.#random.pick([100, 5_000]),
      addressMs: Infinity,
      isNewestFirst: this.#random.chance(0.5),
      wrapsData: this.#random.chance(0.5),
      failing: 0,
    });
    this.#hearPublishes();
    const { stormMs, hasWeather } = this.#schedule;
    connectNetwork(this.#service, new Weather(this.#machine, new Random(seed, 'weather'), hasWeather ? stormMs : 0));
    this.#people = new People({
      machine: this.#machine,
      disk: this.#disk,
      random: new Random(seed, 'people'),
      folders: this.#folders,
    });
    this.#people.plan(stormMs, new Random(seed, 'busy').chance(0.2));
    loseEvents(this.#random.pick([0, 0, 30]));
    this.#storm = new Storm(this.#machine, this.#schedule, this.#members);
  }

  get #folders(): readonly string[] {
    return [share, ...memberNames.map(localFolder)];
  }

  async play(): Promise<Lived> {
    const { time } = this.#machine;
    const { stormMs, isTight, seed } = this.#schedule;
    const members = this.#members.map((member) => this.#live(member));
    await time.runUntil(() => time.elapsed >= stormMs);
    this.#calmDown();
    const since = time.elapsed;
    const before = this.#requests().length;
    const why = isTight ? '' : await this.#settle(since + bounds.minutes * 60_000);
    this.#isOver = true;
    await this.#end(members);
    const calm = {
      isOver: why === '',
      minutes: (time.elapsed - since) / 60_000,
      requests: this.#requests().length - before,
      why,
    };
    const violations = [
      ...violationsOf(await this.#evidence(calm)).filter(({ invariant }) => !isTight || !needsEnd.has(invariant)),
      ...fleetViolations(await this.#fleetEvidence(calm.isOver)),
    ];
    const { reached } = this.#machine;
    return { seed, violations, reached, digest: this.#machine.digest(), kills: this.#kills, elapsedMs: time.elapsed };
  }

  async openTables(): Promise<void> {
    const [member] = this.#members;
    if (member === undefined) return;
    const process = this.#machine.bootBeside(member.name, Infinity);
    const opened = process.run(async () => {
      const daemon = await startDaemon(member.config, this.#loggerOf(member), ownClock());
      await daemon.stop(AbortSignal.abort());
    });
    let isOver = false;
    void opened.finally(() => (isOver = true)).catch(() => undefined);
    await this.#machine.time.runUntil(() => isOver);
    await opened;
    await askPostgres(observing('machine.now'));
    await askPostgres('TRUNCATE dropcast.host, machine.observed');
    await askPostgres('DELETE FROM dropcast_jobs.job');
  }

  /** A member, started again whenever it ends. */
  async #live(member: Member): Promise<void> {
    const { time } = this.#machine;
    await time.sleep(this.#random.between(0, 2_000));
    while (!this.#isOver) {
      const process = this.#machine.bootBeside(member.name, this.#diesAt());
      process.wallOffset = this.#schedule.clocks[member.index] ?? 0;
      member.process = process;
      const trouble = this.#storm.begin(member.index);
      this.#machine.log('boot', member.name);
      await Promise.race([process.run(() => this.#run(member, process, trouble)), process.death.promise]);
      this.#machine.log(process.isDead ? 'died' : 'ended', member.name);
      if (process.isDead) this.#kills += 1;
      process.kill();
      member.daemon = null;
      trouble.to = Math.min(trouble.to, time.elapsed);
      this.#storm.lost(member);
      this.#disk.closeAllOf(process);
      const rest = this.#storm.begin(member.index);
      await time.sleep(Math.max(member.restAt - time.elapsed, this.#random.between(50, 2_000)));
      rest.to = time.elapsed;
    }
  }

  async #run(member: Member, process: Process, starting: Ongoing): Promise<void> {
    const { time } = this.#machine;
    try {
      member.daemon = await startDaemon(member.config, this.#loggerOf(member), ownClock());
    } catch (error) {
      this.#machine.log('no start', `${member.name} ${String(error)}`);
      await time.sleep(2_000, process);
      return;
    }
    starting.to = time.elapsed;
    this.#machine.log('started', member.name);
    while (!this.#isOver) await time.sleep(5_000, process);
    const hurry = new AbortController();
    time.after(this.#random.pick([0, 90_000]), () => hurry.abort(), process);
    await member.daemon.stop(hurry.signal);
  }

  /** While a feed is published, somebody wants that on any member: a few times, or it would never end. */
  #hearPublishes(): void {
    const publish = this.#service.publish.bind(this.#service);
    let left = mostWishes;
    this.#service.publish = (feed) => {
      if ((left -= 1) >= 0) this.#machine.time.after(this.#random.between(0, 4), () => this.#wantPublished(feed), null);
      return publish(feed);
    };
  }

  #wantPublished(feed: string): void {
    const { daemon, process } = this.#random.pick(this.#members);
    if (daemon === null || process === null || process.isDead) return;
    process.run(() => daemon.conductor.publishNow(feed)).catch(() => undefined);
  }

  #diesAt(): number {
    const { meanCalls } = this.#schedule;
    return this.#isCalm ? Infinity : 1 + Math.floor(-Math.log(1 - this.#random.next()) * meanCalls);
  }

  #calmDown(): void {
    this.#machine.log('calm');
    this.#isCalm = true;
    this.#storm.end();
  }

  /** @returns why it is not over */
  async #settle(untilMs: number): Promise<string> {
    const { time } = this.#machine;
    let why = '';
    let shown = '';
    const scannedAt = time.elapsed + deepScanMs;
    for (let looks = 0; looks < 4 || time.elapsed < scannedAt; looks = why === '' ? looks + 1 : 0) {
      const lookAt = time.elapsed + 8_000;
      await time.runUntil(() => time.elapsed >= lookAt);
      const asked = Promise.all(this.#members.map((member) => this.#whyNotOver(member)));
      let said: readonly string[] | null = null;
      void asked.then((all) => (said = all));
      await time.runUntil(() => said !== null || time.elapsed >= untilMs);
      why = (said ?? ['nobody answers']).filter(Boolean).join('; ');
      if (why !== shown) this.#machine.log(why === '' ? 'over' : 'not over', why);
      shown = why;
      if (time.elapsed >= untilMs) return why || 'it never settled';
    }
    return '';
  }

  async #whyNotOver({ name, daemon, process }: Member): Promise<string> {
    if (daemon === null || process === null) return `${name} does not run`;
    return process.run(async () => {
      const pause = daemon.conductor.pause();
      if (pause !== null) return `${name}: everything waits: ${pause.why}`;
      try {
        return (await daemon.isIdle())
          ? ''
          : `${name} is not idle: ${JSON.stringify(await daemon.ledger.totals('by state'))}`;
      } catch (error) {
        return `${name}: ${String(error)}`;
      }
    });
  }

  /** One that hangs while it stops is killed, as systemd does. */
  async #end(members: readonly Promise<void>[]): Promise<void> {
    const { time } = this.#machine;
    let isOver = false;
    void Promise.all(members).then(() => (isOver = true));
    const until = time.elapsed + 200_000;
    await time.runUntil(() => isOver || time.elapsed >= until);
    for (const { process } of this.#members) process?.kill();
    await idle();
  }

  #requests(): readonly { readonly at: number }[] {
    return this.#service.journal.filter(({ what }) => what === 'request');
  }

  #loggerOf({ name }: Member): ReturnType<typeof loggerOf> {
    const logger = loggerOf(this.#machine, () => undefined);
    const named =
      (level: 'error' | 'warn' | 'info' | 'debug'): (typeof logger)['info'] =>
      (message, fields) =>
        logger[level](`${name}: ${message}`, fields);
    return { error: named('error'), warn: named('warn'), info: named('info'), debug: named('debug') };
  }

  #membersOf(): readonly Member[] {
    this.#disk.mkdir(share);
    const shared = { ...folderOf(share, 0, this.#random), afterReady: this.#afterReady() };
    return memberNames.map((name, index) => {
      this.#disk.mkdir(`/${name}`);
      this.#disk.mkdir(`/${name}/state`);
      this.#disk.mkdir(localFolder(name));
      const folders: readonly FolderConfig[] = [
        { ...shared, ...sameEverywhere },
        { ...folderOf(localFolder(name), 1, this.#random), afterReady: this.#afterReady() },
      ];
      const { requestsPerHour } = this.#schedule;
      const config: Config = {
        ...configOf({ stateDir: `/${name}/state`, folders, requestsPerHour }),
        hostName: name,
        ledger: machineLedger,
      };
      return { index, name, config, process: null, daemon: null, restAt: 0 };
    });
  }

  #afterReady(): AfterReady {
    return this.#random.pick([{ kind: 'keep' }, { kind: 'delete' }, { kind: 'move', to: 'done' }]);
  }

  async #evidence(calm: Evidence['calm']): Promise<Evidence> {
    const rows = await askPostgres('SELECT * FROM dropcast.file ORDER BY seq');
    return {
      contents: this.#disk.contents,
      removals: this.#disk.removals,
      putAway: this.#disk.putAway,
      onDisk: filesIn(this.#disk, this.#folders),
      sidecars: this.#people.sidecars,
      records: this.#service.records(),
      journal: this.#service.journal,
      rows: rows.map((row) => localised(judgedRow(row))),
      requestsPerHour: this.#schedule.requestsPerHour,
      clockJumps: [],
      wasRebooted: false,
      seen: { freezes: [], waits: [] },
      wasRestored: false,
      older: null,
      calm,
    };
  }

  async #fleetEvidence(isOver: boolean): Promise<FleetEvidence> {
    const rows = await askPostgres('SELECT id, video_id FROM dropcast.file');
    const fileOf = new Map(rows.map(({ id, video_id: video }) => [String(video), String(id)]));
    return {
      observed: observedIn(await askPostgres(observedText), this.#beganAt),
      losses: this.#storm.losses(),
      troubles: this.#storm.troubles(),
      completions: this.#service.journal
        .filter(({ what, by }) => what === 'body taken' && by !== undefined)
        .map(({ at, video, by = '' }) => ({ at, by, file: fileOf.get(video ?? '') ?? null })),
      requests: this.#requests(),
      requestsPerHour: this.#schedule.requestsPerHour,
      publishes: isOver
        ? this.#service.journal
            .filter(({ what }) => what === 'publish')
            .map(({ at, video }) => ({ at, feed: String(video) }))
        : null,
    };
  }
}

/** Rows name folders by their place. */
function localised(row: JudgedRow): JudgedRow {
  return {
    ...row,
    path: row.path
      .replace(/^nas1:\/?/, `${share}/`)
      .replace(/^ingest\d:/, '')
      .replaceAll('//', '/'),
  };
}

/** No two members share what is kept by clock. */
function ownClock(): { now(): number; elapsed(): number } {
  return { now: () => Date.now(), elapsed: () => performance.now() };
}

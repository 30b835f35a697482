import { startDaemon } from '../../../src/daemon/daemon.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { retry } from '../../../src/daemon/commands/retry.ts';
import { Meddler } from './meddler.ts';
import { OlderStates } from './older-state.ts';
import type { AfterReady, Config, FolderConfig } from '../../../src/config/config.ts';
import { suspensionProbeMs } from '../../../src/pipeline/file/backoff.ts';
import type { Logger } from '../../../src/log/logger.ts';
import { bounds, violationsOf } from './judge.ts';
import type { Evidence, Violation } from './judge.ts';
import { copyOfLedger, eraseLedger, recoverLedger, storedRows } from './machine/database.ts';
import { Disk } from './machine/disk.ts';
import { connectNetwork } from './machine/exchange.ts';
import { insertDisk } from './machine/file-system.ts';
import { Machine, switchOn } from './machine/machine.ts';
import type { Process } from './machine/machine.ts';
import { Random } from './machine/random.ts';
import { freeNames } from './machine/small-modules.ts';
import { idle } from './machine/timeline.ts';
import { loseEvents } from './machine/watch-events.ts';
import { People } from './people.ts';
import { Service } from './service.ts';
import type { Manners } from './service.ts';
import { configOf, filesIn, folderOf, installMachine, judgedRow, loggerOf } from './settings.ts';
import { Weather } from './weather.ts';

/** What became of one seed. */
export interface Lived {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly reached: ReadonlySet<string>;
  /** Equal for two runs that did the same. */
  readonly digest: string;
  /** Processes that were killed. */
  readonly kills: number;
  /** Simulated time. */
  readonly elapsedMs: number;
}

/** Receives a function that gathers what the judge would see at this moment. It is called before the life begins. */
export type Watch = (look: () => Evidence) => void;

/** Where lives are played, one after the other. */
export interface Lives extends AsyncDisposable {
  /** @param watch is ignored where several hosts live */
  live(seed: number, onLine: ((line: string) => void) | null, watch?: Watch | null): Promise<Lived>;
}

/** Plays the life of one seed: a storm of faults, then calm, then the judge. */
export async function live(
  seed: number,
  onLine: ((line: string) => void) | null = null,
  watch: Watch | null = null,
): Promise<Lived> {
  const life = new Life(seed, onLine);
  watch?.(() => life.evidence({ isOver: true, minutes: 0, requests: 0, why: '' }));
  try {
    return await life.play();
  } finally {
    switchOn(null);
  }
}

const longestStormMs = 150_000;

class Life {
  readonly #machine: Machine;
  readonly #random: Random;
  readonly #disk: Disk;
  readonly #service: Service;
  readonly #people: People;
  readonly #meddler: Meddler;
  readonly #older: OlderStates;
  readonly #stormMs: number;
  readonly #folders: readonly FolderConfig[];
  readonly #meanCalls: number;
  /** A desk that drops files all day, with a slow disk: each file is looked for while dropcast puts it away. */
  readonly #isBusy: boolean;
  readonly #clockJumps: Evidence['clockJumps'][number][] = [];
  #wasRestored = false;
  #wasRebooted = false;
  #copy: (() => void) | null = null;
  #boots = 0;
  #kills = 0;
  #idleLooks = 0;
  #isCalm = false;
  readonly #freezes = new Set<string>();
  readonly #waits = new Map<string, { since: number; text: string }>();
  readonly #longWaits = new Set<string>();

  constructor(seed: number, onLine: ((line: string) => void) | null) {
    this.#machine = new Machine(seed);
    this.#machine.onLine = onLine;
    this.#random = new Random(seed, 'life');
    switchOn(this.#machine);
    freeNames();
    eraseLedger();
    this.#stormMs = this.#random.between(30_000, longestStormMs);
    this.#disk = new Disk(this.#machine.time);
    insertDisk(this.#disk);
    this.#isBusy = new Random(seed, 'busy').chance(busyLives);
    this.#folders = this.#foldersOf();
    this.#service = new Service(this.#machine, new Random(seed, 'service'), this.#manners(seed));
    connectNetwork(
      this.#service,
      new Weather(this.#machine, new Random(seed, 'weather'), this.#stormMs, this.#service.protocol !== 'put'),
    );
    this.#people = new People({
      machine: this.#machine,
      disk: this.#disk,
      random: new Random(seed, 'people'),
      folders: this.#folders.map(({ path }) => path),
    });
    this.#people.plan(this.#stormMs, this.#isBusy);
    this.#meddler = new Meddler(this.#machine, new Random(seed, 'meddler'), this.#folders);
    this.#older = new OlderStates(this.#machine, this.#disk, new Random(seed, 'older state'));
    this.#meanCalls = this.#random.pick([Infinity, Infinity, 60, 200, 600, 2_000]);
    this.#machine.commitMs = this.#isBusy ? 400 : this.#random.pick([0, 4, 40]);
    this.#machine.slowness = this.#random.pick([1, 1, 10, 30]);
    loseEvents(this.#random.pick([0, 0, 30, 100]));
    this.#planTroubles();
  }

  async play(): Promise<Lived> {
    while (this.#machine.time.elapsed < this.#stormMs) await this.#boot(this.#stormMs);
    this.#isCalm = true;
    this.#machine.diskTrouble = 0;
    this.#machine.log('calm');
    const since = this.#machine.time.elapsed;
    const requestsBefore = this.#requests();
    let why = 'it never settled';
    while (why !== '' && this.#machine.time.elapsed < since + bounds.minutes * 60_000)
      why = await this.#boot(since + bounds.minutes * 60_000);
    const calm = {
      isOver: why === '',
      minutes: (this.#machine.time.elapsed - since) / 60_000,
      requests: this.#requests() - requestsBefore,
      why,
    };
    const violations = violationsOf(this.evidence(calm));
    if (storedRows('history').some(({ state }) => state === 'skipped')) this.#machine.reach('skipped as a duplicate');
    const { seed, reached } = this.#machine;
    const { elapsed } = this.#machine.time;
    return { seed, violations, reached, digest: this.#machine.digest(), kills: this.#kills, elapsedMs: elapsed };
  }

  /** One process, until it dies, is stopped, or has nothing left to do in the calm. @returns why it is not over yet */
  async #boot(untilMs: number): Promise<string> {
    this.#boots += 1;
    const diesAt = this.#isCalm ? Infinity : 1 + Math.floor(-Math.log(1 - this.#random.next()) * this.#meanCalls);
    const process = this.#machine.boot(diesAt);
    this.#machine.log('boot', String(this.#boots));
    const stopsAt =
      this.#isCalm || this.#random.chance(0.6) ? untilMs : this.#random.between(this.#machine.time.elapsed, untilMs);
    const running = this.#run(process, stopsAt);
    let why = 'it was killed';
    let isOver = false;
    void running.then(
      (said) => {
        why = said;
        isOver = true;
      },
      (error: unknown) => {
        why = `it crashed: ${String(error)}`;
        isOver = true;
      },
    );
    // A process that hangs while it stops is killed, as systemd does.
    await this.#machine.time.runUntil(
      () => isOver || process.isDead || this.#machine.time.elapsed >= untilMs + 200_000,
    );
    this.#machine.log(process.isDead ? 'died' : 'ended', why);
    if (process.isDead && storedRows('file').some((row) => row['dying'] === 1)) this.#machine.reach('crash in dying');
    const wasKilled = process.isDead;
    if (wasKilled) this.#kills += 1;
    process.kill();
    await idle();
    this.#disk.closeAllOf(process);
    recoverLedger();
    this.#perhapsRestore();
    if (!this.#isCalm) this.#older.ended({ from: process.bornAt, until: this.#machine.time.elapsed, wasKilled });
    this.#perhapsReboot();
    await this.#pass(this.#random.between(50, 4_000));
    return why;
  }

  async #run(process: Process, stopsAt: number): Promise<string> {
    const { time } = this.#machine;
    let daemon: Daemon;
    try {
      daemon = await startDaemon(this.#config(), this.#logger());
    } catch (error) {
      this.#machine.log('no start', String(error));
      await time.sleep(2_000, process);
      return `it does not start: ${String(error)}`;
    }
    this.#machine.log('started');
    let why = '';
    while (time.elapsed < stopsAt) {
      const lookMs = this.#meddler.everyMs ?? 5_000;
      await time.sleep(this.#isCalm ? 20_000 : Math.min(lookMs, Math.max(1, stopsAt - time.elapsed)), process);
      this.#look(daemon);
      await this.#older.attend(daemon, this.#isCalm);
      if (this.#isCalm) {
        await this.#meddler.takeBack(daemon);
        await this.#takeFoldersAsTheyAre(daemon);
      } else await this.#attend(daemon);
      why = this.#isCalm ? await this.#whyNotOver(daemon) : '';
      if (this.#isCalm && why === '') break;
    }
    const hurry = new AbortController();
    time.after(this.#random.pick([0, 500, 90_000]), () => hurry.abort(), process);
    await daemon.stop(hurry.signal);
    this.#machine.log('stopped');
    return why;
  }

  /** What operators do meanwhile. */
  async #attend(daemon: Daemon): Promise<void> {
    if (this.#random.chance(0.03)) {
      this.#machine.log('operator', 'retry --all');
      await retry(daemon, { names: [], selection: { states: ['failed', 'held', 'retrying'] } });
    }
    if (this.#random.chance(0.03)) {
      this.#machine.log('operator', 'reload');
      await daemon.reload(this.#config());
    }
    await this.#meddler.meddle(daemon);
  }

  async #whyNotOver(daemon: Daemon): Promise<string> {
    const pause = daemon.conductor.pause();
    if (pause !== null) return `everything waits: ${pause.why}`;
    if (!(await daemon.isIdle())) {
      this.#idleLooks = 0;
      const counts = await daemon.ledger.totals('by state');
      return `not idle: ${JSON.stringify(counts)}, ${daemon.folders
        .settling()
        .map(({ path, why }) => `${path}: ${why}`)
        .join('; ')}`;
    }
    // Idle is not yet over: what the watcher has not seen is found by its next full scan.
    this.#idleLooks += 1;
    return this.#idleLooks < 4 ? 'idle, but not scanned since' : '';
  }

  /** Looks for folders that froze for nothing, and for files that wait for a folder that is there. */
  #look({ folders }: Daemon): void {
    const now = this.#machine.time.elapsed;
    const states = folders.status();
    for (const { path, state, why } of states) {
      if (state !== 'frozen' || !isEmptied(why)) continue;
      this.#machine.reach('folder frozen as emptied');
      const taken = this.#takenFrom(path);
      if (taken < mostTakenByHand && !this.#isRestored)
        this.#freezes.add(`${path} froze although people took ${taken} files away: ${why}`);
    }
    const isTrusted = (folder: unknown): boolean =>
      states.some(({ path, state }) => path === folder && (state === 'watching' || state === 'scanning'));
    const waiting = storedRows('file').filter(
      ({ state, folder, last_failure: failure }) =>
        state === 'retrying' && isTrusted(folder) && String(failure).includes('"folder_away"'),
    );
    const ids = new Set(waiting.map(({ id }) => String(id)));
    for (const id of this.#waits.keys()) if (!ids.has(id)) this.#waits.delete(id);
    for (const { id: key, folder, path } of waiting) {
      const id = String(key);
      const wait = this.#waits.get(id) ?? { since: now, text: id };
      this.#waits.set(id, wait);
      // One that is not at its place when its folder returns is tried again after its backoff.
      const isThere = this.#disk.peek(`${String(folder)}/${String(path)}`) !== null;
      if (now - wait.since > longestWaitForFolderMs + (isThere ? 0 : suspensionProbeMs))
        this.#longWaits.add(`${id} waits for its folder, which is there`);
    }
  }

  get #isRestored(): boolean {
    return this.#wasRestored || this.#older.wasPutBack;
  }

  /** How many videos people removed or renamed. A drop begins under a hidden name, whose renaming takes nothing away. */
  #takenFrom(folder: string): number {
    const taken = this.#disk.takenAway.filter(({ path }) => path.startsWith(`${folder}/`) && !path.includes('/.'));
    return new Set(taken.map(({ path }) => path)).size;
  }

  /** Files that people took away are gone: only a person can say so. */
  async #takeFoldersAsTheyAre(daemon: Daemon): Promise<void> {
    for (const { path, state, why } of daemon.folders.status())
      if (state === 'frozen' && isEmptied(why) && (this.#takenFrom(path) >= mostTakenByHand || this.#isRestored)) {
        this.#machine.log('operator', `resume ${path}`);
        await daemon.folders.resume(path);
      }
  }

  /** The machine is switched off and on: its uptime begins anew. */
  #perhapsReboot(): void {
    if (this.#isCalm || !this.#random.chance(0.2)) return;
    this.#machine.bootedAt = this.#machine.time.elapsed;
    this.#machine.log('reboot');
    this.#wasRebooted = true;
    this.#machine.reach('reboot');
  }

  #planTroubles(): void {
    const { time } = this.#machine;
    if (this.#random.chance(0.25)) {
      const from = this.#random.between(0, this.#stormMs / 2);
      time.after(from, () => this.#setDiskTrouble(this.#random.pick([0.003, 0.02, 0.1])), null);
      time.after(from + this.#random.between(1_000, 20_000), () => this.#setDiskTrouble(0), null);
    }
    for (let n = this.#random.pick([0, 0, 0, 1, 2]); n > 0; n -= 1) {
      const jump = this.#random.pick(jumps);
      time.after(
        this.#random.between(0, this.#stormMs),
        () => {
          this.#machine.log('clock', `set by ${jump / 3_600_000} h`);
          time.wallOffset += jump;
          this.#clockJumps.push({ at: time.elapsed, byMs: jump });
          const isRetrying = storedRows('file').some(({ state }) => state === 'retrying');
          this.#machine.reach(isRetrying ? 'clock jump while retrying' : 'clock jump');
        },
        null,
      );
    }
  }

  #setDiskTrouble(share: number): void {
    this.#machine.diskTrouble = share;
    this.#machine.log('disk', `fails at ${share * 100} % of all calls`);
  }

  /** An operator puts a copy of the ledger back, as after a damage. */
  #perhapsRestore(): void {
    if (this.#isCalm) return;
    if (this.#copy !== null && this.#random.chance(0.03)) {
      if (this.#older.isPlanned) return;
      this.#copy();
      this.#wasRestored = true;
      this.#machine.reach('restore');
    } else if (this.#random.chance(0.2)) this.#copy = copyOfLedger();
  }

  /** Time in which no process runs. */
  async #pass(ms: number): Promise<void> {
    let isOver = false;
    this.#machine.time.after(ms, () => (isOver = true), null);
    await this.#machine.time.runUntil(() => isOver);
  }

  #requests(): number {
    return this.#service.journal.filter(({ what }) => what === 'request').length;
  }

  #manners(seed: number): Manners {
    const host = new Random(seed, 'resumable host');
    return {
      protocol: host.pick(['put', 'put', 'put', 'content-range', 'tus']),
      claiming: host.pick([0, 0.6]),
      takesSecondBody: this.#random.chance(0.5),
      lagMs: this.#random.pick([0, 0, 3_000, 20_000]),
      processingMs: this.#random.pick([100, 5_000, 40_000]),
      addressMs: this.#random.pick([Infinity, Infinity, 60_000, 15_000, 2_000]),
      isNewestFirst: this.#random.chance(0.5),
      wrapsData: this.#random.chance(0.5),
      failing: this.#random.pick([0, 0, 0.2]),
    };
  }

  #foldersOf(): readonly FolderConfig[] {
    const paths = this.#random.chance(0.3) ? ['/inbox', '/other'] : ['/inbox'];
    this.#disk.mkdir('/state');
    installMachine(this.#disk);
    return paths.map((path, index): FolderConfig => {
      this.#disk.mkdir(path);
      const kind = this.#random.pick(['keep', 'delete', 'later', 'full', 'move', 'move', 'mount'] as const);
      if (kind === 'mount') {
        this.#disk.mkdir(`${path}/done`);
        this.#disk.mount(`${path}/done`, 7);
      }
      const folder = { ...folderOf(path, index, this.#random), afterReady: this.#afterReadyOf(kind) };
      return this.#isBusy && kind !== 'keep' ? { ...folder, rescanMs: 1_000 } : folder;
    });
  }

  #afterReadyOf(kind: 'keep' | 'delete' | 'later' | 'full' | 'move' | 'mount'): AfterReady {
    switch (kind) {
      case 'keep':
      case 'delete':
        return { kind };
      case 'later':
        return { kind: 'delete', later: { afterMs: this.#random.pick([5_000, 60_000, 7 * dayMs]), whenFull: null } };
      case 'full':
        // The disk is 90 % full.
        return { kind: 'delete', later: { afterMs: null, whenFull: this.#random.pick([85, 95]) } };
      default:
        return { kind: 'move', to: 'done' };
    }
  }

  #config(): Config {
    return configOf({ stateDir: '/state', folders: this.#folders, requestsPerHour });
  }

  #logger(): Logger {
    return loggerOf(this.#machine, (message) => this.#notice(message));
  }

  #notice(message: string): void {
    if (/paused/i.test(message)) this.#machine.reach('breaker open');
  }

  evidence(calm: Evidence['calm']): Evidence {
    return {
      contents: this.#disk.contents,
      removals: this.#disk.removals,
      putAway: this.#disk.putAway,
      onDisk: filesIn(
        this.#disk,
        this.#folders.map(({ path }) => path),
      ),
      sidecars: this.#people.sidecars,
      records: this.#service.records(),
      journal: this.#service.journal,
      rows: storedRows('file').map(judgedRow),
      requestsPerHour,
      clockJumps: this.#clockJumps,
      wasRestored: this.#isRestored,
      older: this.#older.evidence(this.#meddler.retried),
      wasRebooted: this.#wasRebooted,
      seen: { freezes: [...this.#freezes], waits: [...this.#longWaits] },
      calm,
    };
  }
}

const requestsPerHour = 1_000;
const busyLives = 0.2;
const dayMs = 86_400_000;

/** Once or several times in a life. A machine without a battery begins in 1970. */
const jumps = [10 * dayMs, -10 * dayMs, 40 * dayMs, -56 * 365 * dayMs, 3_600_000, -3_600_000, 90_000] as const;

/** Fewer missing at once the product believes to be deleted by hand: see `scaled` in machine/hooks.ts. */
const mostTakenByHand = 3;

/** A minute, and the look that follows. */
const longestWaitForFolderMs = 60_000;

function isEmptied(why: string | null): boolean {
  return why !== null && /missing at once/.test(why);
}

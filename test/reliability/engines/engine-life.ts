import type { Config } from '../../../src/config/config.ts';
import { receiptsPath } from '../../../src/ledger/receipts.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { eraseLedger, recoverLedger } from '../simulation/machine/database.ts';
import { Disk } from '../simulation/machine/disk.ts';
import { connectNetwork } from '../simulation/machine/exchange.ts';
import { insertDisk } from '../simulation/machine/file-system.ts';
import { Machine, switchOn } from '../simulation/machine/machine.ts';
import type { Process } from '../simulation/machine/machine.ts';
import { line, machineLedger } from '../simulation/machine/postgres.ts';
import { Random, Steady, SteadyButNames } from '../simulation/machine/random.ts';
import { freeNames } from '../simulation/machine/small-modules.ts';
import { idle } from '../simulation/machine/timeline.ts';
import { loseEvents } from '../simulation/machine/watch-events.ts';
import { configOf, folderOf, installMachine, loggerOf } from '../simulation/settings.ts';
import { Hands, say } from './hands.ts';
import type { Act, Plan, Scene } from './plan.ts';
import { HeardService, Script } from './script.ts';
import { snapshotOf } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';
import { tablesOf } from './tables.ts';
import type { Engine } from './tables.ts';

/** What became of a plan on one engine. */
export interface EngineLived {
  readonly snapshot: Snapshot;
  readonly reached: ReadonlySet<string>;
  readonly digest: string;
  readonly kills: number;
  readonly elapsedMs: number;
}

export async function liveOn(
  engine: Engine,
  plan: Plan,
  onLine: ((line: string) => void) | null = null,
): Promise<EngineLived> {
  const life = new EngineLife(engine, plan, onLine);
  try {
    return await life.play();
  } finally {
    switchOn(null);
  }
}

const stateDir = '/state';
/** A host of a fleet gets the turn to try again within this time of its start. */
const untilTurnMs = 5_000;
const betweenActsMs = 1_300;
const lookEveryMs = 5_000;
/** So long nothing may be left to do: longer than until the next full scan, and than a late request is on its way. */
const quietLooks = 8;
const patienceMs = 100 * 60_000;

class EngineLife {
  readonly #engine: Engine;
  readonly #plan: Plan;
  readonly #machine: Machine;
  readonly #disk: Disk;
  readonly #service: HeardService;
  readonly #script: Script;
  readonly #hands: Hands;
  readonly #config: Config;
  readonly #news: string[] = [];
  #process: Process | null = null;
  #daemon: Daemon | null = null;
  /** Titles of videos until the first kill. */
  #ordered: readonly string[] | null = null;
  /** Why a scene did not end. */
  readonly #unfinished: string[] = [];
  #boots = 0;

  constructor(engine: Engine, plan: Plan, onLine: ((line: string) => void) | null) {
    const { seed } = plan;
    this.#engine = engine;
    this.#plan = plan;
    this.#machine = new Machine(seed, {
      random: new Steady(plan.luck),
      ownRandom: new SteadyButNames(seed, engine),
      isInstant: true,
    });
    this.#machine.onLine = onLine;
    switchOn(this.#machine);
    freeNames();
    eraseLedger();
    line.isInstant = true;
    loseEvents(0);
    this.#disk = new Disk(this.#machine.time);
    insertDisk(this.#disk);
    installMachine(this.#disk);
    this.#disk.mkdir(stateDir);
    for (const folder of plan.folders) this.#disk.mkdir(folder);
    this.#hands = new Hands(this.#disk);
    this.#script = new Script(this.#machine, (act) => void this.#hands.onDisk(act));
    const { processingMs, takesSecondBody, wrapsData, isNewestFirst } = plan;
    this.#service = new HeardService(this.#machine, new Random(seed, 'service'), {
      processingMs,
      takesSecondBody,
      wrapsData,
      isNewestFirst,
      lagMs: 0,
      addressMs: Infinity,
      failing: 0,
    });
    this.#service.onNote = (what) => this.#script.happened(what);
    connectNetwork(this.#service, this.#script);
    this.#config = configFor(engine, plan);
  }

  async play(): Promise<EngineLived> {
    await this.#boot();
    await this.#pass(untilTurnMs);
    for (const scene of this.#plan.scenes) if (this.#unfinished.length === 0) await this.#playScene(scene);
    await this.#untilGivenBack();
    await this.#until(this.#stop());
    const snapshot = snapshotOf({
      tables: await tablesOf(this.#engine),
      journal: this.#service.journal,
      unfinished: this.#unfinished,
      titles: this.#service.titles,
      ordered: this.#ordered ?? [...this.#service.titles.values()],
      videos: this.#service.records(),
      news: this.#news,
      failures: this.#linesOf(this.#config.failureLog),
      receipts: this.#linesOf(receiptsPath(stateDir)),
      disk: this.#plan.folders.flatMap((folder) => [...this.#disk.files(folder)]),
    });
    const { reached, time } = this.#machine;
    // Every start but the first follows a kill.
    return {
      snapshot,
      reached,
      digest: this.#machine.digest(),
      kills: this.#boots - 1,
      elapsedMs: time.elapsed,
    };
  }

  async #playScene(scene: Scene): Promise<void> {
    this.#machine.log('scene', JSON.stringify(scene));
    this.#script.begin(scene);
    for (const act of scene.acts) {
      this.#do(act);
      await this.#pass(betweenActsMs);
    }
    const until = this.#machine.time.elapsed + patienceMs;
    for (let looks = 0; looks < quietLooks;) {
      await this.#pass(lookEveryMs);
      if (this.#process?.isDead !== false) await this.#bootAgain(scene.kill?.downMs ?? 0);
      const why = await this.#whyNotOver();
      this.#machine.log('look', why);
      looks = why === '' ? looks + 1 : 0;
      if (this.#machine.time.elapsed > until) return void this.#unfinished.push(why);
    }
  }

  /** Empty records of files that ended are deleted at leisure. */
  async #untilGivenBack(): Promise<void> {
    const until = this.#machine.time.elapsed + patienceMs;
    while (this.#machine.time.elapsed < until && hasLeftovers(await tablesOf(this.#engine))) await this.#pass(60_000);
  }

  #linesOf(path: string): readonly string[] {
    const text = Buffer.from(this.#disk.peek(path)?.data ?? '').toString();
    return text.split('\n').filter((one) => one !== '');
  }

  #do(act: Act): void {
    this.#machine.log('act', JSON.stringify(act));
    const [daemon, process] = [this.#daemon, this.#process];
    if (this.#hands.onDisk(act) || daemon === null || process?.isDead !== false) return;
    const said = process.run(() => say(act, daemon));
    said.catch((error: unknown) => this.#machine.log('refused', String(error)));
  }

  async #whyNotOver(): Promise<string> {
    const [daemon, process] = [this.#daemon, this.#process];
    if (daemon === null || process?.isDead !== false) return 'it does not run';
    const pause = daemon.conductor.pause();
    if (pause !== null) return `everything waits: ${pause.why}`;
    const isIdle = process.run(() => daemon.isIdle());
    return (await this.#until(isIdle)) === true ? '' : 'it is not idle';
  }

  async #bootAgain(downMs: number): Promise<void> {
    this.#ordered ??= [...this.#service.titles.values()];
    this.#end();
    await idle();
    recoverLedger();
    await this.#pass(downMs);
    await this.#boot();
  }

  async #boot(): Promise<void> {
    this.#boots += 1;
    const process = this.#machine.bootBeside('simulated', Infinity);
    this.#process = process;
    this.#script.follow(process);
    this.#machine.log('boot', String(this.#boots));
    const logger = loggerOf(this.#machine, () => undefined);
    const clock = { now: () => Date.now(), elapsed: () => performance.now() };
    const starting = process.run(() =>
      startDaemon(this.#config, logger, clock, async (daemon) => {
        daemon.events.listen(({ type }) => type === 'file' && this.#script.happened('row'));
      }),
    );
    this.#daemon = await this.#until(starting);
    this.#machine.log('started');
  }

  async #stop(): Promise<void> {
    const [daemon, process] = [this.#daemon, this.#process];
    if (daemon === null || process === null) return;
    await process.run(() => daemon.stop(new AbortController().signal));
    this.#end();
    await idle();
  }

  #end(): void {
    for (const { file, folder, text, path, level } of this.#daemon?.news.since(0) ?? [])
      this.#news.push(`${file ?? ''} ${level} ${folder ?? ''} ${path ?? ''} ${text}`);
    this.#process?.kill();
    if (this.#process !== null) this.#disk.closeAllOf(this.#process);
    this.#daemon = null;
  }

  /** Lets time pass until there is an answer. @returns null when the process died first */
  async #until<T>(work: Promise<T>): Promise<T | null> {
    let isOver = false;
    const over = (): void => void (isOver = true);
    work.then(over, over);
    await this.#machine.time.runUntil(() => isOver || this.#process?.isDead === true);
    return isOver ? await work : null;
  }

  async #pass(ms: number): Promise<void> {
    const until = this.#machine.time.elapsed + ms;
    this.#machine.time.after(ms, () => undefined, null);
    await this.#machine.time.runUntil(() => this.#machine.time.elapsed >= until);
  }
}

function hasLeftovers({ file }: Awaited<ReturnType<typeof tablesOf>>): boolean {
  return file.some(
    ({ state, video_id: video, upload_started_at: begun }) =>
      video !== null && begun === null && ['superseded', 'vanished', 'skipped'].includes(state ?? ''),
  );
}

function configFor(engine: Engine, { seed, folders, onDuplicate, onChange, afterReady }: Plan): Config {
  const random = new Random(seed, 'folders');
  const watched = folders.map((path, index) => ({
    ...folderOf(path, index, random),
    onDuplicate,
    onChange,
    afterReady: afterReady[index] ?? { kind: 'keep' },
  }));
  return {
    ...configOf({ stateDir, folders: watched, requestsPerHour: 100_000 }),
    ledger: engine === 'SQLite' ? null : machineLedger,
  };
}

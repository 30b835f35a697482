import { createLeases } from '../../../src/fleet/leases.ts';
import type { Leases } from '../../../src/fleet/leases.ts';
import { openJobQueue } from '../../../src/fleet/job-queue.ts';
import type { JobQueue } from '../../../src/fleet/job-queue.ts';
import { serverTable } from '../../../src/fleet/postgres/outcome.ts';
import { lockTable } from '../../../src/fleet/postgres/statement.ts';
import { openPool } from '../../../src/fleet/postgres/pool.ts';
import type { PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Claim, Clock } from '../../../src/pipeline/file/ports.ts';
import type { Lived } from '../simulation/life.ts';
import { Machine, switchOn } from '../simulation/machine/machine.ts';
import type { Process } from '../simulation/machine/machine.ts';
import { askPostgres, machineLedger } from '../simulation/machine/postgres.ts';
import { Random } from '../simulation/machine/random.ts';
import { idle } from '../simulation/machine/timeline.ts';
import { fleetViolations } from './judge.ts';
import type { Completion } from './judge.ts';
import { observedIn, observedText, observing } from './observed.ts';
import { memberNames, scheduleOf } from './schedule.ts';
import type { Schedule } from './schedule.ts';
import { Storm } from './storm.ts';
import type { Ongoing, Struck } from './storm.ts';

/** Three members that do nothing but hold files and write their rows: what leases promise, without all that is built on them. */
export async function liveOnLeases(seed: number, onLine: ((line: string) => void) | null = null): Promise<Lived> {
  const life = new LeaseLife(seed, onLine);
  try {
    return await life.play();
  } finally {
    switchOn(null);
  }
}

/** The tables, once. */
export async function openLeaseTables(): Promise<void> {
  const machine = new Machine(0);
  switchOn(machine);
  try {
    await askPostgres('CREATE SCHEMA dropcast');
    await askPostgres('CREATE TABLE dropcast.file (id text PRIMARY KEY, seq bigint, state text NOT NULL)');
    await askPostgres(serverTable);
    await askPostgres(lockTable);
    const process = machine.bootBeside('first', Infinity);
    let isOver = false;
    const opened = process.run(() => openHost('first')).then(({ close }) => close());
    void opened.finally(() => (isOver = true)).catch(() => undefined);
    await machine.time.runUntil(() => isOver);
    await opened;
    await askPostgres(observing('machine.now'));
  } finally {
    switchOn(null);
  }
}

interface Host {
  readonly pool: PostgresPool;
  readonly queue: JobQueue;
  readonly leases: Leases;
  close(): Promise<void>;
}

async function openHost(hostName: string): Promise<Host> {
  const clock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };
  const pool = await openPool(machineLedger, { hostName });
  const queue = await openJobQueue({
    pool,
    name: 'file',
    hostName,
    elapsed: () => clock.elapsed(),
    broke: () => undefined,
  });
  const load = async (id: string): Promise<Facts | null> => {
    const [row] = await pool.rows<{ state: string }>('select id, state from dropcast.file where id = $1', [id]);
    return row === undefined || row.state === 'done' ? null : (row as unknown as Facts);
  };
  const leases = createLeases({ pool, queue, clock, load });
  const close = async (): Promise<void> => {
    await leases[Symbol.asyncDispose]();
    await queue[Symbol.asyncDispose]();
    await pool[Symbol.asyncDispose]();
  };
  return { pool, queue, leases, close };
}

const longestStormMs = 30_000;
const files = 8;
const lanes = 2;
/** After the storm all is done within this time, or never. */
const patienceMs = 300_000;

class LeaseLife {
  readonly #schedule: Schedule;
  readonly #machine: Machine;
  readonly #random: Random;
  readonly #members: readonly Struck[];
  readonly #storm: Storm;
  readonly #completions: Completion[] = [];
  #isCalm = false;
  #isOver = false;
  #kills = 0;

  constructor(seed: number, onLine: ((line: string) => void) | null) {
    this.#schedule = scheduleOf(seed, longestStormMs);
    this.#machine = new Machine(seed);
    this.#machine.onLine = onLine;
    this.#random = new Random(seed, 'lease life');
    switchOn(this.#machine);
    this.#members = memberNames.map((name, index) => ({ index, name, process: null, restAt: 0 }));
    this.#storm = new Storm(this.#machine, this.#schedule, this.#members);
  }

  async play(): Promise<Lived> {
    const { time } = this.#machine;
    const { seed, stormMs } = this.#schedule;
    const beganAt = time.trueWall;
    for (let n = 1; n <= files; n += 1)
      await askPostgres(`INSERT INTO dropcast.file VALUES ('f_${n}', ${n}, 'queued')`);
    const members = this.#members.map((member) => this.#live(member));
    await time.runUntil(() => time.elapsed >= stormMs);
    this.#machine.log('calm');
    this.#isCalm = true;
    this.#storm.end();
    const why = await this.#settle(time.elapsed + patienceMs);
    this.#isOver = true;
    await this.#end(members);
    const observed = observedIn(await askPostgres(observedText), beganAt);
    // Of two statements of one moment, either may have come first.
    for (const { at, what, file, by } of observed) this.#machine.onLine?.(`observed ${at} ${what} ${file} ${by}`);
    if (hasTakeover(observed)) this.#machine.reach('taken over');
    const violations = fleetViolations({
      observed,
      losses: this.#storm.losses(),
      troubles: this.#storm.troubles(),
      completions: this.#completions,
      requests: [],
      requestsPerHour: Infinity,
      publishes: null,
    });
    const unfinished = why === '' ? [] : [{ invariant: 'V1', found: why }];
    const { reached } = this.#machine;
    const digest = this.#machine.digest();
    const all = [...violations, ...this.#twice(), ...unfinished];
    return { seed, violations: all, reached, digest, kills: this.#kills, elapsedMs: time.elapsed };
  }

  #twice(): Lived['violations'] {
    const counts = Map.groupBy(this.#completions, ({ file }) => file);
    return [...counts]
      .filter(([, all]) => all.length > 1)
      .map(([file, all]) => ({
        invariant: 'D2',
        found: `${file}: completed by ${all.map(({ by, at }) => `${by} at ${at}`).join(' and ')}`,
      }));
  }

  async #live(member: Struck): Promise<void> {
    const { time } = this.#machine;
    const { meanCalls, clocks } = this.#schedule;
    while (!this.#isOver) {
      const diesAt = this.#isCalm ? Infinity : 1 + Math.floor(-Math.log(1 - this.#random.next()) * meanCalls);
      const process = this.#machine.bootBeside(member.name, diesAt);
      process.wallOffset = clocks[member.index] ?? 0;
      member.process = process;
      const starting = this.#storm.begin(member.index);
      await Promise.race([process.run(() => this.#run(member, process, starting)), process.death.promise]);
      this.#machine.log(process.isDead ? 'died' : 'ended', member.name);
      if (process.isDead) this.#kills += 1;
      process.kill();
      starting.to = Math.min(starting.to, time.elapsed);
      this.#storm.lost(member);
      const rest = this.#storm.begin(member.index);
      await time.sleep(Math.max(member.restAt - time.elapsed, this.#random.between(50, 2_000)));
      rest.to = time.elapsed;
    }
  }

  async #run(member: Struck, process: Process, starting: Ongoing): Promise<void> {
    const { time } = this.#machine;
    try {
      const host = await openHost(member.name);
      starting.to = time.elapsed;
      this.#machine.log('started', member.name);
      await Promise.all(Array.from({ length: lanes }, () => this.#lane(member, process, host)));
      await host.close();
    } catch (error) {
      this.#machine.log('failed', `${member.name} ${String(error)}`);
      await time.sleep(2_000, process);
    }
  }

  async #lane(member: Struck, process: Process, host: Host): Promise<void> {
    const { time } = this.#machine;
    while (!this.#isOver) {
      await time.sleep(this.#random.between(1_000, 3_000), process);
      try {
        const open = await host.pool.rows<{ id: string }>(
          `select id from dropcast.file where state <> 'done' order by seq`,
        );
        if (open.length === 0) continue;
        const claim = await host.leases.claim(this.#random.pick(open).id);
        if (claim !== null) await this.#work(member, process, { host, claim });
      } catch (error) {
        this.#machine.log('could not', `${member.name} ${String(error)}`);
      }
    }
  }

  async #work(
    { name }: Struck,
    process: Process,
    { host, claim }: { readonly host: Host; readonly claim: Claim },
  ): Promise<void> {
    const { time } = this.#machine;
    const file = String((claim.facts as unknown as { readonly id?: string }).id);
    try {
      const steps = 1 + this.#random.below(6);
      for (let n = 0; n < steps; n += 1) {
        await time.sleep(this.#random.between(100, 5_000), process);
        if (claim.lost.aborted) return;
        await this.#save(host, file, 'working');
      }
      if (!this.#completions.some((one) => one.file === file)) {
        if (!(await claim.renew())) return;
        await time.sleep(this.#random.between(1, 300));
        this.#machine.log('completed', `${file} by ${name}`);
        this.#completions.push({ at: time.elapsed, by: name, file });
      }
      await this.#save(host, file, 'done');
    } finally {
      await claim.release();
    }
  }

  /** As the writer of rows does: the fence and the row are one transaction. */
  async #save({ pool, leases }: Host, file: string, state: string): Promise<void> {
    const { text, values } = leases.fence([file]);
    await pool.transaction(async (ask) => {
      if ((await ask(text.replace('?', '$1'), values)).length === 0) throw new Error('lost');
      await ask('update dropcast.file set state = $1 where id = $2', [state, file]);
    });
  }

  async #settle(untilMs: number): Promise<string> {
    const { time } = this.#machine;
    for (;;) {
      const lookAt = time.elapsed + 3_000;
      await time.runUntil(() => time.elapsed >= lookAt);
      const left = await askPostgres(`SELECT id FROM dropcast.file WHERE state <> 'done'`);
      if (left.length === 0) return '';
      if (time.elapsed > untilMs) return `never done: ${left.map(({ id }) => String(id)).join(', ')}`;
    }
  }

  async #end(members: readonly Promise<void>[]): Promise<void> {
    const { time } = this.#machine;
    let isOver = false;
    void Promise.all(members).then(() => (isOver = true));
    const until = time.elapsed + 100_000;
    await time.runUntil(() => isOver || time.elapsed >= until);
    for (const { process } of this.#members) process?.kill();
    await idle();
  }
}

function hasTakeover(
  observed: readonly { readonly what: string; readonly file: string; readonly by: string }[],
): boolean {
  const grants = observed.filter(({ what }) => what === 'granted');
  return grants.some(({ file, by }) => grants.some((other) => other.file === file && other.by !== by));
}

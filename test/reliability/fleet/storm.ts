import type { Machine, Process } from '../simulation/machine/machine.ts';
import { breakConnections, cutOff, line } from '../simulation/machine/postgres.ts';
import type { Loss, Trouble } from './judge.ts';
import { memberNames, shownFault } from './schedule.ts';
import type { Fault, Schedule } from './schedule.ts';

/** A member, as far as faults are about it. */
export interface Struck {
  readonly index: number;
  readonly name: string;
  process: Process | null;
  /** Not started again before. */
  restAt: number;
}

/** What is wrong from when to when, while it is played. */
export interface Ongoing {
  readonly from: number;
  to: number;
  /** Null: it is about all of them. */
  readonly member: number | null;
}

/** The faults of a schedule, as they come, and what they leave for the judge. */
export class Storm {
  readonly #machine: Machine;
  readonly #members: readonly Struck[];
  readonly #troubles: Ongoing[] = [];
  readonly #losses: Omit<Loss, 'calmUntil'>[] = [];
  #isOver = false;

  constructor(machine: Machine, { faults }: Schedule, members: readonly Struck[]) {
    this.#machine = machine;
    this.#members = members;
    for (const fault of faults) machine.time.after(fault.at, () => this.#strike(fault), null);
  }

  /** Whoever is frozen or cut off is so no longer, and PostgreSQL runs. */
  end(): void {
    this.#isOver = true;
    Object.assign(line, { isAway: false, lost: 0, answerLost: 0 });
    for (const process of line.cutOff) this.#reconnect(process);
    for (const { process } of this.#members) process?.spare();
  }

  begin(member: number | null): Ongoing {
    const trouble = { from: this.#machine.time.elapsed, to: Infinity, member };
    this.#troubles.push(trouble);
    return trouble;
  }

  /** This member can no longer go on with what it holds. */
  lost({ name }: Struck): void {
    this.#losses.push({ at: this.#machine.time.elapsed, member: name });
  }

  troubles(): readonly Trouble[] {
    return this.#troubles.map(({ member, ...times }) => ({
      ...times,
      member: member === null ? null : (memberNames[member] ?? null),
    }));
  }

  losses(): readonly Loss[] {
    return this.#losses.map((loss) => ({ ...loss, calmUntil: this.#calmUntil(loss) }));
  }

  #strike(fault: Fault): void {
    if (this.#isOver) return;
    const { time } = this.#machine;
    this.#machine.log('fault', shownFault(fault));
    this.#machine.reach(fault.kind);
    const member = 'member' in fault ? this.#members[fault.member] : undefined;
    const trouble = this.begin(member?.index ?? null);
    const lastsMs = 'forMs' in fault ? fault.forMs : 0;
    if (fault.kind === 'kill' && member !== undefined) member.restAt = time.elapsed + lastsMs;
    else time.after(lastsMs, () => (trouble.to = time.elapsed), null);
    const process = member?.process ?? null;
    switch (fault.kind) {
      case 'kill':
        trouble.to = time.elapsed;
        return process?.kill();
      case 'freeze':
        if (process !== null) process.frozenUntil = time.elapsed + lastsMs;
        return;
      case 'cut off':
        if (process !== null) cutOff(process);
        time.after(lastsMs, () => this.#reconnect(process), null);
        return;
      case 'stopped':
        line.isAway = true;
        breakConnections();
        time.after(lastsMs, () => (line.isAway = false), null);
        return;
      case 'crash':
        return breakConnections();
      case 'bad line':
        line.lost = line.answerLost = fault.share;
        time.after(lastsMs, () => (line.lost = line.answerLost = 0), null);
        return;
      default:
        fault satisfies never;
    }
  }

  /** What it asked meanwhile never comes to anything. */
  #reconnect(process: Process | null): void {
    if (process === null) return;
    breakConnections((whose) => whose === process);
    line.cutOff.delete(process);
  }

  /** Until when nothing goes wrong but that this member is lost; not after the loss itself where something is wrong already. */
  #calmUntil({ at, member }: Omit<Loss, 'calmUntil'>): number {
    const others = this.#troubles.filter(({ member: whose }) => whose === null || memberNames[whose] !== member);
    if (others.some(({ from, to }) => from <= at && to > at)) return at;
    return Math.min(this.#machine.time.elapsed, ...others.filter(({ from }) => from > at).map(({ from }) => from));
  }
}

import { randomBytes } from 'node:crypto';
import { LedgerError } from '../ledger/ledger-error.ts';
import type { Logger } from '../log/logger.ts';
import type { Doing, Fleet, Host, FleetView } from '../view/hosts/fleet-view.ts';
import type { FoundPlaces } from './found-places.ts';
import { heardMs, nothing, aheadOf, TableFleet } from './host-table.ts';
import type { OwnRow, TableFleetWorld, TimedRead } from './host-table.ts';
import { heardWords, silentWords } from '../view/words/events.ts';
import type { NewsLines } from '../daemon/news/lines.ts';
import { hostView } from '../view/hosts/host-view.ts';
import type { HostView } from '../view/hosts/host-view.ts';

/** This host as a member of the fleet. */
export interface Member extends Fleet, AsyncDisposable {
  /** Whether this host may take new work: it is not draining, and no other host uses its name. */
  mayTake(): boolean;
  /**
   * Starts writing this host's row, which reports its current work, every few seconds.
   *
   * @param heard called after each write, and when the database stops or resumes answering
   */
  start(doing: () => Doing, heard: () => void): void;
  /**
   * Writes this host's row now and signals the others to read it. @throws {LedgerUnavailableError} if the signal failed
   */
  tell(): Promise<void>;
}

export interface MemberWorld extends TableFleetWorld {
  readonly version: string;
  readonly schema: number;
  /**
   * The instance that ran here before; null: unknown. It has stopped, because this process holds the lock on the state
   * directory.
   */
  readonly before: string | null;
  /** Saves the new instance for the next start. */
  keep(instance: string): Promise<void>;
  readonly logger: Logger;
  /** Signals the other members to read the rows. */
  announce(): Promise<void>;
  /** Called once if this host must wait for its name to become free. */
  waits(sentence: string): void;
  readonly found?: Pick<FoundPlaces, 'words' | 'look'>;
  /** Resolves after this many milliseconds. */
  rest(ms: number): Promise<void>;
}

/** Interval between writes of a member's row, in milliseconds. */
const beatMs = 5_000;

/** Interval between checks while the name is taken, in milliseconds. */
const lookMs = 1_000;

/**
 * Joins the fleet: writes this host's row under its name. If a member with that name was killed elsewhere, waits until
 * the name is free, 15 s after the member's last report.
 *
 * @throws {LedgerError} if another running member has the name
 * @throws {LedgerUnavailableError} if the database is unreachable
 */
export async function joinFleet(world: MemberWorld): Promise<Member> {
  const { table, name, version, schema, clock } = world;
  const instance = randomBytes(8).toString('hex');
  const row: OwnRow = { name, instance, version, schema, clockAheadMs: null, doing: nothing };
  let heardAt: number | null = null;
  for (;;) {
    const askedAt = clock.now();
    const read = await table.beat(row, world.before);
    if (read.isOurs) {
      await world.keep(instance);
      return new BeatingMember(world, row, { ...read, askedAt, answeredAt: clock.now() });
    }
    const other = read.hosts.find((host) => host.name === name);
    if (heardAt !== null && other !== undefined && other.heardAt !== heardAt) throw taken(name, other.version);
    if (heardAt === null && other !== undefined) {
      heardAt = other.heardAt;
      const ago = Math.round((read.at - heardAt) / 1_000);
      world.waits(
        `a member named ${name} was heard ${ago} s ago: waiting up to ${heardMs / 1_000} s, until it is certain that it no longer runs`,
      );
    }
    await world.rest(lookMs);
  }
}

function taken(name: string, version: string): LedgerError {
  return new LedgerError(
    `another host of this fleet runs under the name ${name} (dropcast ${version}): give each host a host_name of its own`,
  );
}

interface Read extends TimedRead {
  readonly isOurs: boolean;
}

class BeatingMember implements Member {
  readonly self: string;
  readonly #world: MemberWorld;
  readonly #row: OwnRow;
  readonly #fleet: TableFleet;
  #doing: () => Doing = () => nothing;
  #heard: () => void = () => undefined;
  #aheadMs: number | null = null;
  #isOurs = true;
  #isUnheard = false;
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> | null = null;

  constructor(world: MemberWorld, row: OwnRow, read: Read) {
    this.#world = world;
    this.#row = row;
    this.#fleet = new TableFleet(world);
    this.self = row.name;
    this.#take(read);
  }

  known(): readonly Host[] {
    return this.#fleet.known();
  }

  hosts(): Promise<readonly Host[]> {
    return this.#fleet.hosts();
  }

  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#fleet.hostsOf(ids);
  }

  awaySince(): number | null {
    return this.#fleet.awaySince();
  }

  whyAway(): string | null {
    return this.#fleet.whyAway();
  }

  mayTake(): boolean {
    return this.#isOurs && this.known().find(({ name }) => name === this.self)?.draining === null;
  }

  async drain(name: string, by: string | null): Promise<Host | null> {
    const host = await this.#fleet.drain(name, by);
    this.#heard();
    return host;
  }

  async forget(name: string): Promise<'forgotten' | 'running' | 'unknown'> {
    const answer = await this.#fleet.forget(name);
    this.#heard();
    return answer;
  }

  start(doing: () => Doing, heard: () => void): void {
    this.#doing = doing;
    this.#heard = heard;
    this.#timer = setInterval(() => void (this.#beating ??= this.#beat()), beatMs).unref();
    this.#beating ??= this.#beat();
  }

  async tell(): Promise<void> {
    // A report in progress may lack the latest state.
    await this.#beating;
    await (this.#beating ??= this.#beat());
    await this.#world.announce();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#beating;
    // If this fails, the name becomes free 15 s later, and nothing else depends on it.
    if (this.#isOurs && this.awaySince() === null)
      await this.#world.table.leave(this.self, this.#row.instance).catch(() => undefined);
  }

  /** Writes this host's row and reads the others. Never rejects: without the database, no other host can be reached. */
  async #beat(): Promise<void> {
    const { table, clock, logger, found } = this.#world;
    const askedAt = clock.now();
    try {
      const doing = { ...this.#doing(), ...(found && { proofs: found.words() }) };
      const read = await table.beat({ ...this.#row, clockAheadMs: this.#aheadMs, doing }, null);
      this.#isUnheard = false;
      this.#take({ ...read, askedAt, answeredAt: clock.now() });
      void found?.look();
    } catch (err) {
      if (!this.#isUnheard) logger.warn('Cannot write the row of this host', { err });
      this.#isUnheard = true;
    } finally {
      this.#beating = null;
    }
    this.#heard();
  }

  #take(read: Read): void {
    const { logger } = this.#world;
    if (this.#isOurs && !read.isOurs)
      logger.error('Another host uses the name of this host; taking no new work', { name: this.self });
    if (!this.#isOurs && read.isOurs) logger.info('No other host uses the name of this host now', { name: this.self });
    this.#isOurs = read.isOurs;
    this.#aheadMs = aheadOf(read);
    this.#fleet.take(read);
  }
}

/**
 * Reports when a host joins, becomes silent or is drained, and when the database becomes unreachable.
 *
 * @returns a function to call after every possible change
 */
export function createHostNews(fleet: FleetView, news: Pick<NewsLines, 'add'>): () => void {
  let before = statesOf(fleet.known(), fleet.self);
  let wasAway = false;
  const say = (level: 'info' | 'warn', text: string): void => news.add({ level, type: 'host', text });
  return () => {
    const isAway = fleet.awaySince() !== null;
    if (isAway && !wasAway)
      say('warn', 'PostgreSQL does not answer: uploads in flight continue, everything else waits');
    if (!isAway && wasAway) say('info', 'PostgreSQL answers again');
    wasAway = isAway;
    const after = statesOf(fleet.known(), fleet.self);
    for (const [name, host] of after) {
      const was = before.get(name)?.state;
      if (host.state !== was) say(host.state === 'silent' ? 'warn' : 'info', changeWords(host, was));
    }
    before = after;
  };
}

function statesOf(hosts: readonly Host[], self: string): ReadonlyMap<string, HostView> {
  return new Map(hosts.map((host) => [host.name, hostView(host, self)]));
}

function changeWords({ name, state, version, heard_at: heardAt, draining }: HostView, was?: HostView['state']): string {
  switch (state) {
    case 'silent':
      return silentWords({ name, heardAt }, Date.now());
    case 'stopped':
      return `${name} was stopped`;
    case 'draining':
      return `${name} is drained by ${draining?.by ?? ''}: it finishes its current work and starts nothing new`;
    case 'drained':
      return `${name} is drained: nothing runs there`;
    default:
      if (was === 'draining' || was === 'drained') return `${name} accepts files again`;
      return was === 'silent' ? heardWords(name) : `${name} has joined (dropcast ${version})`;
  }
}

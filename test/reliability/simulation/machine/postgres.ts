import { EventEmitter } from 'node:events';
import { openSync, writeSync } from 'node:fs';
import pg from 'pg';
import type { TransactionStatus } from 'pg';
import type { Config } from '../../../../src/config/config.ts';
import { machine } from './machine.ts';
import type { Process } from './machine.ts';
import { OneByOne } from './one-by-one.ts';
import { idle, standStill } from './timeline.ts';

/** A real server beside the machine. */
export interface Server {
  /** Of a database that is the machine's alone, as its superuser. */
  readonly url: string;
  /** Where the server reads what the machine's time is; see `prepareDatabase`. */
  readonly clock: string;
}

/** The ledger of a process, of no server: the line leads to the machine's own. */
export const machineLedger: NonNullable<Config['ledger']> = {
  url: 'postgres://postgres@127.0.0.1:5432/machine',
  host: '127.0.0.1',
  port: 5432,
  user: 'postgres',
  database: 'machine',
  password: null,
  ca: null,
  tls: false,
  unread: null,
};

/** What goes wrong between processes and the database. */
export interface Line {
  /** Nobody reaches it; what was begun is rolled back. */
  isAway: boolean;
  /** Who does not reach it. Nothing is refused: nobody answers. */
  readonly cutOff: Set<Process>;
  /** How likely a connection breaks before a statement arrives. */
  lost: number;
  /** How likely it breaks after the statement was done. */
  answerLost: number;
  /** Statements need no time of the machine, as those of SQLite. */
  isInstant: boolean;
}

export const line: Line = { isAway: false, cutOff: new Set(), lost: 0, answerLost: 0, isInstant: false };

let server: Server | null = null;
let clock = -1;
let shown = '';
const free: pg.Client[] = [];
const opened = new Set<pg.Client>();
const connections = new Set<Connection>();
/** Asks the server what its connections do. */
let watcher: pg.Client | null = null;
const inOrder = new OneByOne(async (pid) => {
  watcher ??= await connected();
  const { rows } = await watcher.query<Row>('SELECT cardinality(pg_blocking_pids($1)) > 0 AS is_blocked', [pid]);
  return rows[0]?.['is_blocked'] === true;
});

/** Connects the machine to a server. */
export async function usePostgres(next: Server | null): Promise<void> {
  await Promise.all([...opened].map((client) => client.end()));
  opened.clear();
  watcher = null;
  free.length = 0;
  connections.clear();
  line.cutOff.clear();
  Object.assign(line, { isAway: false, lost: 0, answerLost: 0 });
  server = next;
  shown = '';
  if (next !== null && clock < 0) clock = openSync(next.clock, 'r+');
}

/** Whoever lived is connected no longer, and nothing goes wrong. What was begun is rolled back. */
export async function freeConnections(): Promise<void> {
  breakConnections();
  await idle();
  line.cutOff.clear();
  Object.assign(line, { isAway: false, lost: 0, answerLost: 0 });
}

/** A superuser's statement, which is not the machine's. */
export async function askPostgres(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  const client = await borrow();
  try {
    return (await queried<Row>(client, text, [...values])).rows;
  } finally {
    free.push(client);
  }
}

export type Row = Readonly<Record<string, unknown>>;

/** Whoever is connected is no longer, as when the server stops. */
export function breakConnections(whose: (process: Process | null) => boolean = () => true): void {
  for (const connection of connections) if (whose(connection.process)) connection.break();
}

/** From now on a process hears nothing from the database. What it had begun there is rolled back. */
export function cutOff(process: Process): void {
  line.cutOff.add(process);
  for (const connection of connections) if (connection.process === process) connection.fallSilent();
}

/** The functions that tell the time, in statements of the program: the clock of the server is the machine's. */
const clocks = /\b(?:pg_catalog\.)?(?:clock_timestamp|statement_timestamp|transaction_timestamp|now)\(\)/g;

/**
 * Statements that wait for another process's transaction, not for the server: those that create or alter tables, and those that lock a row of `dropcast.lock`.
 * The row `history` is left out: it is locked at the end of a transaction that holds others, which ends without waiting.
 */
const waitsForOther =
  /^\s*(?:create schema (dropcast)\b|lock table (dropcast)\.)|select name\b[^;]* from dropcast\.lock where name = '(insert|jobs)'/is;
const lookForLockMs = 20;
/** Connections by the lock that they have until their transaction ends. */
const locked = new Map<string, Connection>();

/** In a database of its own, once. @param file with the time in seconds, which the server may read */
export const prepareDatabase = (file: string): string => `
  CREATE SCHEMA machine;
  CREATE FUNCTION machine.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT to_timestamp(pg_read_file('${file}')::float8)
  $$`;

function showTime(): void {
  const { time } = machine();
  const text = (time.trueWall / 1_000).toFixed(3);
  if (text !== shown) writeSync(clock, text, 0);
  shown = text;
}

async function borrow(): Promise<pg.Client> {
  const known = free.pop();
  if (known !== undefined) return known;
  const client = newClient();
  await standStill(inOrder.ask(client, () => client.connect()));
  return client;
}

async function connected(): Promise<pg.Client> {
  const client = newClient();
  await client.connect();
  return client;
}

function newClient(): pg.Client {
  const client = new pg.Client({ connectionString: server?.url });
  client.on('error', () => undefined);
  opened.add(client);
  return client;
}

/** Time stands still until the answer is there, and nobody else is answered first. */
function queried<T extends Row>(
  client: pg.Client,
  text: string | pg.QueryConfig,
  values?: unknown[],
): Promise<pg.QueryResult<T>> {
  return standStill(inOrder.ask(client, () => client.query<T>(text, values)));
}

interface Statement {
  readonly text: string;
  readonly values?: unknown[];
  readonly rowMode?: 'array';
  readonly types?: pg.CustomTypesConfig;
  /** How long to wait for the answer, milliseconds. */
  readonly patienceMs?: number;
}

/** One connection of one process, with a real one behind it. */
class Connection {
  readonly process: Process | null = machine().process;
  readonly #host = machine();
  readonly #onBreak: (error: Error) => void;
  #real: pg.Client | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #isInTransaction = false;
  #isBroken = false;
  #isSilent = false;
  readonly #breaking = Promise.withResolvers<void>();

  constructor(onBreak: (error: Error) => void) {
    this.#onBreak = onBreak;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** @param settings `-c name=value …`, as on the command line of a server */
  async open(timeoutMs: number, settings: string): Promise<void> {
    await this.#travel();
    if (line.isAway) throw refused();
    if (this.#isCutOff()) {
      await this.#host.time.sleep(timeoutMs || 120_000, this.process);
      throw new Error('timeout expired');
    }
    this.#real = await borrow();
    // For what the database writes down of who does what.
    const { name = '' } = this.process ?? {};
    if (name !== '') await queried(this.#real, `SELECT set_config('machine.member', '${name}', false)`);
    for (const [, key = '', value = ''] of settings.matchAll(/-c (\w+)=((?:\\ |\S)+)/g))
      await queried(this.#real, 'SELECT set_config($1, $2, false)', [key, value.replaceAll('\\ ', ' ')]);
    connections.add(this);
    void this.process?.death.promise.then(() => this.#giveBack());
  }

  get status(): TransactionStatus {
    return this.#real?.getTransactionStatus() ?? null;
  }

  /** One after the other, as on a wire. */
  ask(statement: Statement): Promise<pg.QueryResult> {
    const answer = this.#last.then(() => this.#ask(statement));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#giveBack();
  }

  /** Until it breaks. */
  fallSilent(): void {
    this.#isSilent = true;
    void this.#giveBack().then(() => connections.add(this));
  }

  break(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#breaking.resolve();
    void this.#giveBack();
    const { process } = this;
    if (process === null || process.isDead) return;
    this.#host.time.after(0, () => this.#onBreak(terminated()), process);
  }

  async #ask(statement: Statement): Promise<pg.QueryResult> {
    const { process } = this;
    if (process?.isDead === true) return never();
    // What locks rows does not wait for time to pass: others may wait for it with a real server.
    if (!this.#isInTransaction) await this.#travel();
    if (this.#isSilent) return this.#hearNothing(statement);
    const word = statement.text.trimStart().slice(0, 24).replaceAll(/\s+/g, ' ');
    if (!this.#isBroken && this.#host.random.chance(line.lost)) this.break();
    if (this.#isBroken) throw terminated();
    if (isLast(process)) return this.#dies('before', word);
    const result = await this.#answer(statement);
    if (isLast(process)) return this.#dies('after', word);
    if (this.#isSilent) return this.#hearNothing(statement);
    if (this.#host.random.chance(line.answerLost)) {
      this.#host.reach(/^commit/i.test(word) ? 'commit unknown' : 'answer of the database lost');
      this.break();
    }
    if (this.#isBroken) throw terminated();
    if ('error' in result) throw result.error;
    return result.value;
  }

  async #answer(statement: Statement): Promise<{ value: pg.QueryResult } | { error: unknown }> {
    const real = this.#real;
    if (real === null) return { error: terminated() };
    showTime();
    const lock = waitsForOther
      .exec(statement.text)
      ?.slice(1)
      .find((name) => name !== undefined);
    if (lock !== undefined) await this.#waitForLock(lock);
    // Nobody waits with a real server: time would stand still for everybody.
    if (this.process?.isDead === true) return never();
    if (this.#real !== real) return { error: terminated() };
    const { text, values, rowMode, types } = statement;
    const asked = { text: text.replaceAll(clocks, 'machine.now()'), values, rowMode, types };
    const answer = queried(real, asked as pg.QueryConfig).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    this.#answering = answer;
    const result = await answer;
    this.#isInTransaction = real.getTransactionStatus() !== 'I';
    if (!this.#isInTransaction) this.#unlock();
    return result;
  }

  #answering: Promise<unknown> = Promise.resolve();

  /** In the machine's time: who has the lock may need some of it before it gives it back. */
  async #waitForLock(name: string): Promise<void> {
    while (this.#real !== null && !isLast(this.process)) {
      const holder = locked.get(name);
      if (holder === undefined || holder === this) return void locked.set(name, this);
      await this.#host.time.sleep(lookForLockMs, this.process);
    }
  }

  #unlock(): void {
    for (const [name, holder] of locked) if (holder === this) locked.delete(name);
  }

  async #hearNothing({ patienceMs }: Statement): Promise<never> {
    const patience = patienceMs === undefined ? never() : this.#host.time.sleep(patienceMs, this.process);
    await Promise.race([patience, this.#breaking.promise]);
    throw this.#isBroken ? terminated() : new Error('Query read timeout');
  }

  #dies(when: string, word: string): Promise<never> {
    this.#host.log(`killed ${when}`, `statement ${word}`);
    return never();
  }

  /** What was begun ends: nothing of it was done. */
  async #giveBack(): Promise<void> {
    connections.delete(this);
    const real = this.#real;
    this.#real = null;
    if (real === null) return;
    await standStill(this.#answering);
    await queried(real, 'ROLLBACK; UNLISTEN *; RESET ALL');
    this.#unlock();
    free.push(real);
  }

  #isCutOff(): boolean {
    return this.process !== null && line.cutOff.has(this.process);
  }

  async #travel(): Promise<void> {
    if (!line.isInstant) await this.#host.time.sleep(this.#host.random.between(0.1, 1.5), this.process);
  }
}

/** Whether a process is dead, or dies at this moment. */
function isLast(process: Process | null): boolean {
  return process !== null && (process.isDead || process.isLast());
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

function terminated(): Error {
  return Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
}

function refused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
}

type Ask = string | Statement;

interface ClientConfig {
  readonly connectionTimeoutMillis?: number;
  readonly query_timeout?: number;
  readonly options?: string;
  readonly types?: pg.CustomTypesConfig;
}

/** `Client` of the machine. */
export class Client extends EventEmitter {
  readonly #connection = new Connection((error) => {
    // Who does not listen has given it back.
    if (this.listenerCount('error') > 0) this.emit('error', error);
    this.emit('end');
  });
  readonly #config: ClientConfig;
  /** What is behind it, for those who do not wait for its end. */
  readonly connection = { stream: { destroy: (): void => this.#connection.break() } };

  constructor(config: ClientConfig = {}) {
    super();
    this.#config = config;
  }

  get isBroken(): boolean {
    return this.#connection.isBroken;
  }

  connect(): Promise<void> {
    return this.#connection.open(this.#config.connectionTimeoutMillis ?? 0, this.#config.options ?? '');
  }

  query(asked: Ask, values?: unknown[]): Promise<pg.QueryResult> {
    const { types, query_timeout: patienceMs } = this.#config;
    const own = { ...(types && { types }), ...(patienceMs !== undefined && { patienceMs }) };
    return this.#connection.ask({ ...own, ...statementOf(asked, values) });
  }

  getTransactionStatus(): TransactionStatus {
    return this.#connection.status;
  }

  end(): Promise<void> {
    return this.#connection.close();
  }
}

function statementOf(asked: Ask, values: unknown[] | undefined): Statement {
  const {
    text,
    values: own = values,
    rowMode,
    types,
  } = typeof asked === 'string' ? ({ text: asked } as Statement) : asked;
  return { text, ...(own !== undefined && { values: own }), ...(rowMode && { rowMode }), ...(types && { types }) };
}

interface PoolConfig extends ClientConfig {
  readonly max?: number;
}

/** What a pool gives away until `release`. */
type Lent = Client & { release(error?: unknown): void };

/** `Pool` of the machine: as many connections as it may have, and those who wait for one. */
export class Pool extends EventEmitter {
  readonly options: PoolConfig;
  readonly #idle: Client[] = [];
  readonly #waiting: (() => void)[] = [];
  #count = 0;
  ending = false;

  constructor(options: PoolConfig = {}) {
    super();
    this.options = options;
  }

  get totalCount(): number {
    return this.#count;
  }

  get idleCount(): number {
    return this.#idle.length;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  async connect(): Promise<Lent> {
    if (this.ending) throw new Error('Cannot use a pool after calling end on the pool');
    for (;;) {
      const known = this.#idle.pop();
      if (known !== undefined) return this.#lend(known);
      if (this.#count < (this.options.max ?? 10)) return this.#lend(await this.#open());
      await this.#turn();
    }
  }

  async query(asked: Ask, values?: unknown[]): Promise<pg.QueryResult> {
    const client = await this.connect();
    try {
      const result = await client.query(asked, values);
      client.release();
      return result;
    } catch (error) {
      client.release(client.isBroken ? error : undefined);
      throw error;
    }
  }

  async end(): Promise<void> {
    this.ending = true;
    await Promise.all(this.#idle.splice(0).map((client) => client.end()));
  }

  /** Somebody gives one back. */
  async #turn(): Promise<void> {
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    const patience = setTimeout(
      () => turn.reject(new Error('timeout exceeded when trying to connect')),
      this.options.connectionTimeoutMillis ?? 120_000,
    );
    try {
      await turn.promise;
    } finally {
      clearTimeout(patience);
      const at = this.#waiting.indexOf(turn.resolve);
      if (at >= 0) this.#waiting.splice(at, 1);
    }
  }

  async #open(): Promise<Client> {
    this.#count += 1;
    const client = new Client(this.options);
    try {
      await client.connect();
    } catch (error) {
      this.#free();
      throw error;
    }
    client.on('error', (error) => {
      const at = this.#idle.indexOf(client);
      if (at < 0) return;
      this.#idle.splice(at, 1);
      this.#free();
      this.emit('remove', client);
      if (this.listenerCount('error') > 0) this.emit('error', error, client);
    });
    this.emit('connect', client);
    return client;
  }

  #lend(client: Client): Lent {
    const release = (error?: unknown): void => {
      const isUseless = client.isBroken || this.ending;
      this.emit('release', error, client);
      if (isUseless || (error !== undefined && error !== false)) {
        void client.end();
        this.emit('remove', client);
        return this.#free();
      }
      this.#idle.push(client);
      this.#waiting.shift()?.();
    };
    this.emit('acquire', client);
    return Object.assign(client, { release });
  }

  #free(): void {
    this.#count -= 1;
    this.#waiting.shift()?.();
  }
}

export const { types, DatabaseError, escapeIdentifier, escapeLiteral } = pg;

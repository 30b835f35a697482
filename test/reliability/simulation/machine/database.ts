import { DatabaseSync as RealDatabase } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { theDisk } from './file-system.ts';
import { machine } from './machine.ts';
import type { Process } from './machine.ts';

let stored = new RealDatabase(':memory:');

/** Its statements, by their text. Each process that prepared them anew took a fifth of a life's time. */
const prepared = new Map<string, StatementSync>();

/** An empty disk has no ledger. */
export function eraseLedger(): void {
  stored.close();
  prepared.clear();
  locks.clear();
  stored = new RealDatabase(':memory:');
}

/**
 * @param isMarked it is one of dropcast's own copies, in `backups/`
 * @returns puts the ledger back as it is now
 */
export function copyOfLedger(isMarked = true): () => void {
  const made = stored
    .prepare(
      "SELECT name, sql, type FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type = 'table' DESC, rowid",
    )
    .all();
  const contents = made
    .filter(({ type }) => type === 'table')
    .map(({ name }) => ({ name: String(name), rows: storedRows(String(name)) }));
  const numbers = ['application_id', 'user_version'].map((name): [string, string] => [
    name,
    String(Object.values(stored.prepare(`PRAGMA ${name}`).get() ?? {})[0]),
  ]);
  return () => {
    eraseLedger();
    for (const [name, value] of numbers) stored.exec(`PRAGMA ${name} = ${value}`);
    for (const { sql } of made) stored.exec(String(sql));
    for (const { name, rows } of contents) rows.forEach((row) => insert(name, row));
    if (isMarked && contents.some(({ name }) => name === 'identity')) stored.exec('UPDATE identity SET is_copy = 1');
  };
}

function insert(table: string, row: Record<string, unknown>): void {
  // Columns that are computed are not written.
  const columns = stored
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map(({ name }) => String(name))
    .filter((name) => name in row);
  const places = columns.map(() => '?').join(', ');
  const values = columns.map((name) => row[name] as string | number | null);
  stored
    .prepare(`INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(', ')}) VALUES (${places})`)
    .run(...values);
}

/** What a process that dies in the middle of a transaction leaves: nothing of it. */
export function recoverLedger(): void {
  if (stored.isTransaction) stored.exec('ROLLBACK');
}

export function storedRows(table: string): readonly Record<string, unknown>[] {
  const isThere = preparedOnce('SELECT 1 FROM sqlite_master WHERE name = ?').get(table) !== undefined;
  return isThere ? preparedOnce(`SELECT * FROM ${table} ORDER BY rowid`).all() : [];
}

/** A database in memory answers these with its own values: what is set counts as set. */
const settings = /^\s*PRAGMA\s+(locking_mode|journal_mode|synchronous)\s*(?:=\s*(\w+))?\s*;?\s*$/i;
const settingValues: Readonly<Record<string, string | number>> = {
  exclusive: 'exclusive',
  wal: 'wal',
  full: 2,
  normal: 1,
};
const writes = /^\s*(?:insert|update|delete|commit|replace)\b/i;

/** `DatabaseSync` of the machine: it outlives processes, and every write is a moment at which the process may die. */
class LedgerDatabase {
  readonly #set = new Map<string, string | number>();
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    // The ledger of a machine is in memory; its file only has to be there.
    const file = theDisk().at(path);
    if (this.#isLedger && file.data.length === 0) theDisk().write(file, new Uint8Array(4096), 0, true);
  }

  /** All other databases are empty: only their lock is used. */
  get #isLedger(): boolean {
    return this.#path.endsWith('/ledger.db');
  }

  get isTransaction(): boolean {
    return stored.isTransaction;
  }

  location(): string {
    return this.#path;
  }

  exec(sql: string): void {
    if (sql.includes('SET is_copy = 1')) machine().reach('ledger copied');
    if (!this.#isLedger) return takeLock(this.#path);
    const [, name, value] = settings.exec(sql) ?? [];
    if (name !== undefined && value !== undefined) this.#set.set(name, settingValues[value.toLowerCase()] ?? value);
    else if (name === undefined) touch(sql, () => stored.exec(withOwnId(sql)));
  }

  prepare(sql: string): Statement {
    const [, name] = settings.exec(sql) ?? [];
    if (name !== undefined) return new Setting(this.#set.get(name) ?? '');
    return new Statement(sql, preparedOnce(sql));
  }

  function(name: string, ...rest: unknown[]): void {
    Reflect.apply(stored.function, stored, [name, ...rest]);
  }

  close(): void {
    if (this.#isLedger) recoverLedger();
    else locks.delete(this.#path);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** SQLite draws the id of a new ledger itself. The same seed needs the same id, and each ledger of a life another one. */
function withOwnId(sql: string): string {
  const id = Math.round(machine().time.elapsed * 1_000);
  return sql.replace('lower(hex(randomblob(16)))', `'${String(id).padStart(32, '0')}'`);
}

/** Who holds the lock of which file; the kernel frees those of the dead. */
const locks = new Map<string, Process | null>();

function takeLock(path: string): void {
  const holder = locks.get(path);
  if (holder?.isDead === false) throw refused('database is locked', 5);
  locks.set(path, machine().process);
}

function refused(message: string, errcode: number): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode, errstr: message });
}

/** A database in memory is what it is everywhere. */
export const DatabaseSync = new Proxy(LedgerDatabase, {
  construct: (Ledger, [path]: [string]) => (path === ':memory:' ? new RealDatabase(path) : new Ledger(path)),
});

/** Copies of the ledger are not simulated. */
export async function backup(_from: unknown, path: string): Promise<number> {
  theDisk().write(theDisk().open(path, 0o101), new Uint8Array(4096), 0, true);
  return 1;
}

function preparedOnce(sql: string): StatementSync {
  const statement = prepared.get(sql) ?? stored.prepare(sql);
  prepared.set(sql, statement);
  return statement;
}

class Statement {
  readonly #sql: string;
  readonly #real: StatementSync | null;

  constructor(sql: string, real: StatementSync | null) {
    this.#sql = sql;
    this.#real = real;
  }

  get(...values: never[]): unknown {
    return touch(this.#sql, () => this.#real?.get(...values));
  }

  all(...values: never[]): unknown {
    return touch(this.#sql, () => this.#real?.all(...values));
  }

  run(...values: never[]): unknown {
    return touch(this.#sql, () => this.#real?.run(...values));
  }

  iterate(...values: never[]): unknown {
    return this.#ownReal()?.iterate(...values) ?? [];
  }

  columns(): unknown {
    return this.#real?.columns() ?? [];
  }

  setReturnArrays(isOn: boolean): void {
    this.#ownReal()?.setReturnArrays(isOn);
  }

  setReadBigInts(isOn: boolean): void {
    this.#ownReal()?.setReadBigInts(isOn);
  }

  /** One that no later process gets, for what stays with a statement. */
  #ownReal(): StatementSync | null {
    prepared.delete(this.#sql);
    return this.#real;
  }
}

class Setting extends Statement {
  readonly #value: string | number;

  constructor(value: string | number) {
    super('', null);
    this.#value = value;
  }

  override get(): unknown {
    return { value: this.#value };
  }
}

/** Reads are free; a write may be refused, and may be the last thing that the process does. */
function touch<T>(sql: string, work: () => T): T {
  const host = machine();
  if (host.process?.isDead === true) throw refused('the process is dead', 10);
  if (!writes.test(sql)) return work();
  return host.callSync({ name: 'ledger', detail: sql.slice(0, 24) }, () => {
    if (!/^\s*commit/i.test(sql) && host.diskTrouble > 0 && host.random.chance(host.diskTrouble)) {
      host.reach('ledger refused a write');
      throw refused('database or disk is full', 13);
    }
    // It blocks the whole process, as an fsync does.
    if (/^\s*commit/i.test(sql)) host.time.elapsed += host.random.between(0, host.commitMs);
    return work();
  });
}

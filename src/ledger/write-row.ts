import { stateOf } from '../pipeline/file/facts.ts';
import type { Facts, FileState } from '../pipeline/file/facts.ts';
import { StaleRowError } from '../pipeline/file/ports.ts';
import type { AttemptFailure, Failure } from '../pipeline/file/failure.ts';
import { checksumOfLine } from './checksum.ts';
import { noteRequests } from './leftovers.ts';
import { rowOf } from './row.ts';
import type { Statements, StoredRow } from './statements.ts';

/** Adds the row of a new file, with the first line of its history. */
export function insertFacts(sql: Statements, facts: Facts): void {
  const row = rowOf(facts);
  const names = Object.keys(row);
  sql.run(
    `INSERT INTO file (${names.map(quoted).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    Object.values(row),
  );
  noteRequests(sql, null, facts);
  addHistory(sql, facts, facts.why ?? 'complete', facts.lastFailure);
}

/**
 * Writes a row upon the revision that its facts name; see `FileStore.save`.
 *
 * @throws {StaleRowError}
 */
export function saveFacts(sql: Statements, facts: Facts, note: string | undefined): Facts {
  const [before] = sql.rows('SELECT * FROM file WHERE id = ?', [facts.id]);
  if (before?.['rev'] !== facts.rev) {
    throw new StaleRowError(`file ${facts.id}: expected revision ${facts.rev}, found ${before?.['rev'] ?? 'no row'}`);
  }
  const saved: Facts = { ...facts, rev: facts.rev + 1 };
  noteRequests(sql, tokensOf(before), saved);
  update(sql, before, rowOf(saved));
  if (before['state'] !== stateOf(saved) || note !== undefined) {
    const isAnother = JSON.stringify(saved.lastFailure) !== before['last_failure'];
    addHistory(sql, saved, note ?? null, isAnother || standing.includes(stateOf(saved)) ? saved.lastFailure : null);
  }
  return saved;
}

/** In these a file is because of its last failure. */
const standing: readonly string[] = ['retrying', 'failed', 'held', 'skipped'] satisfies FileState[];

/** Adds a line to the history of a file, with the state it is in now. @param failure that the line tells */
export function addHistory(sql: Statements, facts: Facts, note: string | null, failure: Failure | null = null): void {
  const line = { file_id: facts.id, at: Date.now(), state: stateOf(facts), note, failure: failureOf(failure) };
  sql.run('INSERT INTO history (file_id, at, state, note, failure, checksum) VALUES (?, ?, ?, ?, ?, ?)', [
    ...Object.values(line),
    checksumOfLine(line),
  ]);
}

function failureOf(failure: Failure | null): string | null {
  if (failure === null) return null;
  const { kind, code, status = null } = failure;
  return JSON.stringify({ kind, code, status } satisfies AttemptFailure);
}

/** Only the columns that differ: SQLite rewrites every index on a column that it is given, even if the value is the same. */
function update(sql: Statements, before: StoredRow, after: StoredRow): void {
  const names = Object.keys(after).filter((name) => after[name] !== before[name]);
  const values = names.map((name) => after[name] ?? null);
  sql.run(`UPDATE file SET ${names.map((name) => `${quoted(name)} = ?`).join(', ')} WHERE seq = ?`, [
    ...values,
    before['seq'] ?? null,
  ]);
}

function tokensOf(row: StoredRow): Pick<Facts, 'intent' | 'suspects'> {
  return {
    intent: row['intent'] as Facts['intent'],
    suspects: JSON.parse(String(row['suspects'])) as Facts['suspects'],
  };
}

/** `end` is a word of SQL. */
function quoted(name: string): string {
  return `"${name}"`;
}

import { stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { StaleRowError } from '../pipeline/file/ports.ts';
import { checksumOf } from './checksum.ts';
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
  addHistory(sql, facts, facts.why ?? 'complete');
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
  if (before['state'] !== stateOf(saved) || note !== undefined) addHistory(sql, saved, note ?? null);
  return saved;
}

/** Adds a line to the history of a file, with the state it is in now. */
export function addHistory(sql: Statements, facts: Facts, note: string | null): void {
  const line = { file_id: facts.id, at: Date.now(), state: stateOf(facts), note };
  sql.run('INSERT INTO history (file_id, at, state, note, checksum) VALUES (?, ?, ?, ?, ?)', [
    ...Object.values(line),
    checksumOf(line),
  ]);
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

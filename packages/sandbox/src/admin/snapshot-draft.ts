import { createHash, randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { notJson } from '../http/input.ts';
import { createDraft } from '../store/database.ts';
import { storageTroubleOf } from '../store/storage-trouble.ts';
import { rowInsert, tableNames, type Sequences } from '../store/tables.ts';
import { jsonPieces, type IsEntered, type JsonPath, type JsonPiece } from './json-pieces.ts';
import {
  checkedField,
  mediaFile,
  refusal,
  requireSame,
  rowCheck,
  snapshotFields,
  type SnapshotField,
} from './snapshot-document.ts';

/** The content of a snapshot, unpacked into files because a document may be larger than memory. */
export interface SnapshotDraft {
  /** Path of a database that holds the rows. */
  readonly rows: string;
  readonly sequences: Sequences;
  readonly videoCount: number;
  /** Number of videos that have a file. */
  readonly fileCount: number;
  /** Paths of the files in the document, by video id. */
  readonly media: ReadonlyMap<string, string>;
}

/**
 * Unpacks the document as it arrives, and checks everything except the references between its rows.
 *
 * @param texts the document in chunks of any size @param folder for the files
 * @param cleanup removes the files, even after an incomplete run
 * @throws ApiError 400 the document is not JSON, 422 it is not a snapshot of this sandbox
 */
export async function unpackSnapshot(
  texts: AsyncIterable<string>,
  folder: string,
  cleanup: AsyncDisposableStack,
): Promise<SnapshotDraft> {
  const rows = join(folder, randomUUID());
  cleanup.defer(() => rm(rows, { force: true }));
  const database = createDraft(rows);
  cleanup.defer(() => {
    if (database.isOpen) database.close();
  });
  const unpacking = new Unpacking(database, folder, cleanup);
  try {
    for await (const piece of jsonPieces(texts, isEntered)) await unpacking.take(piece);
  } catch (error) {
    throw error instanceof SyntaxError ? notJson() : error;
  }
  const content = unpacking.finished();
  database.exec('COMMIT');
  database.close();
  return { rows, ...content };
}

/** Enters the document, its `tables` and `media`, and the row array of each table. */
const isEntered: IsEntered = ([field, table, row], kind) => {
  if (table === undefined) return kind === 'object' && (field === undefined || field === 'tables' || field === 'media');
  return kind === 'array' && field === 'tables' && row === undefined;
};

class Unpacking {
  readonly #database: DatabaseSync;
  readonly #folder: string;
  readonly #cleanup: AsyncDisposableStack;
  readonly #tables: readonly string[];
  readonly #fields = new Map<string, unknown>();
  readonly #seen = new Set<string>();
  readonly #media = new Map<string, { readonly path: string; readonly sha256: string }>();
  #takeRow: (row: unknown, place: string) => void = () => undefined;

  constructor(database: DatabaseSync, folder: string, cleanup: AsyncDisposableStack) {
    this.#database = database;
    this.#folder = folder;
    this.#cleanup = cleanup;
    this.#tables = tableNames(database);
  }

  async take(piece: JsonPiece): Promise<void> {
    const [field, name, index] = piece.path;
    if (index !== undefined && 'value' in piece) return this.#takeRow(piece.value, piece.path.join('.'));
    this.#requireFirst(piece.path);
    if (!('value' in piece)) return this.#open(piece.path);
    if (field === 'media' && name !== undefined) return this.#takeMedia(String(name), piece.value);
    if (!isField(field))
      throw refusal(nameOf(piece.path), name === undefined ? formOf(field) : 'must be an array of rows');
    this.#fields.set(field, checkedField<unknown>(piece.value, snapshotFields[field], field));
  }

  /** @throws ApiError 422 something is missing, or the media do not match the rows */
  finished(): Omit<SnapshotDraft, 'rows'> {
    requireSame([...this.#fields.keys()].toSorted(), Object.keys(snapshotFields).toSorted(), 'The document');
    const tables = this.#tables.filter((table) => this.#seen.has(`tables.${table}`));
    requireSame(tables, this.#tables, 'tables');
    const sequences = this.#fields.get('sequences') as Sequences;
    for (const table of Object.keys(sequences))
      if (!this.#tables.includes(table)) throw refusal(`sequences.${table}`, 'is unknown');
    const hash = this.#database.prepare('SELECT file_sha256 FROM videos WHERE id = ?');
    for (const [videoId, { sha256 }] of this.#media)
      if (hash.get(videoId)?.['file_sha256'] !== sha256)
        throw refusal(`media.${videoId}`, 'does not match the hash in the records');
    const counted = this.#database.prepare('SELECT COUNT(*) AS videos, COUNT(file_sha256) AS files FROM videos').get();
    return {
      sequences,
      videoCount: Number(counted?.['videos']),
      fileCount: Number(counted?.['files']),
      media: new Map([...this.#media].map(([videoId, { path }]) => [videoId, path])),
    };
  }

  /** Rejects duplicate names. In JSON the last one would win, but the rows of the first are already stored. */
  #requireFirst(path: JsonPath): void {
    const name = path.join('.');
    if (this.#seen.has(name)) throw refusal(nameOf(path), 'is given twice');
    this.#seen.add(name);
  }

  #open([field, table]: JsonPath): void {
    if (field !== 'tables' || table === undefined) return;
    const known = this.#tables.find((name) => name === table);
    if (known === undefined)
      throw refusal('tables', `has the unknown field ${JSON.stringify(String(table).slice(0, 60))}`);
    const check = rowCheck(this.#database, known);
    const insert = rowInsert(this.#database, known);
    this.#takeRow = (row, place) => fitOrRefuse(() => insert(check(row, place)));
  }

  async #takeMedia(videoId: string, value: unknown): Promise<void> {
    const bytes = Buffer.from(checkedField(value, mediaFile, `media.${videoId}`), 'base64');
    const path = join(this.#folder, randomUUID());
    this.#cleanup.defer(() => rm(path, { force: true }));
    this.#media.set(videoId, { path, sha256: createHash('sha256').update(bytes).digest('hex') });
    await writeFile(path, bytes, { mode: 0o600 });
  }
}

function isField(field: JsonPath[number] | undefined): field is SnapshotField {
  return typeof field === 'string' && Object.hasOwn(snapshotFields, field);
}

function nameOf(path: JsonPath): string {
  return path.length === 0 ? 'The document' : path.join('.');
}

function formOf(field: JsonPath[number] | undefined): string {
  return field === undefined || field === 'tables' || field === 'media' ? 'must be an object' : 'is unknown';
}

/**
 * Runs work that may fail because of the document. @throws ApiError 422 if it does, or the original error if the disk
 * is the cause
 */
export function fitOrRefuse<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (storageTroubleOf(error)) throw error;
    const isOfDatabase = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
    if (isOfDatabase || error instanceof TypeError)
      throw refusal('The document', `does not fit together: ${error.message}`);
    throw error;
  }
}

import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Evidence, FileOnDisk, LedgerRow, ListedRecord } from './evidence.ts';

/** What the ledger says: read from a copy after the end of every process, so that reading cannot change it. */
export async function readLedger(stateDir: string): Promise<Pick<Evidence, 'rows' | 'history'>> {
  const copy = await mkdtemp(join(tmpdir(), 'dropcast-ledger-'));
  try {
    const names = await readdir(stateDir).catch(() => [] as string[]);
    if (!names.includes('ledger.db')) return { rows: [], history: new Map() };
    for (const name of names.filter((one) => one.startsWith('ledger.db')))
      await copyFile(join(stateDir, name), join(copy, name));
    using database = new DatabaseSync(join(copy, 'ledger.db'));
    return read(database);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

function read(database: DatabaseSync): Pick<Evidence, 'rows' | 'history'> {
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  if (!tables.some(({ name }) => name === 'file')) return { rows: [], history: new Map() };
  const rows = database.prepare('SELECT * FROM file ORDER BY seq').all().map(rowOf);
  return { rows, history: historyOf(database.prepare('SELECT file_id, state FROM history ORDER BY seq').all()) };
}

/** @param lines of the table `history`, oldest first */
export function historyOf(lines: readonly Record<string, unknown>[]): Evidence['history'] {
  const history = new Map<string, string[]>();
  for (const { file_id: id, state } of lines)
    history.set(String(id), [...(history.get(String(id)) ?? []), String(state)]);
  return history;
}

/** @param row of the table `file` */
export function rowOf(row: Record<string, unknown>): LedgerRow {
  const plan = JSON.parse(String(row['plan'])) as { readonly title?: string } | null;
  const failure = JSON.parse(String(row['last_failure'])) as { readonly message?: string } | null;
  return {
    id: String(row['id']),
    path: join(String(row['folder']), String(row['path'])),
    state: String(row['state']),
    sha256: textOf(row['sha256']),
    videoId: textOf(row['video_id']),
    title: plan?.title ?? null,
    why: textOf(row['why']) ?? failure?.message ?? null,
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** What `dropcast suspects --json` prints: the records that it says may be empty. */
export function listedIn(output: string): readonly ListedRecord[] {
  const line = output.split('\n').find((one) => one.startsWith('{"v":1')) ?? '{"suspects":[]}';
  const { suspects } = JSON.parse(line) as {
    readonly suspects: readonly { readonly video_id: string | null; readonly title: string }[];
  };
  return suspects.map(({ video_id: videoId, title }) => ({ videoId, title }));
}

/** @param names of the files in the state directory, next to failures.jsonl */
export async function readExports(stateDir: string, names: readonly string[]): Promise<Evidence['exports']> {
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, await readFile(join(stateDir, name), 'utf8').catch(() => '')] as const),
    ),
  );
}

/** The link files below a directory, hidden ones too, with the video that each names; empty: it is not whole. */
export async function readLinkFiles(directory: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(directory, { recursive: true })).filter((name) =>
    /\.dropcast\.json$|\.link$/.test(name),
  );
  const read = async (name: string): Promise<readonly [string, string]> => {
    const path = join(directory, name);
    return [path, videoIn(await readFile(path, 'utf8'))];
  };
  return new Map(await Promise.all(names.map(read)));
}

function videoIn(text: string): string {
  try {
    return String((JSON.parse(text) as { readonly video_id?: unknown }).video_id);
  } catch {
    return '';
  }
}

/** Every regular file below a directory. */
export async function filesBelow(directory: string): Promise<readonly FileOnDisk[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        return { path, sha256: sha256Of(await readFile(path)) };
      }),
  );
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

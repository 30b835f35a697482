import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Makes files in folders, and a ledger in which all of them are done: `node known-ledger.ts ROOT DIRECTORY FILES
 * FOLDERS`, by the checkout that is measured, so that the ledger has its schema.
 */
const [root = '', directory = '', files = '0', folders = '1'] = process.argv.slice(2);
const inbox = join(directory, 'inbox');
const state = join(directory, 'state');
mkdirSync(inbox, { recursive: true });

const PLAN =
  '{"channel":"ch_main","title":"A title of some length","description":null,"tags":["news"],"publish":["feed_news"],"rule":"**"}';
const STATES = ['queued', 'awaiting upload', 'processing', 'awaiting publish', 'done'];

interface Openable {
  openLedger(stateDir: string): Promise<AsyncDisposable>;
}
const { openLedger } = (await import(join(root, 'src/ledger/ledger.ts'))) as Openable;
await (await openLedger(state))[Symbol.asyncDispose]();
fill();
// Gives the rows their checksums.
await (await openLedger(state))[Symbol.asyncDispose]();

function fill(): void {
  using database = new DatabaseSync(join(state, 'ledger.db'));
  database.exec('PRAGMA synchronous = OFF; BEGIN');
  const perFolder = Math.ceil(Number(files) / Number(folders));
  for (let n = 0; n < Number(files); n += 1) {
    const folder = `show-${Math.floor(n / perFolder) % 50}/day-${Math.floor(n / perFolder)}`;
    if (n % perFolder === 0) mkdirSync(join(inbox, folder), { recursive: true });
    const path = `${folder}/recording-${String(n).padStart(6, '0')}.mpg`;
    writeFileSync(join(inbox, path), String(n));
    add(database, n, path);
  }
  database.exec('COMMIT');
}

function add(database: DatabaseSync, n: number, path: string): void {
  const { dev, ino, size, birthtimeNs, mtimeNs, ctimeNs } = lstatSync(join(inbox, path), { bigint: true });
  const version = { dev, ino, birthtime_ns: birthtimeNs, mtime_ns: mtimeNs, ctime_ns: ctimeNs };
  const id = `f_${n.toString(16).padStart(12, '0')}`;
  insert(database, 'file', {
    ...Object.fromEntries(Object.entries(version).map(([name, value]) => [name, String(value)])),
    id,
    path,
    folder: inbox,
    size: Number(size),
    rev: 9,
    state: 'done',
    end: 'done',
    remote_status: 'ready',
    on_duplicate: 'skip',
    after_ready: '{"kind":"keep"}',
    suspects: '[]',
    published: '["feed_news"]',
    disposal: 'kept',
    dying: 0,
    replacements: 0,
    attempts: 0,
    discovered_at: 1,
    created_at: 1,
    uploaded_at: 1,
    ready_at: 1,
    ended_at: 1,
    video_id: `vid_${n}`,
    sha256: n.toString(16).padStart(64, '0'),
    plan: PLAN,
  });
  for (const state of STATES) insert(database, 'history', { file_id: id, at: Date.now(), state });
}

function insert(database: DatabaseSync, table: string, row: Readonly<Record<string, string | number>>): void {
  const columns = Object.keys(row).map((name) => `"${name}"`);
  const places = columns.map(() => '?').join(', ');
  database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`).run(...Object.values(row));
}

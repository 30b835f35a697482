import { DatabaseSync } from 'node:sqlite';

// node dump-ledger.ts LEDGER
//
// Prints the version of the schema, and every row of every table, as JSON. No daemon may run on the ledger.

const [path = ''] = process.argv.slice(2);
const database = new DatabaseSync(path, { readOnly: true });
const schema = Object.values(database.prepare('PRAGMA user_version').get() ?? {})[0];
const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
const rows = tables.map(({ name }) => [name, database.prepare(`SELECT * FROM "${String(name)}"`).all()] as const);
console.log(JSON.stringify({ schema, tables: Object.fromEntries(rows) }));

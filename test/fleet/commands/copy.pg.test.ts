import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { copyLedgerCommand, type CopyLedgerOptions } from '../../../src/fleet/commands/copy.ts';
import { lockInstance } from '../../../src/daemon/state/instance-lock.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { openPool } from '../../../src/fleet/postgres/pool.ts';
import { everyState } from '../../ledger/every-state.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase } from '../../support/postgres/server.ts';
import { scratchDirectory, type ScratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell } from '../../cli/api/fake-shell.ts';

async function hostWith(scratch: ScratchDirectory, settings: string): Promise<void> {
  await scratch.write(
    'dropcast.yaml',
    `service: { base_url: https://video.example.com/v1, api_key: !env KEY }
state_dir: state
host_name: ingest1
folders: [{ path: in, rules: [{ match: "**", channel: c }] }]
${settings}\n`,
  );
}

async function run(scratch: ScratchDirectory, options: CopyLedgerOptions): Promise<string> {
  const shell = fakeShell({ cwd: scratch.path, env: { KEY: 'abc' } });
  await copyLedgerCommand(shell, { config: scratch.file('dropcast.yaml'), ...options });
  return shell.out.text;
}

async function fill(scratch: ScratchDirectory): Promise<void> {
  await using ledger = await openLedger(scratch.file('state'));
  for (const facts of everyState()) await ledger.insert({ ...facts, folder: scratch.file('in') });
}

test('the ledger goes to the database of the configuration, and back to another state directory', async () => {
  await using scratch = await scratchDirectory();
  await using database = await freshDatabase();
  await hostWith(scratch, `ledger: ${database.url}`);
  await fill(scratch);
  const files = everyState().length;
  const said = await run(scratch, { to: true });
  expect(said).toMatch(
    new RegExp(`^Copied and compared ${files} files and ${files} lines of history to PostgreSQL at \\S+\\.\n`),
  );
  expect(said).toContain('\nNow start dropcast. ');
  await using pool = await openPool(placeAt(database.url), { hostName: 'test' });
  expect(await pool.rows('SELECT DISTINCT folder FROM file')).toEqual([{ folder: `ingest1:${scratch.file('in')}` }]);

  await hostWith(scratch, '');
  await scratch.write(
    'back.yaml',
    (await readFile(scratch.file('dropcast.yaml'), 'utf8')).replace('state_dir: state', 'state_dir: back'),
  );
  const json = JSON.parse(
    await run(scratch, { config: scratch.file('back.yaml'), from: database.url, json: true }),
  ) as {
    readonly tables: readonly { readonly table: string; readonly rows: number }[];
  };
  expect(json.tables.find(({ table }) => table === 'file')?.rows).toBe(files);
  await using ledger = await openLedger(scratch.file('back'));
  expect((await ledger.rows({ group: 'any', limit: 100 })).map(({ folder }) => folder)).toEqual(
    Array.from({ length: files }, () => scratch.file('in')),
  );
});

describe('nothing is copied', () => {
  test.for([
    [{}, /either --to ADDRESS, or --from/],
    [{ to: true, from: true }, /either --to ADDRESS, or --from/],
    [{ to: true }, /has no ledger; name the database/],
    [{ to: 'mysql://x' }, /not the address of a PostgreSQL database/],
    [{ to: 'postgres://u@127.0.0.1/d', passwordFile: 'nowhere' }, /cannot read nowhere/],
    [{ to: 'postgres://u@127.0.0.1:1/d' }, /connection refused/],
  ] as const)('when the command is %j', async ([options, why]) => {
    await using scratch = await scratchDirectory();
    await hostWith(scratch, '');
    await expect(run(scratch, options)).rejects.toThrow(why);
  });

  test('while a daemon runs with the state directory', async () => {
    await using scratch = await scratchDirectory();
    await using database = await freshDatabase();
    await hostWith(scratch, '');
    await using _ = await lockInstance(scratch.file('state'));
    await expect(run(scratch, { to: database.url })).rejects.toThrow(
      /dropcast runs with the state directory .*stop it first/,
    );
  });
});

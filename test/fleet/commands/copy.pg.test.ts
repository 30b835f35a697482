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
import { writeConfig, type Settings } from '../../support/configuration.ts';

const host: Settings = { host_name: 'ingest1', folders: [{ path: 'in' }] };

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
  await writeConfig(scratch, { ...host, ledger: database.url });
  await fill(scratch);
  const files = everyState().length;
  const said = await run(scratch, { to: true });
  expect(said).toMatch(
    new RegExp(`^Copied and compared ${files} files and ${files} lines of history to PostgreSQL at \\S+\\.\n`),
  );
  expect(said).toContain('\nNow start dropcast. ');
  await using pool = await openPool(placeAt(database.url), { hostName: 'test' });
  expect(await pool.rows('SELECT DISTINCT folder FROM file')).toEqual([{ folder: `ingest1:${scratch.file('in')}` }]);

  await writeConfig(scratch, host);
  await writeConfig(scratch, { ...host, state_dir: 'back' }, 'back.yaml');
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
    [{}, /either --to ADDRESS or --from/],
    [{ to: true, from: true }, /either --to ADDRESS or --from/],
    [{ to: true }, /has no ledger; name the database/],
    [{ to: 'mysql://x' }, /not the address of a PostgreSQL database/],
    [{ to: 'postgres://u@127.0.0.1/d', passwordFile: 'nowhere' }, /cannot read nowhere/],
    [{ to: 'postgres://u@127.0.0.1:1/d' }, /connection refused/],
  ] as const)('when the command is %j', async ([options, why]) => {
    await using scratch = await scratchDirectory();
    await writeConfig(scratch, host);
    await expect(run(scratch, options)).rejects.toThrow(why);
  });

  test('while a daemon runs with the state directory', async () => {
    await using scratch = await scratchDirectory();
    await using database = await freshDatabase();
    await writeConfig(scratch, host);
    await using _ = await lockInstance(scratch.file('state'));
    await expect(run(scratch, { to: database.url })).rejects.toThrow(
      /dropcast runs with the state directory .*stop it first/,
    );
  });
});

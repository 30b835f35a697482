import { expect, test } from 'vitest';
import { openInFile } from '../../ledger/opened-rows.ts';
import { openShared } from '../../fleet/postgres/open-shared.ts';
import { walk } from './same-ledger.ts';

const seeds = Array.from({ length: process.env['DROPCAST_LONG'] === undefined ? 20 : 200 }, (_, n) => n + 1);

const cutAll = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;

test('the same walk through files, feeds and faults leaves the same in a ledger in a file and on PostgreSQL', async () => {
  for (const seed of seeds) {
    await using inFile = await openInFile();
    await using shared = await openShared();
    const left = await walk(seed, { opened: inFile, cut: () => Promise.resolve() });
    const right = await walk(seed, { opened: shared, cut: async () => void (await shared.pool.rows(cutAll)) });
    expect(right, `seed ${seed}`).toEqual(left);
  }
});

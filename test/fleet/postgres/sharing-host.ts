import { openSharedRows } from '../../../src/fleet/postgres/open.ts';
import type { SharedRows, SharedRowsOptions } from '../../../src/fleet/postgres/open.ts';
import { openPool } from '../../../src/fleet/postgres/pool.ts';
import type { PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase } from '../../support/postgres/server.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

/** One host with its ledger in a database, its own state directory and its own connections. */
export interface SharingHost extends AsyncDisposable {
  readonly store: SharedRows;
  readonly pool: PostgresPool;
  readonly url: string;
  readonly stateDir: string;
}

export async function openHost(
  url: string,
  options: Partial<SharedRowsOptions> = {},
  wrap: (pool: PostgresPool) => PostgresPool = (pool) => pool,
): Promise<SharingHost> {
  await using stack = new AsyncDisposableStack();
  const { hostName = 'ingest1' } = options;
  const stateDir = options.stateDir ?? stack.use(await scratchDirectory()).path;
  const place = placeAt(url);
  const pool = wrap(stack.use(await openPool(place, { hostName })));
  const usual = { visible: () => null, repaired: () => undefined, settles: () => undefined, moved: () => undefined };
  const store = stack.use(await openSharedRows(pool, { place, hostName, ...usual, ...options, stateDir }));
  const parts = stack.move();
  return { store, pool, url, stateDir, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** The same, in a database of its own. */
export async function openAlone(options?: Partial<SharedRowsOptions>): Promise<SharingHost> {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await freshDatabase());
  const host = stack.use(await openHost(url, options));
  const parts = stack.move();
  return { ...host, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

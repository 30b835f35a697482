import { LedgerUnavailableError } from '../../pipeline/file/store-errors.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import type { Ask, PostgresPool } from './pool.ts';
import { steps as ours } from './steps.ts';
import type { Step } from './steps.ts';
import { isThereAlready } from './why-away.ts';

/** PostgreSQL schema for the ledger's tables. The database may contain other tables, too. */
export const ledgerSchema = 'dropcast';

/** Schema version of this release. */
export const knownSchema = ours.length;

interface Migration {
  readonly pool: Pick<PostgresPool, 'rows' | 'transaction'>;
  /** Display name, such as `PostgreSQL at db.example.com`. */
  readonly name: string;
  /** Database user, named in messages about missing grants. */
  readonly user: string;
  readonly steps?: readonly Step[];
}

/**
 * Upgrades the tables to this release's schema, each step in its own transaction, one host at a time. A newer schema is
 * used unchanged, unless one of its steps requires a newer release.
 *
 * @throws {LedgerError} with the reason; the failed step changed nothing
 */
export async function migrate(migration: Migration): Promise<void> {
  const { steps = ours, pool } = migration;
  for (let tries = 1; ; tries += 1) {
    const { schema } = await identify(migration);
    if (schema >= steps.length) return;
    const mayRepeat = schema === 0 && tries < mostTries;
    await explained(() => pool.transaction((ask) => doNext(ask, migration, schema === 0))).catch((error: unknown) => {
      if (!mayRepeat || !isThereAlready(error)) throw error;
    });
  }
}

/**
 * Attempts to create the first tables. An attempt fails if another host creates them at the same time, which can happen
 * only once.
 */
const mostTries = 3;

/**
 * Checks before any change that there is no ledger yet, or one that this release can use.
 *
 * @returns its schema version; 0: no ledger yet
 * @throws {LedgerError} if the tables belong to another program or a newer release, or a pooler drops our session
 *   settings
 */
export async function identify(migration: Migration): Promise<{ readonly schema: number }> {
  return explained(() => identifyBy(migration.pool.rows, migration));
}

async function identifyBy(ask: Ask, { name, steps = ours }: Migration): Promise<{ readonly schema: number }> {
  const [found] = await ask<{ tables: number; marked: string | null; path: string }>(
    `SELECT count(*) AS tables, to_regclass('${ledgerSchema}.schema_step')::text AS marked, current_setting('search_path') AS path
      FROM pg_class WHERE relnamespace = to_regnamespace('${ledgerSchema}') AND relkind IN ('r', 'p', 'v', 'm', 'f')`,
  );
  if (found?.path.startsWith(ledgerSchema) !== true)
    throw new LedgerError(`${name} loses our session settings, as poolers do: ledger must name PostgreSQL itself`);
  if (found.tables === 0) return { schema: 0 };
  if (found.marked === null) {
    throw new LedgerError(
      `${name} has a schema ${ledgerSchema} of another program: set another database in ledger, or remove that schema`,
    );
  }
  const [done] = await ask<{ schema: number | null; least: number | null }>(
    `SELECT max(step) AS schema, max(needs_at_least) AS least FROM ${ledgerSchema}.schema_step`,
  );
  const schema = done?.schema ?? 0;
  if ((done?.least ?? 0) > steps.length) {
    throw new LedgerError(
      `the ledger at ${name.replace(/^PostgreSQL at /, '')} has schema ${schema}, but this dropcast knows only ${steps.length}: ` +
        'install the newer version',
    );
  }
  return { schema };
}

/**
 * Runs the next step.
 *
 * @param isFirst whether there are no tables to lock yet; if two hosts create them at the same time, PostgreSQL lets
 *   one fail
 */
async function doNext(ask: Ask, migration: Migration, isFirst: boolean): Promise<void> {
  const { steps = ours } = migration;
  if (!isFirst) await ask(`LOCK TABLE ${ledgerSchema}.schema_step IN EXCLUSIVE MODE`);
  // Another host may have run the step in the meantime.
  const { schema } = await identifyBy(ask, migration);
  const step = steps[schema];
  if (step === undefined || isFirst !== (schema === 0)) return;
  if (schema === 0) await makeSchema(ask, migration);
  else await requireNobodyTooOld(ask, step);
  await ask(`SET LOCAL search_path TO ${ledgerSchema}`);
  await ask(step.text);
  await ask('INSERT INTO schema_step (step, needs_at_least) VALUES ($1, $2)', [schema + 1, step.needsAtLeast]);
}

async function makeSchema(ask: Ask, { name, user }: Migration): Promise<void> {
  const [found] = await ask<{ isthere: boolean; mayadd: boolean; maymake: boolean; database: string }>(
    `SELECT to_regnamespace('${ledgerSchema}') IS NOT NULL AS isthere, current_database() AS database,
      coalesce(has_schema_privilege(to_regnamespace('${ledgerSchema}'), 'CREATE'), false) AS mayadd,
      has_database_privilege(current_database(), 'CREATE') AS maymake`,
  );
  if (found === undefined || (found.isthere ? !found.mayadd : !found.maymake)) {
    const role = quoted(user);
    throw new LedgerError(
      `the user ${role} may not create the tables of the ledger in the database ${found?.database ?? ''} of ${name}: let an administrator ` +
        `run \`CREATE SCHEMA ${ledgerSchema} AUTHORIZATION ${role}; CREATE SCHEMA ${ledgerSchema}_jobs AUTHORIZATION ${role};\` there`,
    );
  }
  if (!found.isthere) await ask(`CREATE SCHEMA ${ledgerSchema}`);
  await ask(
    `CREATE TABLE ${ledgerSchema}.schema_step (step bigint PRIMARY KEY, needs_at_least bigint NOT NULL, at timestamptz NOT NULL DEFAULT now())`,
  );
}

/** Requires that no running host is too old for the step, which may drop something that an older release needs. */
async function requireNobodyTooOld(ask: Ask, { needsAtLeast }: Step): Promise<void> {
  const older = await ask<{ name: string; version: string }>(
    `SELECT name, version FROM ${ledgerSchema}.host WHERE schema < $1 AND stopped_at IS NULL
      AND heard_at > extract(epoch FROM clock_timestamp()) * 1000 - 15000 ORDER BY name`,
    [needsAtLeast],
  );
  const [first] = older;
  if (first === undefined) return;
  throw new LedgerError(
    `this dropcast changes the ledger in a way that dropcast ${first.version} cannot work with, and that version still runs on ` +
      `${older.map(({ name }) => name).join(', ')}: upgrade or stop it there first`,
  );
}

/** Turns a refusal by the database into a fatal error, for use while a ledger is being opened. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    throw new LedgerError(`the ledger cannot be opened: ${error.message}`, {
      cause: error,
    });
  }
}

/** Quotes a name for SQL, unless it is a plain word. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

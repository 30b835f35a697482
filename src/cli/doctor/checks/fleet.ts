import type { LedgerConfig } from '../../../config/config.ts';
import { hostsOf } from '../../../daemon/commands/hosts.ts';
import type { HostView } from '../../../view/hosts/host-view.ts';
import { fleetTroubles } from '../../../view/hosts/host-words.ts';
import { knownJobSchema } from '../../../fleet/examine-database.ts';
import type { DatabaseFacts } from '../../../fleet/examine-database.ts';
import { durationWords } from '../../../watch/clock.ts';
import { configOf, problem, SkippedError, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';

/** Facts about a fleet's database. */
export interface FleetFacts {
  readonly database: DatabaseFacts;
  readonly hosts: readonly HostView[];
}

/**
 * Examines the database.
 *
 * @returns the facts, or a sentence that explains the failure
 */
export type FleetProbe = (ledger: LedgerConfig, hostName: string) => Promise<FleetFacts | string>;

/**
 * Checks a fleet's database and hosts: whether the database is reachable and the right one, and whether the hosts
 * agree.
 */
export function fleetCheck(probe: FleetProbe): Check {
  return {
    name: 'fleet and its database',
    run: async (patient) => {
      const { ledger, hostName } = configOf(patient);
      if (ledger === null) throw new SkippedError('this is a single host');
      const facts = await probe(ledger, hostName);
      if (typeof facts !== 'string') return fleetVerdict(facts, ledger, patient.now);
      const why = 'while it is unreachable, uploads in flight continue and everything else waits, on every host';
      return [problem(facts, why, `psql '${ledger.url}' -c 'select 1'`)];
    },
  };
}

export const fleet = fleetCheck(askDatabase);

async function askDatabase(ledger: LedgerConfig, hostName: string): Promise<FleetFacts | string> {
  const { openPool } = await import('../../../fleet/postgres/pool.ts');
  const { examineDatabase } = await import('../../../fleet/examine-database.ts');
  const { openFleet } = await import('../../../fleet/open-member.ts');
  try {
    await using pool = await openPool(ledger, { hostName });
    const clock = { now: () => Date.now() };
    const database = await examineDatabase(pool, clock.now);
    const isReadable = database.hasTables && database.closedTables.length === 0;
    const { hosts } = isReadable ? await hostsOf(openFleet(pool, { name: hostName, clock }), null) : { hosts: [] };
    return { database, hosts };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Database connections per host. */
const perHost = 5;
const oldestVersion = 130_000;
const mostAheadMs = 30_000;

/**
 * Turns facts into findings. Pure.
 *
 * @param now epoch milliseconds
 */
export function fleetVerdict(
  { database, hosts }: FleetFacts,
  ledger: Pick<LedgerConfig, 'host' | 'tls' | 'database'>,
  now: number,
): readonly Finding[] {
  return [
    ...serverVerdict(database, ledger),
    ...grantVerdict(database, ledger),
    ...connectionVerdict(database, hosts),
    ...clockVerdict(database),
    ...schemaVerdict(hosts),
    ...jobVerdict(database),
    ...fleetTroubles({ away_since: null, away: null, hosts }, now).map(troubleFinding),
  ];
}

function serverVerdict(
  { version, versionNumber, isStandby, isEncrypted }: DatabaseFacts,
  { host, tls }: Pick<LedgerConfig, 'host' | 'tls'>,
): readonly Finding[] {
  return [
    isStandby &&
      problem(
        'the database is a standby: it takes no changes',
        'dropcast cannot start, and does nothing',
        'let ledger name the primary server, or promote this one: pg_ctl promote',
      ),
    versionNumber < oldestVersion &&
      problem(`the database is PostgreSQL ${version}`, 'dropcast needs version 13 or newer', 'upgrade the server'),
    !isEncrypted &&
      !isOnThisMachine(host) &&
      warning(
        `the connection to ${host} is not encrypted`,
        'anyone who can read that network sees the whole ledger, including upload addresses, which let anyone upload',
        tls ? 'turn on TLS there: ssl = on' : 'remove ledger.tls: false',
      ),
  ].filter((each) => each !== false);
}

function isOnThisMachine(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function grantVerdict(
  { user, hasTables, mayCreate, closedTables }: DatabaseFacts,
  { database }: Pick<LedgerConfig, 'database'>,
): readonly Finding[] {
  const name = JSON.stringify(user);
  const why = 'a starting host cannot create or read its tables';
  if (!hasTables && !mayCreate)
    return [
      problem(
        `the database has no dropcast tables, and ${user} may not create any`,
        why,
        `as its owner: GRANT CREATE ON DATABASE ${JSON.stringify(database)} TO ${name}    # docs/fleet.md`,
      ),
    ];
  if (closedTables.length === 0) return [];
  const more = closedTables.length > 3 ? ` and ${closedTables.length - 3} more` : '';
  return [
    problem(
      `${user} may not read and change ${closedTables.slice(0, 3).join(', ')}${more}`,
      why,
      `as their owner: GRANT USAGE ON SCHEMA dropcast, dropcast_jobs TO ${name}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA dropcast, dropcast_jobs TO ${name}`,
    ),
  ];
}

function connectionVerdict(
  { connections: { open, most } }: DatabaseFacts,
  hosts: readonly HostView[],
): readonly Finding[] {
  const needed = perHost * Math.max(1, hosts.filter(({ state }) => state !== 'stopped').length);
  const isFull = open + perHost > most;
  if (!isFull && needed <= most) return [];
  const what = isFull
    ? `${open} of ${most} connections of the database are open`
    : `the database takes ${most} connections, and the hosts need ${needed}`;
  return [
    warning(
      what,
      `each host has up to ${perHost}: a host that gets none waits as if the database were unreachable`,
      `ALTER SYSTEM SET max_connections = ${Math.max(100, 2 * (needed + open))};    # then restart PostgreSQL`,
    ),
  ];
}

function clockVerdict({ clockAheadMs }: DatabaseFacts): readonly Finding[] {
  if (Math.abs(clockAheadMs) < mostAheadMs) return [];
  const off = `${durationWords(Math.round(Math.abs(clockAheadMs) / 1_000) * 1_000)} ${clockAheadMs > 0 ? 'ahead of' : 'behind'}`;
  return [
    warning(
      `the clock of this host is ${off} that of the database`,
      'the times that it writes into rows are off by as much',
      'sudo timedatectl set-ntp true',
    ),
  ];
}

function schemaVerdict(hosts: readonly HostView[]): readonly Finding[] {
  const running = hosts.filter(({ state }) => state !== 'stopped' && state !== 'silent');
  const newest = Math.max(...running.map(({ schema }) => schema));
  const behind = running.filter(({ schema }) => schema < newest).map(({ name }) => name);
  if (behind.length === 0) return [];
  return [
    warning(
      `${behind.join(', ')} ${behind.length === 1 ? 'knows' : 'know'} older tables than the others`,
      'it keeps running until it is restarted, and then refuses to start until it is upgraded',
      'upgrade dropcast there',
    ),
  ];
}

function jobVerdict({ jobSchema }: DatabaseFacts): readonly Finding[] {
  if (jobSchema === null || jobSchema <= knownJobSchema) return [];
  return [
    problem(
      `the tables of pg-boss have version ${jobSchema}, and this dropcast knows ${knownJobSchema}`,
      'it does not start',
      'upgrade dropcast here: another host was upgraded',
    ),
  ];
}

/** Reports a fleet problem in the same words as `status`. */
function troubleFinding(what: string): Finding {
  return warning(what.replace(/\.$/, ''), 'the fleet has less capacity than it seems, or files wait', 'dropcast hosts');
}

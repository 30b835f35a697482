import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PostgresPool } from './postgres/pool.ts';
import { notifyOf } from './hints.ts';
import { createHostTable } from './host-table.ts';
import { joinFleet } from './hosts.ts';
import type { Member, MemberWorld } from './hosts.ts';
import { TableFleet } from './table-fleet.ts';
import type { TableFleetWorld } from './table-fleet.ts';

type Given = Pick<MemberWorld, 'name' | 'version' | 'schema' | 'clock' | 'logger' | 'waits' | 'found'>;

/**
 * Joins this host to the fleet in the pool's database.
 *
 * @param member.stateDir locked by this process, so its previous user has stopped
 * @throws {LedgerError} if another running member has the name
 */
export async function openMember(
  pool: PostgresPool,
  { stateDir, ...member }: Given & { readonly stateDir: string },
): Promise<Member> {
  const file = join(stateDir, 'host-instance');
  return joinFleet({
    ...member,
    ...tableOf(pool),
    before: await readFile(file, 'utf8').catch(() => null),
    // If this fails, the next start after a crash waits 15 s.
    keep: (instance) => writeFile(file, instance, { mode: 0o600 }).catch(() => undefined),
    announce: async () => void (await pool.rows(`SELECT ${notifyOf('hosts')}`)),
    rest: (ms) => delay(ms),
  });
}

/** Opens the fleet for a command on a host without a daemon. */
export function openFleet(pool: PostgresPool, asker: Pick<TableFleetWorld, 'name' | 'clock'>): TableFleet {
  return new TableFleet({ ...asker, ...tableOf(pool) });
}

function tableOf(pool: PostgresPool): Pick<TableFleetWorld, 'table' | 'hostsOf' | 'awaySince' | 'whyAway'> {
  return {
    table: createHostTable((text, values) => pool.rows(text, values)),
    hostsOf: async (ids) => {
      const rows = await pool.rows<{ id: string; host: string }>(
        'SELECT id, host FROM dropcast.file WHERE id = ANY($1) AND host IS NOT NULL',
        [ids],
      );
      return new Map(rows.map(({ id, host }) => [id, host]));
    },
    awaySince: () => pool.awaySince(),
    whyAway: () => pool.whyAway(),
  };
}

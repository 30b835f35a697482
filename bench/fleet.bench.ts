import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Bench, Build, Measured, Size } from './bench.ts';
import { until } from './child.ts';
import { startDaemons } from './fleet/daemons.ts';
import type { Daemons } from './fleet/daemons.ts';
import { startServer } from './fleet/server.ts';

export const bench: Bench = {
  about:
    'Daemons with one ledger on PostgreSQL, all on this machine, and a service that answers at once: small files per second, compared with a single daemon with SQLite; and what four daemons ask of PostgreSQL while they have nothing to do and know 100,000 files.',
  rounds: 3,
  rows: {
    sqlite: { what: 'small files from the drop to done, SQLite', unit: '/s' },
    one: { what: 'the same, PostgreSQL, 1 host', unit: '/s' },
    two: { what: 'the same, 2 hosts', unit: '/s' },
    four: { what: 'the same, 4 hosts', unit: '/s' },
    ratio: { what: '1 host on PostgreSQL compared with SQLite', unit: '×' },
    sqliteCpu: { what: 'CPU of the daemon for a file, SQLite', unit: 'ms' },
    oneCpu: { what: 'the same, PostgreSQL, 1 host', unit: 'ms' },
    fourCpu: { what: 'the same, all of 4 hosts', unit: 'ms' },
    oneServerCpu: { what: 'CPU of PostgreSQL for a file, 1 host', unit: 'ms' },
    fourServerCpu: { what: 'the same, 4 hosts', unit: 'ms' },
    perFileOne: { what: 'statements for a file, 1 host', unit: '' },
    perFile: { what: 'the same, 4 hosts', unit: '' },
    idle: { what: 'statements of an idle host', unit: '/s', most: 10 },
    idleMs: { what: 'time of PostgreSQL for them', unit: 'ms/s', most: 10 },
    idleCpu: { what: 'share of a core of an idle host', unit: '%', most: 1 },
    idleServerCpu: { what: 'share of a core of PostgreSQL for an idle host', unit: '%', most: 1 },
  },
  limit:
    'Hosts, PostgreSQL and the service share the cores of one machine, so files per second with more hosts say what this machine can do, not what a fleet can: what each file costs the hosts and PostgreSQL is what a fleet of machines is made of.',
  round: async (build, size) => {
    const files = size === 'full' ? 800 : 40;
    const sqlite = await rateOf(build, 1, files, null);
    const one = await rateOfFleet(build, 1, files);
    const two = await rateOfFleet(build, 2, files);
    const four = await rateOfFleet(build, 4, files);
    return {
      values: {
        sqlite: sqlite.rate,
        sqliteCpu: sqlite.cpuMs,
        oneCpu: one.cpuMs,
        fourCpu: four.cpuMs,
        oneServerCpu: one.serverCpuMs,
        fourServerCpu: four.serverCpuMs,
        perFileOne: one.statements / files,
        one: one.rate,
        two: two.rate,
        four: four.rate,
        ratio: one.rate / sqlite.rate,
        perFile: four.statements / files,
        ...(await idle(build, size)),
      },
    };
  },
};

interface Flow {
  /** Files per second. */
  readonly rate: number;
  /** CPU of all daemons for a file. */
  readonly cpuMs: number;
}

async function rateOfFleet(
  build: Build,
  members: number,
  files: number,
): Promise<Flow & { readonly statements: number; readonly serverCpuMs: number }> {
  await using server = await startServer();
  let before = 0;
  const flow = await rateOf(build, members, files, server.url, async () => {
    await server.forget();
    before = await server.cpuSeconds();
  });
  const serverCpuMs = (1_000 * ((await server.cpuSeconds()) - before)) / files;
  return { ...flow, statements: (await server.statements()).calls, serverCpuMs };
}

async function rateOf(
  build: Build,
  members: number,
  files: number,
  ledger: string | null,
  begin: () => Promise<void> = async () => undefined,
): Promise<Flow> {
  await using daemons = await startDaemons(build, { members, ledger });
  await begin();
  const before = await cpuSeconds(daemons);
  const startedAt = performance.now();
  // Their sizes differ: equal ones would be compared by their content.
  for (let n = 0; n < files; n += 1)
    writeFileSync(join(daemons.inboxes[n % members] ?? '', `clip ${n}.mp4`), Buffer.alloc(1_000 + n));
  await until(async () => ((await daemons.counts())['done'] ?? 0) >= files, 100);
  const rate = (1_000 * files) / (performance.now() - startedAt);
  return { rate, cpuMs: (1_000 * ((await cpuSeconds(daemons)) - before)) / files };
}

async function cpuSeconds({ running }: Daemons): Promise<number> {
  const all = await Promise.all(running.map((each) => each.cpuSeconds()));
  return all.reduce((sum, each) => sum + each, 0);
}

async function idle(build: Build, size: Size): Promise<Measured['values']> {
  const files = size === 'full' ? 100_000 : 400;
  const seconds = size === 'full' ? 60 : 5;
  const members = 4;
  await using server = await startServer();
  const fill = (inboxes: readonly string[]): void => {
    for (let n = 0; n < files; n += 1) {
      const folder = join(inboxes[n % members] ?? '', `day ${Math.floor(n / 400)}`);
      if (n % 400 < members) mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `clip ${n}.mp4`), '');
    }
  };
  await using daemons = await startDaemons(build, { members, ledger: server.url, existing: 'ignore', before: fill });
  await until(async () => {
    const counts = Object.values(await daemons.counts());
    return counts.reduce((sum, count) => sum + count, 0) >= files;
  }, 1_000);
  // What follows the first scan, and the calm before pg-boss looks for silent hosts.
  await setTimeout(size === 'full' ? 30_000 : 1_000);
  const before = await cpuSeconds(daemons);
  const serverBefore = await server.cpuSeconds();
  await server.forget();
  await setTimeout(1_000 * seconds);
  const serverCpu = (await server.cpuSeconds()) - serverBefore;
  const { calls, ms } = await server.statements();
  return {
    idle: calls / seconds / members,
    idleMs: ms / seconds / members,
    idleCpu: (100 * ((await cpuSeconds(daemons)) - before)) / seconds / members,
    idleServerCpu: (100 * serverCpu) / seconds / members,
  };
}

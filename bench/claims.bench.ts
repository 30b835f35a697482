import { setTimeout } from 'node:timers/promises';
import { budgetTable } from '../src/fleet/shared-budget.ts';
import { serverTable } from '../src/fleet/postgres/outcome.ts';
import { lockTable } from '../src/fleet/postgres/statement.ts';
import { playBudget } from '../test/fleet/simulation/budget.ts';
import type { Bench, Measured, Size } from './bench.ts';
import { openMember } from './fleet/member.ts';
import type { Member } from './fleet/member.ts';
import { startServer } from './fleet/server.ts';
import type { Server } from './fleet/server.ts';

export const bench: Bench = {
  about:
    'What hosts of a fleet ask of PostgreSQL, without the files themselves: claims of files and requests of the shared budget, on a server on the same machine that writes to its disk at each commit; and a simulation of the budget of up to 200 hosts that all want more than 1,020 requests an hour, with the real gate.',
  rounds: 3,
  isOnlyAsShipped: true,
  rows: {
    claimStatements: { what: 'a claim and its release: statements', unit: '' },
    claimMs: { what: 'a claim and its release, one after the other, median', unit: 'ms' },
    claimMs99: { what: 'the same, p99', unit: 'ms' },
    takeStatements: { what: 'a request of the budget: statements', unit: '', most: 1.1 },
    takeMs: { what: 'a request of the budget, one after the other, median', unit: 'ms' },
    claims1: { what: 'claims and releases, 1 host, 4 at a time', unit: '/s' },
    claims2: { what: 'the same, 2 hosts', unit: '/s' },
    claims4: { what: 'the same, 4 hosts', unit: '/s' },
    quiet: { what: 'statements of a host that holds nothing', unit: '/s' },
    holding: { what: 'statements of a host that holds 4 files', unit: '/s' },
    use4: { what: 'budget used by 4 hosts (simulation)', unit: '%', least: 95 },
    share4: { what: 'of the mean share, the smallest of 4 hosts (simulation)', unit: '%', least: 75 },
    budget4: { what: 'statements of the budget, 4 hosts (simulation)', unit: '/s' },
    budget50: { what: 'the same, 50 hosts (simulation)', unit: '/s' },
    budget200: { what: 'the same, 200 hosts (simulation)', unit: '/s' },
  },
  round,
};

async function round(_build: unknown, size: Size): Promise<Measured> {
  const isFull = size === 'full';
  await using server = await startServer();
  await server.ask(`
    CREATE SCHEMA dropcast; ${budgetTable};
    CREATE TABLE dropcast.file (id text PRIMARY KEY, seq bigint NOT NULL);
    ${serverTable} ${lockTable}
    INSERT INTO dropcast.file SELECT 'f_' || n, n FROM generate_series(1, 100000) n`);
  await using stack = new AsyncDisposableStack();
  const members: Member[] = [];
  const join = async (count: number): Promise<void> => {
    while (members.length < count) {
      const member = stack.use(await openMember(server.url, `bench${members.length}`));
      members.push(member);
      // pg-boss looks up its queue with the first.
      await claimOne(member);
    }
  };
  await join(1);
  const single = await oneByOne(server, members, isFull ? 300 : 20);
  const rates: number[] = [];
  for (const count of [1, 2, 4]) {
    await join(count);
    rates.push(await claimsPerSecond(members, isFull ? 5_000 : 500));
  }
  return {
    values: {
      ...single,
      claims1: rates[0] ?? Number.NaN,
      claims2: rates[1] ?? Number.NaN,
      claims4: rates[2] ?? Number.NaN,
      ...(await statementsOfHosts(server, members, isFull ? 20_000 : 2_000)),
      ...(await simulated(isFull ? 60 : 5)),
    },
  };
}

/** A file that nobody else claims. */
let files = 0;
const nextFile = (): string => `f_${(files = (files % 100_000) + 1)}`;

async function claimOne({ leases }: Member): Promise<void> {
  const claim = await leases.claim(nextFile());
  if (claim === null) throw new Error('nobody else wanted it, and it was not granted');
  await claim.release();
}

async function oneByOne(server: Server, [member]: readonly Member[], times: number): Promise<Measured['values']> {
  if (member === undefined) return {};
  const cost = async (work: () => Promise<void>): Promise<readonly [statements: number, ...ms: number[]]> => {
    await work();
    await server.forget();
    const taken: number[] = [];
    for (let n = 0; n < times; n += 1) {
      const startedAt = performance.now();
      await work();
      taken.push(performance.now() - startedAt);
    }
    const sorted = taken.toSorted((a, b) => a - b);
    const at = (part: number): number => sorted[Math.floor(part * times)] ?? Number.NaN;
    return [(await server.statements()).calls / times, at(0.5), at(0.99)];
  };
  const [claimStatements, claimMs = Number.NaN, claimMs99 = Number.NaN] = await cost(() => claimOne(member));
  // Less the pause in which a host lets others go first.
  const [takeStatements, takeMs = Number.NaN] = await cost(() => member.gate.take('finish'));
  return { claimStatements, claimMs, claimMs99, takeStatements, takeMs };
}

async function claimsPerSecond(members: readonly Member[], ms: number): Promise<number> {
  const end = performance.now() + ms;
  let claims = 0;
  const work = async (member: Member): Promise<void> => {
    while (performance.now() < end) {
      await claimOne(member);
      claims += 1;
    }
  };
  await Promise.all(members.flatMap((member) => Array.from({ length: 4 }, () => work(member))));
  return (1_000 * claims) / ms;
}

async function statementsOfHosts(server: Server, members: readonly Member[], ms: number): Promise<Measured['values']> {
  const perSecond = async (): Promise<number> => {
    await server.forget();
    await setTimeout(ms);
    return ((await server.statements()).calls * 1_000) / ms / members.length;
  };
  const quiet = await perSecond();
  const claims = await Promise.all(
    members.flatMap((member) => Array.from({ length: 4 }, () => member.leases.claim(nextFile()))),
  );
  const holding = await perSecond();
  await Promise.all(claims.map(async (claim) => await claim?.release()));
  return { quiet, holding };
}

async function simulated(minutes: number): Promise<Measured['values']> {
  const play = (hosts: number, length = minutes) =>
    playBudget({ seed: hosts, hosts, minutes: length, limit: 1_020, restMs: 0 });
  const few = await play(4);
  return {
    use4: 100 * few.use,
    share4: 100 * few.leastShare,
    budget4: few.statements.perSecond,
    budget50: (await play(50)).statements.perSecond,
    budget200: (await play(200, minutes / 3)).statements.perSecond,
  };
}

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fleetCheck, fleetVerdict } from '../../../src/cli/doctor/checks/fleet.ts';
import type { Patient } from '../../../src/cli/doctor/patient.ts';
import { hostView } from '../../../src/view/hosts/host-view.ts';
import { knownJobSchema } from '../../../src/fleet/examine-database.ts';
import type { DatabaseFacts } from '../../../src/fleet/examine-database.ts';
import type { Host } from '../../../src/view/hosts/fleet-view.ts';
import { noon, someHost } from '../../fleet/fake-fleet.ts';

const fine: DatabaseFacts = {
  version: '15.10',
  versionNumber: 150_010,
  isStandby: false,
  isEncrypted: true,
  clockAheadMs: 0,
  connections: { open: 10, most: 97 },
  user: 'dropcast',
  hasTables: true,
  mayCreate: false,
  closedTables: [],
  jobSchema: knownJobSchema,
};
const ledger = { host: 'db.example.com', tls: true, database: 'media' };

function found(database: Partial<DatabaseFacts>, hosts: readonly Host[] = [someHost('a')], at = ledger) {
  const views = hosts.map((host) => hostView({ ...host, heardAt: host.isHeard ? noon : host.heardAt }, 'a'));
  return fleetVerdict({ database: { ...fine, ...database }, hosts: views }, at, noon);
}

test('a fleet in which all is well has no findings', () => {
  expect(found({})).toEqual([]);
});

test.each<[string, Partial<DatabaseFacts>, 'problem' | 'warning', string, string]>([
  ['a standby', { isStandby: true }, 'problem', 'is a standby', 'pg_ctl promote'],
  ['an old server', { versionNumber: 120_004, version: '12.4' }, 'problem', 'PostgreSQL 12.4', 'upgrade'],
  ['a plain connection', { isEncrypted: false }, 'warning', 'db.example.com is not encrypted', 'ssl = on'],
  ['a clock', { clockAheadMs: 600_000 }, 'warning', 'is 10 m ahead of that of the database', 'timedatectl'],
  ['a clock that is behind', { clockAheadMs: -31_000 }, 'warning', 'is 31 s behind that of', 'timedatectl'],
  ['a full server', { connections: { open: 93, most: 97 } }, 'warning', '93 of 97 connections', 'max_connections'],
  ['too few connections', { connections: { open: 0, most: 4 } }, 'warning', '0 of 4 connections', 'max_connections'],
  [
    'no right to make tables',
    { hasTables: false },
    'problem',
    'may not create any',
    'GRANT CREATE ON DATABASE "media"',
  ],
  [
    'tables that are closed',
    { closedTables: ['dropcast.file'] },
    'problem',
    'may not read and change dropcast.file',
    'GRANT',
  ],
  ['newer tables of pg-boss', { jobSchema: 99 }, 'problem', 'have version 99', 'upgrade dropcast here'],
])('%s is found, with what fixes it', (_, facts, level, what, fix) => {
  expect(found(facts)).toEqual([
    { level, what: expect.stringContaining(what), why: expect.any(String), fix: expect.stringContaining(fix) },
  ]);
});

test.each(['/run/postgresql', '127.0.0.1', 'localhost'])('a plain connection to %s is fine', (host) => {
  expect(found({ isEncrypted: false }, undefined, { ...ledger, host })).toEqual([]);
});

describe('hosts', () => {
  test.each<[string, readonly Host[], string]>([
    [
      'that need more connections than there are',
      Array.from({ length: 20 }, (_, n) => someHost(`h${n}`)),
      '97 connections, and the hosts need 100',
    ],
    ['with older tables', [someHost('a'), someHost('b', { schema: 3 })], 'b knows older tables than the others'],
    [
      'that are silent',
      [someHost('a'), someHost('b', { isHeard: false, heardAt: noon - 240_000 })],
      'b was last heard 4 m ago',
    ],
    ['of another version', [someHost('a'), someHost('b', { version: '0.4.0' })], 'different versions'],
    [
      'with a wrong clock',
      [someHost('a'), someHost('b', { clockAheadMs: 90_000 })],
      'The clock of b is 1 m 30 s ahead',
    ],
  ])('%s are found', (_, hosts, what) => {
    expect(found({}, hosts).map((each) => each.what)).toEqual([expect.stringContaining(what)]);
  });
});

describe('the check', () => {
  const patient = (over: object | null) =>
    ({
      config: over && {
        hostName: 'a',
        ledger: { ...ledger, url: 'postgres://dropcast@db.example.com/media' },
        ...over,
      },
      now: noon,
    }) as unknown as Patient;

  test('says why it cannot ask, and what tries it', async () => {
    const away = 'the ledger cannot be opened: PostgreSQL at db.example.com: connection refused (ECONNREFUSED)';
    const [finding] = await fleetCheck(async () => away).run(patient({}));
    expect(finding).toMatchObject({ level: 'problem', what: away, fix: expect.stringContaining('psql') });
  });

  test.each([
    ['on a single host', { ledger: null }, 'this is a single host'],
    ['without a configuration', null, 'the configuration is wrong'],
  ])('is not made %s', async (_, config, why) => {
    await expect(fleetCheck(async () => 'unreachable').run(patient(config))).rejects.toThrow(why);
  });
});

test('the version of the tables of pg-boss that is known is that of the package', () => {
  const main = createRequire(import.meta.url).resolve('pg-boss');
  const manifest = JSON.parse(readFileSync(join(dirname(dirname(main)), 'package.json'), 'utf8')) as {
    pgboss: { schema: number };
  };
  expect(manifest.pgboss.schema).toBe(knownJobSchema);
});

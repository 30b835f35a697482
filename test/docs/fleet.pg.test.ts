import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/config.ts';
import { openSharedRows } from '../../src/fleet/postgres/open.ts';
import { openPool } from '../../src/fleet/postgres/pool.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { needs } from '../support/needs.ts';
import { startCluster, type Cluster } from '../support/postgres/cluster.ts';
import { findPostgres } from '../support/postgres/programs.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';

/** docs/fleet.md is followed as it stands: only its host, its network and its paths are those of this machine. */
const page = await readFile(join(import.meta.dirname, '../../docs/fleet.md'), 'utf8');

function blocks(language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block = '']) => block);
}

test('the page is followed: server, roles, members, backup and restore', needs('postgres', 'bash'), async () => {
  await using cluster = await theServer();
  const [roles = [], grants = []] = Object.values(
    Object.groupBy(blocks('sql'), (block) => (block.includes('USAGE') ? 'b' : 'a')),
  );
  await asTheSuperuser(cluster, 'postgres', roles);
  await using scratch = await scratchDirectory();
  const config = await theMember(scratch, cluster);
  expect(config.hostName).toBe('ingest1');
  expect(config.ledger).toMatchObject({ user: 'dropcast', database: 'dropcast', tls: true });
  if (config.ledger === null) throw new Error('no ledger');

  await using pool = await openPool(config.ledger, { hostName: config.hostName });
  await using member = await openSharedRows(pool, {
    place: config.ledger,
    stateDir: scratch.file('state'),
    hostName: config.hostName,
    visible: () => null,
    repaired: () => undefined,
    settles: () => undefined,
    moved: () => undefined,
  });
  await member.insert(someFacts());
  await asTheSuperuser(cluster, 'dropcast', grants);
  expect(await pool.rows('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toEqual([{ ssl: true }]);

  await expectReaderOnlyReads(config);
  await expectNobodyElse(cluster);

  const ledger = new URL(config.ledger.url);
  ledger.password = config.ledger.password?.reveal() ?? '';
  ledger.search = `?sslmode=verify-full&sslrootcert=${cluster.ca}`;
  const [dump = '', restore = ''] = blocks('sh').filter((block) => block.includes('pg_'));
  await run(dump, scratch, ledger.href);
  await pool.rows(`update dropcast.file set path = 'lost.mp4'`);
  await pool.rows('create table dropcast.newer ()');
  await run(restore, scratch, ledger.href);
  expect(await pool.rows('select path from dropcast.file')).toEqual([{ path: 'clip.mp4' }]);
});

/** With the lines of postgresql.conf and pg_hba.conf. */
function theServer(): Promise<Cluster> {
  const [conf = ''] = blocks('ini');
  const [access = ''] = blocks('text');
  const lines = conf.split('\n').flatMap((line) => [...line.matchAll(/^(\w+) = '?([^']*?)'?$/g)]);
  const settings = Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value]));
  expect(Object.keys(settings)).toContain('ssl_cert_file');
  expect(access).toContain('192.0.2.0/24');
  return startCluster({
    tls: true,
    password: true,
    settings,
    access: access.replaceAll('192.0.2.0/24', '127.0.0.1/32'),
  });
}

async function asTheSuperuser(cluster: Cluster, database: string, sql: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: cluster.socketUrlOf(database) });
  await client.connect();
  for (const statement of sql.flatMap((block) => block.split(/;\n/)).filter((one) => one.trim() !== ''))
    await client.query(statement);
  await client.end();
}

async function theMember(scratch: ScratchDirectory, cluster: Cluster): Promise<Config> {
  const [yaml = ''] = blocks('yaml');
  await scratch.write('api_key', 'abc\n');
  await scratch.write('ledger_password', `${passwordOf('dropcast')}\n`);
  const file = await scratch.write(
    'dropcast.yaml',
    yaml.replace('@db.example.com/', `@127.0.0.1:${cluster.port}/`).replace('/etc/dropcast/ledger_ca.pem', cluster.ca),
  );
  const environment = { env: { CREDENTIALS_DIRECTORY: scratch.path }, cwd: scratch.path, home: scratch.path };
  const { config, problems } = await loadConfig(file, environment);
  expect(problems).toEqual([]);
  if (config === null) throw new Error('not valid');
  return config;
}

function passwordOf(role: string): string {
  return new RegExp(`CREATE ROLE ${role} LOGIN PASSWORD '(.*)'`).exec(page)?.[1] ?? '';
}

async function expectReaderOnlyReads({ ledger }: Config): Promise<void> {
  if (ledger === null) throw new Error('no ledger');
  const user = 'dropcast_reader';
  const place = { ...ledger, user, password: { reveal: () => passwordOf(user) } };
  await using pool = await openPool(place, { hostName: 'desk' });
  expect(await pool.rows('select path from dropcast.file')).toEqual([{ path: 'clip.mp4' }]);
  await expect(pool.rows('delete from dropcast.file')).rejects.toThrow('permission denied');
  await expect(pool.rows('create schema other')).rejects.toThrow('permission denied');
}

/** Also where pg_hba.conf would let them in. */
async function expectNobodyElse(cluster: Cluster): Promise<void> {
  const client = new Client({ connectionString: cluster.socketUrlOf('postgres') });
  await client.connect();
  await client.query(`create role stranger login password 'x'`);
  expect((await client.query(`select has_database_privilege('stranger', 'dropcast', 'connect') as may`)).rows).toEqual([
    { may: false },
  ]);
  await client.end();
}

async function run(command: string, scratch: ScratchDirectory, ledger: string): Promise<void> {
  const env = { PATH: `${findPostgres()}:${process.env['PATH']}`, LEDGER: ledger };
  const child = spawn('bash', ['-euc', command], { cwd: scratch.path, env, stdio: ['ignore', 'inherit', 'pipe'] });
  const [written] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(child.exitCode, `${command}\n${written}`).toBe(0);
}

import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { Client, type ClientConfig } from 'pg';
import { describe, expect, test } from 'vitest';
import { needs } from '../needs.ts';
import { OtherProcess } from '../other-process.ts';
import { scratchDirectory } from '../scratch-directory.ts';
import { until } from '../until.ts';
import { startCluster } from './cluster.ts';
import { freshDatabase, postgresServer } from './server.ts';

test('each test has a database of its own, which is gone after it, even with open connections', async () => {
  let name: string;
  {
    await using one = await freshDatabase();
    await using other = await freshDatabase();
    name = one.name;
    await ask(one.url, 'create table seen (a int)');
    await ask(other.url, 'create table seen (a int)');
    await connect(one.url);
  }
  expect(await ask(postgresServer().url, `select 1 from pg_database where datname = '${name}'`)).toEqual([]);
});

describe('a cluster', needs('postgres'), () => {
  test.for(['fast', 'immediate', 'killed'] as const)('keeps what was committed when it is stopped: %s', async (how) => {
    await using cluster = await startCluster();
    await ask(cluster.url, 'create table kept as select 1 as a');
    await (how === 'killed' ? cluster.kill() : cluster.stop(how));
    await expect(ask(cluster.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
    await cluster.start();
    expect(await ask(cluster.url, 'select a from kept')).toEqual([{ a: 1 }]);
    expect(await ask(cluster.url, 'show fsync')).toEqual([{ fsync: 'on' }]);
  });

  test('that is frozen does not answer until it is thawed', async () => {
    await using cluster = await startCluster();
    const client = await connect(cluster.url);
    cluster.freeze();
    let isAnswered = false;
    const answer = client.query('select 1').then(() => (isAnswered = true));
    await expect(ask(cluster.url, 'select 1', { connectionTimeoutMillis: 300 })).rejects.toThrow('timeout');
    expect(isAnswered).toBe(false);
    cluster.thaw();
    await answer;
  });

  test('that is killed while it is frozen leaves nothing behind that stops the next start', async () => {
    await using cluster = await startCluster();
    for (let n = 0; n < 3; n += 1) {
      cluster.freeze();
      await cluster.kill();
      await cluster.start();
    }
    expect(await ask(cluster.url, 'select 1 as a')).toEqual([{ a: 1 }]);
  });

  test('with a mistake in its settings does not start, and says why', async () => {
    await expect(startCluster({ settings: { max_connections: 'many' } })).rejects.toThrow(
      /ended instead of starting:[^]*invalid value for parameter "max_connections"/,
    );
  });

  test('with TLS and passwords refuses who has neither', async () => {
    await using cluster = await startCluster({ tls: true, password: true });
    await expect(ask(cluster.url, 'select 1')).rejects.toThrow('no encryption');
    const ssl = { ca: await readFile(cluster.ca, 'utf8') };
    expect(await ask(cluster.url, 'select ssl from pg_stat_ssl where pid = pg_backend_pid()', { ssl })).toEqual([
      { ssl: true },
    ]);
    const wrong = new URL(cluster.url);
    wrong.password = 'other';
    await expect(ask(wrong.href, 'select 1', { ssl })).rejects.toThrow('password authentication failed');
    expect(await ask(cluster.socketUrlOf('postgres'), 'select 1 as a')).toEqual([{ a: 1 }]);
  });

  test('has a standby, which has what was written and takes over', async () => {
    await using cluster = await startCluster({ standby: true });
    const { standby } = cluster;
    await ask(cluster.url, 'create table followed as select 1 as a');
    await until('it followed', async () => (await ask(standby?.url ?? '', 'select a from followed')).length === 1);
    await cluster.kill();
    await standby?.promote();
    expect(await ask(standby?.url ?? '', 'insert into followed values (2) returning a')).toEqual([{ a: 2 }]);
  });

  test('ends with the process that started it, however that ends', needs('/proc'), async () => {
    await using scratch = await scratchDirectory();
    await chmod(scratch.path, 0o755);
    const script = `
      process.env.TMPDIR = ${JSON.stringify(scratch.path)};
      const { startCluster } = await import(${JSON.stringify(new URL('cluster.ts', import.meta.url).href)});
      const { pid } = await startCluster();
      console.log(pid);
      setInterval(() => {}, 1000);`;
    await using owner = new OtherProcess(script);
    await owner.hasWritten(1);
    const [pid] = owner.lines();
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    owner.signal('SIGKILL');
    await until('the server has ended', () => !existsSync(`/proc/${pid}`));
  });
});

/** Ends with the test's database. */
async function connect(url: string, options: ClientConfig = {}): Promise<Client> {
  const client = new Client({ connectionString: url, ...options });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function ask(url: string, statement: string, options: ClientConfig = {}): Promise<readonly unknown[]> {
  const client = await connect(url, options);
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

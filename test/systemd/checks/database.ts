import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { findPostgres, ownerOfClusters, runPostgres } from '../../support/postgres/programs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import type { Box } from '../box.ts';
import { execute } from '../execute.ts';
import { issueCertificate } from '../../../packages/sandbox/src/tls.ts';

/** PostgreSQL of this host, on the loopback interface of the box. Leaving its block ends and removes it. */
export interface Database extends AsyncDisposable {
  readonly port: number;
  /** PEM of the authority of its certificate. */
  readonly ca: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Runs the statements that the page wants once the first member has made its tables. */
  grant(): Promise<void>;
}

/** @param page docs/fleet.md, for its settings, rules of access and statements */
export async function databaseBeside(box: Box, page: string): Promise<Database> {
  await using made = new AsyncDisposableStack();
  const scratch = made.use(await scratchDirectory());
  const owner = ownerOfClusters() ?? { uid: 0, gid: 0 };
  await chown(scratch.path, owner.uid, owner.gid);
  const data = scratch.file('data');
  await runPostgres('initdb', ['-D', data, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);
  const issued = await issueCertificate(['127.0.0.1'], Date.now());
  await scratch.write('data/server.pem', issued.cert);
  const key = await scratch.write('data/server.key', issued.key);
  await chown(key, owner.uid, owner.gid);
  await chmod(key, 0o600);
  const block = (language: string): string =>
    new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1] ?? '';
  const access = block('text').replaceAll('192.0.2.0/24', '127.0.0.1/32');
  await scratch.write('data/pg_hba.conf', `local all all trust\n${access}`);
  await scratch.write('data/page.conf', block('ini'));
  const programs = findPostgres() ?? '';
  const as = ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--pdeathsig=QUIT', '--'];
  const settings = ['-c', `port=${port}`, '-c', `unix_socket_directories=${scratch.path}`];
  await execute(['sh', '-c', `echo "include 'page.conf'" >> ${data}/postgresql.conf`]);
  const psql = [
    join(programs, 'psql'),
    '-h',
    scratch.path,
    '-p',
    `${port}`,
    '-U',
    'postgres',
    '-v',
    'ON_ERROR_STOP=1',
  ] as const;
  let stop = (): Promise<void> => Promise.resolve();
  const start = async (): Promise<void> => {
    const server = spawn(...box.residentOutside([...as, join(programs, 'postgres'), '-D', data, ...settings]), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (part) => (said += String(part)));
    stop = async () => {
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
      stop = () => Promise.resolve();
    };
    await until('PostgreSQL answers', async () => (await execute([...psql, '-c', 'select 1'])).code === 0, {
      seen: () => said,
    });
  };
  made.defer(() => stop());
  await start();
  const run = async (statements: string, name = 'postgres'): Promise<void> => {
    const { code, stderr } = await execute([...psql, '-d', name], { input: statements });
    if (code !== 0) throw new Error(`${statements}${stderr}`);
  };
  const blocks = Array.from(page.matchAll(/^```sql\n(.*?)^```$/gms), ([, statements = '']) => statements);
  const needsTables = (statements: string): boolean => statements.includes('ON SCHEMA');
  for (const statements of blocks.filter((one) => !needsTables(one))) await run(statements);
  const kept = made.move();
  return {
    port,
    ca: issued.ca,
    stop: () => stop(),
    start,
    grant: async () => {
      for (const statements of blocks.filter(needsTables)) await run(statements, 'dropcast');
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The box has a network of its own, in which it is free. */
const port = 5432;

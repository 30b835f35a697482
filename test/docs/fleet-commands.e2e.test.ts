import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { dropcast, startDropcast } from '../e2e/dropcast-process.ts';
import type { DropcastProcess } from '../e2e/dropcast-process.ts';
import { startVideoHost } from '../e2e/video-host.ts';
import { needs } from '../support/needs.ts';
import { startCluster } from '../support/postgres/cluster.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/fleet.md'), 'utf8');

/** A command of the page, as it stands there. It is about ingest2, or whatever host it is given on. */
function command(start: string): readonly string[] {
  const [, found] = new RegExp(`(?:sudo )?dropcast (${start}[^\`\\n#]*)`).exec(page) ?? [];
  if (found === undefined) throw new Error(`the page has no command dropcast ${start}`);
  return found.trim().split(/ +/);
}

const [yaml = ''] = /(?<=^```yaml\n)[^]*?(?=^```$)/m.exec(page) ?? [];
const [ledger = ''] = /^ledger:\n(?: .*\n)+/m.exec(yaml) ?? [];
const password = /CREATE ROLE dropcast LOGIN PASSWORD '(.*)'/.exec(page)?.[1] ?? '';

/**
 * What docs/fleet.md tells to do with members is done with real processes: moving there, working on a member, a new password, retiring one,
 * and moving back. Its own are host names, commands and the configuration; addresses and paths are those of this machine, and systemd's part
 * is done by starting and stopping.
 */
test('the commands of the page, in order', needs('postgres'), async () => {
  await using cluster = await startCluster({ password: true });
  const admin = new Client({ connectionString: cluster.socketUrlOf('postgres') });
  await admin.connect();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => admin.end());
  await admin.query(`CREATE ROLE dropcast LOGIN PASSWORD '${password}'`);
  await admin.query('CREATE DATABASE dropcast OWNER dropcast');
  const service = stack.use(await startVideoHost({ processingMs: () => 0 }));
  const scratch = stack.use(await scratchDirectory());
  const nas = scratch.file('nas');
  await mkdir(nas);
  await scratch.write('api_key', `${service.key}\n`);
  await scratch.write('ledger_password', `${password}\n`);
  const env = { CREDENTIALS_DIRECTORY: scratch.path };

  const configOf = (name: string): string => scratch.file(`${name}.yaml`);
  const configure = async (name: string, hasLedger: boolean): Promise<void> => {
    const text = yaml
      .replace('https://video.example.com/v1', service.baseUrl)
      .replace(ledger, hasLedger ? ledger : '')
      .replace('@db.example.com/', `@127.0.0.1:${cluster.port}/`)
      .replace(/ +ca: .*\n/, '  tls: false\n')
      .replace('host_name: ingest1', `host_name: ${name}`)
      .replace('/mnt/nas/in', nas);
    await writeFile(configOf(name), `${text}state_dir: ${scratch.file(name)}\nstatus: { listen: off }\n`);
  };
  const give = async (name: string, args: readonly string[]): Promise<string> => {
    const ended = await dropcast([...args, '--config', configOf(name)], env);
    expect(ended, `${args.join(' ')}: ${ended.stderr}`).toMatchObject({ code: 0 });
    return ended.stdout;
  };
  const start = (name: string): DropcastProcess => stack.use(startDropcast(['run', '--config', configOf(name)], env));
  const hosts = async (): Promise<unknown> => {
    const { hosts } = JSON.parse(await give('ingest1', ['hosts', '--json'])) as {
      readonly hosts: readonly { readonly name: string; readonly state: string }[];
    };
    return Object.fromEntries(hosts.map(({ name, state }) => [name, state]));
  };
  const become = (expected: Record<string, string>): Promise<unknown> =>
    until(`hosts: ${JSON.stringify(expected)}`, async () => JSON.stringify(await hosts()) === JSON.stringify(expected));
  const drop = (name: string): Promise<void> => writeFile(join(nas, `${name}.mp4`), randomBytes(3_000));
  const done = async (name: string): Promise<readonly string[]> => {
    const { files } = JSON.parse(await give(name, ['ls', '--json', '--state', 'done'])) as {
      readonly files: readonly { readonly path: string }[];
    };
    return files.map(({ path }) => path.slice(nas.length + 1)).toSorted();
  };

  // A host with a ledger of its own moves there.
  await configure('ingest1', false);
  await drop('first');
  await give('ingest1', ['once']);
  await configure('ingest1', true);
  await give('ingest1', command('ledger copy --to'));
  expect(await done('ingest1')).toEqual(['first.mp4']);
  await configure('ingest1', false);
  expect(await dropcast(['once', '--config', configOf('ingest1')], env)).not.toMatchObject({ code: 0 });

  // Another joins it.
  await configure('ingest1', true);
  await configure('ingest2', true);
  let [one, two] = [start('ingest1'), start('ingest2')];
  await become({ ingest1: 'running', ingest2: 'running' });
  await drop('second');
  await until('it is done', async () => (await done('ingest2')).length === 2);

  // Work on a member.
  await give('ingest1', command('hosts drain ingest2 --wait'));
  await two.kill('SIGTERM');
  await become({ ingest1: 'running', ingest2: 'stopped' });
  two = start('ingest2');
  await become({ ingest1: 'running', ingest2: 'drained' });
  await give('ingest1', command('hosts drain ingest2 --undo'));
  await become({ ingest1: 'running', ingest2: 'running' });

  // A new password.
  await admin.query(`ALTER ROLE dropcast PASSWORD 'another one'`);
  await scratch.write('ledger_password', 'another one\n');
  await one.kill('SIGTERM');
  one = start('ingest1');
  await two.kill('SIGTERM');
  two = start('ingest2');
  await become({ ingest1: 'running', ingest2: 'running' });

  // One is retired.
  await give('ingest1', command('hosts drain ingest2 --wait'));
  await two.kill('SIGTERM');
  await become({ ingest1: 'running', ingest2: 'stopped' });
  await give('ingest1', command('hosts forget ingest2'));
  expect(await hosts()).toEqual({ ingest1: 'running' });

  // And back.
  await one.kill('SIGTERM');
  await give('ingest1', command('ledger copy --from'));
  await configure('ingest1', false);
  expect(await done('ingest1')).toEqual(['first.mp4', 'second.mp4']);
  await drop('third');
  await give('ingest1', ['once']);
  expect(await done('ingest1')).toEqual(['first.mp4', 'second.mp4', 'third.mp4']);
  expect([...service.videos.values()].map(({ title, bodies }) => `${title}: ${bodies.length}`)).toEqual([
    'first: 1',
    'second: 1',
    'third: 1',
  ]);
});

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { dropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import { startStation } from './station.ts';
import type { Station } from './station.ts';
import { needs } from '../support/needs.ts';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** Root is refused nothing: then the daemon runs as nobody. */
async function prepareStation(): Promise<Station> {
  const station = await startStation({
    isStarted: false,
    folders: [{ rescan: '1s' }],
    ...(isRoot && { uid: nobody }),
  });
  if (!isRoot) return station;
  for (const path of [station.scratch.path, station.scratch.file('inbox'), station.scratch.config])
    await chown(path, nobody, nobody);
  return station;
}

const tellings = (station: Station): readonly string[] =>
  station
    .daemon()
    .output()
    .split('\n')
    .filter((line) => line.includes('The folder '));

/** Runs the command that a message names, word for word; only sudo(8) is left out, which tests do not need. */
async function runRemedy(why: string): Promise<void> {
  const command = /`sudo (setfacl .*)`/su.exec(why)?.[1];
  if (command === undefined) return expect.fail(`no command in: ${why}`);
  await promisify(execFile)('bash', ['-c', command]);
}

test(
  'files and directories that the daemon may not read need a person within a minute, and the command that each message names is enough',
  needs('readable clone', 'setfacl'),
  async () => {
    await using station = await prepareStation();
    const at = (name: string): string => station.scratch.file('inbox', name);
    const closed: readonly [string, number, string][] = [
      ['secret.mpg', 0o600, 'unreadable'],
      ["it's a `secret`\n$(one).mpg", 0o600, 'unreadable'],
      ['closed', 0o700, 'closed_directory'],
      // Its names can be listed, and nothing more.
      ['listed', 0o704, 'closed_directory'],
    ];
    const files = ['secret.mpg', "it's a `secret`\n$(one).mpg", 'closed/one.mpg', 'closed/two.mpg', 'listed/three.mpg'];
    for (const name of files) await station.drop(name);
    // A sidecar that cannot be read holds its video.
    await station.drop('titled.mpg');
    await station.drop('titled.yaml', 'title: Mine');
    for (const [name, mode] of [...closed, ['titled.yaml', 0o600] as const]) {
      await chmod(at(name), mode);
      if (isRoot) await chown(at(name), 0, 0);
    }
    await station.drop('open.mpg');
    await station.start();
    await station.reaches('open.mpg', 'done');
    const held = async () => (await station.files()).files.filter(({ state }) => state === 'held');
    await until('they are held', async () => (await held()).length === closed.length + 1);
    const entries = await held();
    expect(new Map(entries.map(({ path, cause }) => [path, cause]))).toEqual(
      new Map([...closed.map(([name, , cause]) => [at(name), cause] as const), [at('titled.mpg'), 'sidecar']]),
    );
    const shown = async (...command: string[]) => dropcast([...command, '--config', station.scratch.config]);
    const status = await shown('status');
    expect(status.code).toBe(1);
    const lists = [
      status,
      await shown('ls'),
      await shown('explain', at('secret.mpg')),
      await shown('show', at('closed')),
      await shown('explain', at('closed/one.mpg')),
    ];
    for (const { stdout } of lists) expect(stdout).toContain('sudo setfacl -m u:');
    expect((await shown('doctor')).stdout).toContain('5 files need you');
    for (const { why } of entries) await runRemedy(why ?? '');
    for (const name of [...files, 'titled.mpg']) await station.reaches(name, 'done');
    await until('nothing is held', async () => (await held()).length === 0);
  },
);

test.for([0o000, 0o444])(
  'a folder that is closed to the daemon (mode %o) is frozen, said once, and watched once it is open',
  needs('readable clone'),
  async (mode) => {
    await using station = await prepareStation();
    const inbox = station.scratch.file('inbox');
    await station.drop('before.mpg');
    await chmod(inbox, mode);
    await station.start();
    const folder = async () => (await station.status()).folders[0];
    expect(await folder()).toMatchObject({
      state: 'frozen',
      why: expect.stringContaining('may not open the directory'),
    });
    // Several scans, and the answers of watches that were opened in vain.
    const cpu = cpuSeconds(station);
    // A moment in which nothing is to happen: processor time, not time.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(cpuSeconds(station) - cpu).toBeLessThan(1);
    expect(tellings(station)).toEqual([expect.stringMatching(/The folder waits/)]);
    const { stdout } = await dropcast(['status', '--config', station.scratch.config]);
    expect(stdout).toMatch(
      /^\S+\/inbox waits: user \S+ may not open the directory \S+\/inbox \(EACCES\); run `sudo setfacl/mu,
    );

    await chmod(inbox, 0o755);
    await until('it is watched', async () => (await folder())?.state === 'watching');
    await station.reaches('before.mpg', 'done');
    expect(tellings(station)).toHaveLength(2);
  },
);

test(
  'a directory in the folder that is closed to the daemon is named, and no longer once it is open',
  needs('readable clone'),
  async () => {
    await using station = await prepareStation();
    await station.drop('closed/clip.mpg');
    const closed = station.scratch.file('inbox', 'closed');
    if (isRoot) await chown(closed, nobody, nobody);
    await chmod(closed, 0o000);
    await station.start();
    const folder = async () => (await station.status()).folders[0];
    await until(
      'it is named',
      async () =>
        (await folder())?.why?.includes('may not open the directory "closed" (EACCES); run `sudo setfacl') === true,
    );
    await until('it is counted', async () => (await folder())?.paths.refused === 1);
    const { stdout } = await dropcast(['status', '--config', station.scratch.config]);
    expect(stdout).toContain('1 refused: "closed": it cannot be read (EACCES)');

    await chmod(closed, 0o755);
    await station.reaches('closed/clip.mpg', 'done');
    await until('all is watched', async () => (await folder())?.state === 'watching');
    expect(tellings(station)).toHaveLength(3);
  },
);

/** Of the daemon, in user and kernel mode (proc_pid_stat(5), fields 14 and 15, in ticks of 1/100 s). */
function cpuSeconds(station: Station): number {
  const stat = readFileSync(`/proc/${station.daemon().child.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

import { readFileSync } from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { dropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import { startStation } from './station.ts';
import type { Station } from './station.ts';
import { needs } from '../support/needs.ts';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** Root is refused nothing: then the daemon runs as nobody. */
async function prepareStation(folders?: (path: string) => string): Promise<Station> {
  const station = await startStation({
    isStarted: false,
    ...(folders !== undefined && { folders }),
    ...(isRoot && { uid: nobody }),
  });
  if (!isRoot) return station;
  for (const path of [station.scratch.path, station.scratch.file('inbox'), station.scratch.config])
    await chown(path, nobody, nobody);
  return station;
}

const oftenScanned = (path: string): string => `
  - path: ${path}/inbox
    settle: 300ms
    rescan: 1s
    rules: [{ match: "**", channel: ch_main }]
`;

const tellings = (station: Station): readonly string[] =>
  station
    .daemon()
    .output()
    .split('\n')
    .filter((line) => line.includes('A folder '));

test(
  'a file that the daemon may not read waits with the reason, and is uploaded once it may',
  needs('readable clone'),
  async () => {
    await using station = await prepareStation();
    await station.start();
    const path = await station.drop('secret.mpg');
    await chmod(path, 0o000);
    await station.drop('open.mpg');
    await station.reaches('open.mpg', 'done');
    const waiting = async () => (await station.files()).settling.find((file) => file.path === path);
    await until('it waits with the reason', async () => (await waiting())?.why?.includes('EACCES'));
    expect(station.videos('secret')).toHaveLength(0);
    const { stdout } = await dropcast(['status', '--config', station.scratch.config]);
    expect(stdout).toContain('1 settling');
    // A change of mode is a change of the file: it is looked at again at once, not at the next recheck.
    await chmod(path, 0o644);
    await station.reaches('secret.mpg', 'done');
  },
);

test.for([0o000, 0o444])(
  'a folder that is closed to the daemon (mode %o) is frozen, said once, and watched once it is open',
  needs('readable clone'),
  async (mode) => {
    await using station = await prepareStation(oftenScanned);
    const inbox = station.scratch.file('inbox');
    await station.drop('before.mpg');
    await chmod(inbox, mode);
    await station.start();
    const folder = async () => (await station.status()).folders[0];
    expect(await folder()).toMatchObject({
      state: 'frozen',
      why: expect.stringContaining('cannot be read (EACCES): '),
    });
    // Several scans, and the answers of watches that were opened in vain.
    const cpu = cpuSeconds(station);
    // A moment in which nothing is to happen: processor time, not time.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(cpuSeconds(station) - cpu).toBeLessThan(1);
    expect(tellings(station)).toEqual([expect.stringMatching(/warn.*frozen/i)]);
    const { stdout } = await dropcast(['status', '--config', station.scratch.config]);
    expect(stdout).toMatch(/^Folder \S+\/inbox: frozen: it cannot be read \(EACCES\): .*drop-in/mu);

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
    await using station = await prepareStation(oftenScanned);
    await station.drop('closed/clip.mpg');
    const closed = station.scratch.file('inbox', 'closed');
    if (isRoot) await chown(closed, nobody, nobody);
    await chmod(closed, 0o000);
    await station.start();
    const folder = async () => (await station.status()).folders[0];
    await until(
      'it is named',
      async () => (await folder())?.why?.includes('"closed" may not be watched (EACCES)') === true,
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

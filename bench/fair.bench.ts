import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { until } from './child.ts';
import { startStation } from './pace/station.ts';
import type { Station } from './pace/station.ts';

const gigabyte = 1_000_000_000;
const clipBytes = 5_000_000;
const clips = 12;

export const bench: Bench = {
  about:
    'Four files of 20 GB are being sent with four upload slots; then twelve clips of 5 MB are dropped next to them. How long until all clips are done, and what that costs the big ones.',
  rounds: 3,
  rows: {
    ready: { what: 'seconds until twelve clips are ready, next to four big files', unit: 's', most: 10 },
    slowdown: { what: 'how much slower the big files are while the clips are sent', unit: '×' },
  },
  round: async (build, size) => {
    await using station = await startStation(build, 500);
    await drop(station, 'big', 4, 20 * gigabyte);
    await until(async () => (await received(station)) > 0);
    await sleep(1_000);
    const before = await paceDuring(station, () => sleep(size === 'full' ? 5_000 : 2_000));
    const droppedAt = performance.now();
    await drop(station, 'clip', clips, clipBytes);
    const during = await paceDuring(station, () =>
      until(async () => ((await station.counts())['done'] ?? 0) >= clips, 100),
    );
    return { values: { ready: (performance.now() - droppedAt) / 1_000, slowdown: before / during } };
  },
};

/** Nothing is stored for them. Their sizes differ: equal ones would be compared by their content. */
async function drop({ inbox }: Station, name: string, count: number, bytes: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const path = join(inbox, `${name} ${n}.mp4`);
    await writeFile(path, '');
    await truncate(path, bytes + n);
  }
}

/** Bytes of the big files so far. */
async function received(station: Station): Promise<number> {
  const big = (await station.noted()).filter(({ title }) => title.startsWith('big'));
  return big.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0);
}

/** Bytes of the big files per second. */
async function paceDuring(station: Station, work: () => Promise<void>): Promise<number> {
  const [before, at] = [await received(station), performance.now()];
  await work();
  return (((await received(station)) - before) / (performance.now() - at)) * 1_000;
}

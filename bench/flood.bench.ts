import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Build } from './bench.ts';
import { until } from './child.ts';
import { caughtUp, watchedFolder } from './watched-folder.ts';

export const bench: Bench = {
  about:
    'Small files that another program drops into 1,000 new folders of a watched one all at once, written under a temporary name and renamed: how fast they get their rows in the ledger, from the first drop on, its settle time of 1 s included, while the service cannot be reached.',
  rounds: 1,
  rows: {
    rate: { what: '20,000 files: taken in', unit: 'files/s', least: 1_500 },
    cpu: { what: '20,000 files: CPU time each', unit: 'ms', most: 0.5 },
    peak: { what: '20,000 files: most memory', unit: 'MB', most: 150 },
    pause: { what: '20,000 files: longest pause of the event loop', unit: 'ms', most: 50 },
    missed: { what: '20,000 files: missed', unit: '', most: 0 },
    manyRate: { what: '100,000 files: taken in', unit: 'files/s', least: 1_500 },
    manyCpu: { what: '100,000 files: CPU time each', unit: 'ms', most: 0.5 },
    manyPeak: { what: '100,000 files: most memory', unit: 'MB', most: 150 },
    manyPause: { what: '100,000 files: longest pause of the event loop', unit: 'ms', most: 50 },
    manyMissed: { what: '100,000 files: missed', unit: '', most: 0 },
  },
  limit:
    'A quarter of the CPU is the thread pool: each file needs about thirteen questions to the file system, mostly one after the other, and a thread wakes up for each. The main thread, where a disk that hangs would stop everything, asks none of them. A file that waits takes 1.7 kB, half of it garbage, so memory grows while files come faster than they are taken in (docs/decisions/0040).',
  round: async (build, size) => {
    const some = await flood(build, size === 'full' ? 20_000 : 500);
    const many = await flood(build, size === 'full' ? 100_000 : 1_000);
    return {
      values: {
        ...some,
        manyRate: many.rate,
        manyCpu: many.cpu,
        manyPeak: many.peak,
        manyPause: many.pause,
        manyMissed: many.missed,
      },
    };
  },
};

interface Flood {
  readonly rate: number;
  readonly cpu: number;
  readonly peak: number;
  /** Milliseconds. */
  readonly pause: number;
  readonly missed: number;
}

async function flood(build: Build, files: number): Promise<Flood> {
  await using folder = await watchedFolder(build, 0);
  await using running = folder.run();
  await caughtUp(folder, running);
  await folder.longest(running);
  const cpuBefore = await running.cpuSeconds();
  const startedAt = performance.now();
  drop(folder.inbox, files);
  let taken = 0;
  let changedAt = performance.now();
  // Until nothing came for ten seconds: what is missed stays missed, or waits for the next scan.
  await until(async () => {
    const counts = Object.values((await folder.status())?.counts ?? {});
    const now = counts.reduce((sum, count) => sum + count, 0);
    if (now !== taken) changedAt = performance.now();
    taken = now;
    return taken >= files || performance.now() - changedAt > 10_000;
  }, 200);
  const cpuMs = 1_000 * ((await running.cpuSeconds()) - cpuBefore);
  return {
    rate: (1_000 * taken) / (changedAt - startedAt),
    cpu: cpuMs / taken,
    peak: (await running.memory()).peakMb,
    pause: (await folder.longest(running)).pause,
    missed: files - taken,
  };
}

/** Synchronous, as a copying program is. */
function drop(inbox: string, files: number): void {
  const folders = Math.min(1_000, files);
  for (let n = 0; n < files; n += 1) {
    const directory = join(inbox, `folder-${n % folders}`);
    if (n < folders) mkdirSync(directory);
    const part = join(directory, `${n}.mpg.part`);
    writeFileSync(part, String(n));
    renameSync(part, join(directory, `${n}.mpg`));
  }
}

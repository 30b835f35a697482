import { setTimeout } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { caughtUp, watchedFolder } from './watched-folder.ts';

export const bench: Bench = {
  about:
    'A daemon that has nothing to do, with 100,000 files that it knows in 1,000 folders: memory, share of a core and requests over two minutes after it caught up.',
  rounds: 1,
  rows: {
    rss: { what: 'memory', unit: 'MB', most: 150 },
    peak: { what: 'most memory so far, the start included', unit: 'MB' },
    cpu: { what: 'share of a core', unit: '%', most: 0.5 },
    requests: { what: 'requests to the service', unit: '', most: 0 },
  },
  limit:
    'A scan of all names each minute, which takes 0.18 s of a core for 1,000 directories (0.3 %), plus 20 ms every five seconds (0.4 %).',
  round: async (build, size) => {
    await using folder = await watchedFolder(build, size === 'full' ? 100_000 : 2_000);
    await using running = folder.run();
    await caughtUp(folder, running);
    const seconds = size === 'full' ? 120 : 3;
    const requests = async (): Promise<number> => (await folder.status())?.requests?.total ?? Number.NaN;
    const [before, asked] = [await running.cpuSeconds(), await requests()];
    await setTimeout(seconds * 1_000);
    const cpu = (100 * ((await running.cpuSeconds()) - before)) / seconds;
    const { rssMb, peakMb } = await running.memory();
    return { values: { rss: rssMb, peak: peakMb, cpu, requests: (await requests()) - asked } };
  },
};

import type { Bench } from './bench.ts';
import { until } from './child.ts';
import { caughtUp, watchedFolder } from './watched-folder.ts';

export const bench: Bench = {
  about:
    'The start of a daemon that knows 100,000 files in 1,000 folders, after a clean stop: when its control socket answers, when all files were seen, and what it used until nothing was left to do.',
  rounds: 3,
  rows: {
    socket: { what: 'the control socket answers', unit: 's', most: 1 },
    scanned: { what: 'all files were seen', unit: 's', most: 3 },
    cpu: { what: 'CPU time until nothing is left to do', unit: 's' },
    pause: { what: 'longest pause of the event loop after the socket answered', unit: 'ms', most: 50 },
    peak: { what: 'most memory', unit: 'MB', most: 150 },
  },
  limit:
    'All files are seen after the ledger was searched for damage, during which nothing else runs, and after a look at each file. By CPU time until nothing is left to do (perf), a sixth is the first scan, a quarter the thread pool, another sixth chokidar, which looks at each file again, and a seventh SQLite. The most memory is garbage of the start (docs/decisions/0040 and 0058).',
  round: async (build, size) => {
    await using folder = await watchedFolder(build, size === 'full' ? 100_000 : 2_000);
    const startedAt = performance.now();
    await using running = folder.run();
    const seconds = (): number => (performance.now() - startedAt) / 1_000;
    await until(async () => (await folder.status()) !== null, 20);
    const socket = seconds();
    await folder.longest(running);
    await until(async () => {
      const folders = (await folder.status())?.folders ?? [];
      return folders.length > 0 && folders.every(({ state }) => state === 'watching');
      // Each question costs the daemon some milliseconds, which it would need for the scan.
    }, 100);
    const scanned = seconds();
    await caughtUp(folder, running);
    const cpu = await running.cpuSeconds();
    return {
      values: {
        socket,
        scanned,
        cpu,
        pause: (await folder.longest(running)).pause,
        peak: (await running.memory()).peakMb,
      },
    };
  },
};

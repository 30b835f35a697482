import type { Bench, Point } from './bench.ts';
import { intakeOnly, onceOver, syncsPerFile, wholePipeline } from './growth/flow.ts';
import type { Flow } from './growth/flow.ts';

/** Thousands of files. */
const steps = { full: [1, 10, 100], small: [0.05, 0.2] } as const;

export const bench: Bench = {
  about:
    'Small files from a watched folder to the published feed, 1,000 to 100,000 of them, against a service in another process that answers at once: what each file costs, and whether that grows.',
  rounds: 1,
  rows: {
    cpu1: { what: 'CPU per file, 1,000 files', unit: 'ms', most: 6 },
    cpu10: { what: 'CPU per file, 10,000 files', unit: 'ms', most: 6 },
    cpu100: { what: 'CPU per file, 100,000 files', unit: 'ms', most: 6 },
    growth: { what: 'CPU per file, the most files against the fewest', unit: '×', most: 1.1 },
    pace: { what: 'files per second, the most files', unit: '/s', least: 100 },
    peak: { what: 'peak memory, the most files', unit: 'MB', most: 150 },
    once: { what: '`once`: CPU per file, 5,000 files', unit: 'ms', most: 6 },
    onceGrowth: { what: '`once`: CPU per file, 5,000 files against 1,000', unit: '×', most: 1.1 },
    syncs: { what: 'waits for the disk per file', unit: '' },
    intakeCpu: { what: 'intake alone: CPU per file, 20,000 files', unit: 'ms', most: 0.5 },
    intakePace: { what: 'intake alone: files per second', unit: '/s', least: 1_500 },
    intakePeak: { what: 'intake alone: peak memory', unit: 'MB', most: 150 },
  },
  plots: [{ title: 'CPU per file', x: 'files', y: 'ms', isLogX: true, series: ['CPU per file'] }],
  limit:
    'By processor time of all threads (perf, 2,500 files), 28 % goes to HTTP and connections, 23 % to the file system, 11 % to SQLite, 9 % to garbage collection, 7 % to the compiler of V8, 7 % to the ledger and 15 % to all other code. Create request and upload alone, without dropcast, take 0.8 ms for each file. The start takes 0.45 s, which is 0.45 ms for each of 1,000 files. The pace is limited by the disk: a file has about three commits, and the thread that does everything waits in them.',
  round: async (build, size) => {
    const flows: [thousands: number, flow: Flow][] = [];
    for (const thousands of steps[size]) flows.push([thousands, await wholePipeline(build, thousands * 1_000)]);
    const intake = await intakeOnly(build, size === 'small' ? 500 : 20_000);
    const onces = [
      await onceOver(build, size === 'small' ? 20 : 1_000),
      await onceOver(build, size === 'small' ? 100 : 5_000),
    ];
    const syncs = await syncsPerFile(build, size === 'small' ? 30 : 500);
    const [few, most] = [flows[0]?.[1], flows.at(-1)?.[1]];
    const cpu = flows.map(([thousands, { cpuMsPerFile }]): [string, number] => [`cpu${thousands}`, cpuMsPerFile]);
    return {
      values: {
        ...Object.fromEntries(cpu.filter(([name]) => name in bench.rows)),
        growth: (most?.cpuMsPerFile ?? Number.NaN) / (few?.cpuMsPerFile ?? Number.NaN),
        pace: most?.filesPerSecond ?? Number.NaN,
        peak: most?.peakMb ?? Number.NaN,
        once: onces[1] ?? Number.NaN,
        onceGrowth: (onces[1] ?? Number.NaN) / (onces[0] ?? Number.NaN),
        ...(syncs !== null && { syncs }),
        intakeCpu: intake.cpuMsPerFile,
        intakePace: intake.filesPerSecond,
        intakePeak: intake.peakMb,
      },
      series: { 'CPU per file': flows.map(([thousands, flow]): Point => [thousands * 1_000, flow.cpuMsPerFile]) },
    };
  },
};

import { join } from 'node:path';
import type { Bench, Build, Measured, Size } from './bench.ts';
import { output } from './child.ts';
import type { Hour, HourReport } from './virtual-hour.ts';

export const bench: Bench = {
  about:
    'One hour of the daemon on the virtual machine of the simulation: real daemon, virtual clock, disk and service; processing takes a ' +
    'minute. Against models of a poller for each file (create, GET every 15 s, publish) and of a bash loop of inotifywait and curl, ' +
    'which does the same one file after the other.',
  rounds: 1,
  isOnlyAsShipped: true,
  rows: {
    ready: { what: 'ready within 1,000 requests, 1,000 files dropped at once', unit: 'videos', least: 950 },
    perVideo: { what: 'requests per video of that', unit: '', most: 1.02 },
    readyOf100: { what: 'ready within 100 requests, 120 files dropped at once', unit: 'videos', least: 95 },
    poller: { what: 'ready within 1,000 requests, a poller for each file (model)', unit: 'videos' },
    loop: { what: 'ready within 1,000 requests, a loop of inotifywait and curl (model)', unit: 'videos' },
    known: { what: 'status → known, p95, a file a minute, `poll.interval` 15 s', unit: '× interval', most: 1.5 },
    // No target: the design has one only while the budget allows the interval.
    knownQuick: {
      what: 'the same, a file every four minutes, `poll.interval` 2 s: too short for 1,000 requests',
      unit: '× interval',
    },
  },
  plots: [{ title: 'Videos known to be ready', x: 'minute', y: 'videos', series: ['1,000 files, 1,000 requests'] }],
  round,
};

const processingSeconds = 60;
const pollSeconds = 15;

async function round(build: Build, size: Size): Promise<Measured> {
  const isFull = size === 'full';
  const many = isFull ? 1_000 : 120;
  const tight = await hourOf(build, { drops: atOnce(isFull ? 120 : 30), requestsPerHour: 100 });
  const bulk = isFull ? await hourOf(build, { drops: atOnce(many), requestsPerHour: 1_000 }) : null;
  const drip = Array.from({ length: isFull ? 55 : 10 }, (_, n) => 60 * n);
  const slow = await hourOf(build, { drops: drip, requestsPerHour: 1_000 });
  const rare = drip.filter((at) => at % 240 === 0);
  const quick = await hourOf(build, { drops: rare, requestsPerHour: 1_000, pollSeconds: 2, processingSeconds: 30 });
  return {
    values: {
      readyOf100: tight.ready,
      ...(bulk !== null && { ready: bulk.ready, perVideo: bulk.requests / bulk.created }),
      poller: poller(many, 1_000),
      loop: loop(many, 1_000),
      known: p95(slow.lags) / pollSeconds,
      knownQuick: p95(quick.lags) / 2,
    },
    ...(bulk !== null && { series: { '1,000 files, 1,000 requests': bulk.course } }),
  };
}

async function hourOf(
  { root, plainNode }: Build,
  hour: Pick<Hour, 'drops' | 'requestsPerHour'> & Partial<Hour>,
): Promise<HourReport> {
  const all: Hour = { root, pollSeconds, processingSeconds, ...hour };
  return JSON.parse(
    await output(plainNode, [join(import.meta.dirname, 'virtual-hour.ts'), JSON.stringify(all)]),
  ) as HourReport;
}

function atOnce(files: number): readonly number[] {
  return Array.from({ length: files }, () => 0);
}

/** Of one file: a create, a question at each interval until it is ready, a publish. */
const requestsOfPoller = 1 + Math.ceil(processingSeconds / pollSeconds) + 1;

/** Model: all at once, until the budget is used up. */
function poller(files: number, requests: number): number {
  return Math.min(files, Math.floor(requests / requestsOfPoller));
}

/** Model: one file after the other, each until it is ready and published. */
function loop(files: number, requests: number): number {
  const secondsEach = 1 + Math.ceil(processingSeconds / pollSeconds) * pollSeconds;
  return Math.min(files, Math.floor(3_600 / secondsEach), Math.floor(requests / requestsOfPoller));
}

function p95(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil(0.95 * sorted.length) - 1] ?? Number.NaN;
}

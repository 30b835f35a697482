import type * as theDaemon from '../src/daemon/daemon.ts';
import type * as theDatabase from '../test/reliability/simulation/machine/database.ts';
import type * as theDisk from '../test/reliability/simulation/machine/disk.ts';
import type * as theExchange from '../test/reliability/simulation/machine/exchange.ts';
import type * as theFileSystem from '../test/reliability/simulation/machine/file-system.ts';
import type * as theGlobals from '../test/reliability/simulation/machine/globals.ts';
import type * as theHooks from '../test/reliability/simulation/machine/hooks.ts';
import type * as theMachine from '../test/reliability/simulation/machine/machine.ts';
import type * as theRandom from '../test/reliability/simulation/machine/random.ts';
import type * as theService from '../test/reliability/simulation/service.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';

// A process of its own, because it replaces clocks, disk and network of everything that it loads: budget.bench.ts
// starts it.

/** One hour of a daemon on the virtual machine of the simulation. */
export interface Hour {
  /** Absolute: the checkout to measure. */
  readonly root: string;
  /** When each file is dropped, in seconds from the start. */
  readonly drops: readonly number[];
  readonly requestsPerHour: number;
  readonly pollSeconds: number;
  readonly processingSeconds: number;
}

/** What became of it. */
export interface HourReport {
  readonly requests: number;
  readonly created: number;
  /** Files that dropcast knows to be ready. */
  readonly ready: number;
  /** Seconds from a video being ready to the row that says so. */
  readonly lags: readonly number[];
  /** Minute → files known to be ready by then. */
  readonly course: readonly (readonly [number, number])[];
}

const hour = JSON.parse(process.argv[2] ?? '') as Hour;
const simulation = `${hour.root}/test/reliability/simulation`;
const load = async <T>(path: string): Promise<T> => (await import(`${simulation}/${path}`)) as T;

const { loadIntoMachine } = await load<typeof theHooks>('machine/hooks.ts');
loadIntoMachine();
const { replaceGlobals } = await load<typeof theGlobals>('machine/globals.ts');
const { startDaemon } = (await import(`${hour.root}/src/daemon/daemon.ts`)) as typeof theDaemon;
const { Machine, switchOn } = await load<typeof theMachine>('machine/machine.ts');
const { Disk } = await load<typeof theDisk>('machine/disk.ts');
const { insertDisk } = await load<typeof theFileSystem>('machine/file-system.ts');
const { eraseLedger, storedRows } = await load<typeof theDatabase>('machine/database.ts');
const { connectNetwork } = await load<typeof theExchange>('machine/exchange.ts');
const { Random } = await load<typeof theRandom>('machine/random.ts');
const { Service } = await load<typeof theService>('service.ts');
replaceGlobals();

const machine = new Machine(1);
switchOn(machine);
eraseLedger();
const disk = new Disk(machine.time);
insertDisk(disk);
for (const path of ['/state', '/etc', '/inbox']) disk.mkdir(path);
write('/etc/machine-id', '0123456789abcdef0123456789abcdef\n');
const service = new Service(machine, new Random(1, 'service'), {
  takesSecondBody: false,
  lagMs: 0,
  processingMs: 1_000 * hour.processingSeconds,
  addressMs: Infinity,
  isNewestFirst: true,
  wrapsData: false,
  failing: 0,
});
connectNetwork(service, { fateOf: () => 'ok' } as never);

for (const [n, seconds] of hour.drops.entries())
  machine.time.after(1_000 * seconds, () => write(`/inbox/clip_${n}.mp4`, `no container ${n}`), null);

const silent = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };
const daemonProcess = machine.boot(Infinity);
const started = startDaemon(config() as never, silent);
started.catch((error: unknown) => {
  throw error;
});
const course: (readonly [number, number])[] = [];
for (let minute = 1; minute <= 60; minute += 1) {
  await machine.time.runUntil(() => machine.time.elapsed >= 60_000 * minute);
  course.push([minute, knownRows().length]);
}
await nextTurn();
const videos = new Map(service.records().map((video) => [video.id, video]));
const beganAt = machine.time.wall - Math.floor(machine.time.elapsed);
const report: HourReport = {
  requests: service.journal.filter(({ what, said }) => what === 'request' && said !== 'put').length,
  created: videos.size,
  ready: knownRows().length,
  lags: knownRows().map((row) => lagOf(String(row['video_id']), Number(row['ready_at']))),
  course,
};
console.log(JSON.stringify(report));
daemonProcess.kill();
process.exit(0);

function knownRows() {
  return storedRows('file').filter((row) => row['ready_at'] !== null);
}

function lagOf(id: string, knownAt: number): number {
  const video = videos.get(id) as { readonly bytesAt?: number } | undefined;
  return (knownAt - beganAt - (video?.bytesAt ?? 0)) / 1_000 - hour.processingSeconds;
}

function write(path: string, text: string): void {
  disk.write(disk.open(path, 0o101), Buffer.from(text), 0, true);
}

/** As the program makes it from a file; what an older checkout does not know, it does not read. */
function config(): object {
  return {
    file: '/etc/dropcast.yaml',
    service: {
      baseUrl: 'http://127.0.0.1:8080/v1',
      apiKey: { reveal: () => 'key-of-the-benchmark' },
      apiKeyFrom: 'environment',
      webhookSecret: null,
      webhooks: null,
      requestsPerHour: hour.requestsPerHour,
      sendKeyTo: [],
    },
    stateDir: '/state',
    failureLog: '/state/failures.jsonl',
    uploads: {
      concurrency: 4,
      bytesPerSecond: null,
      bandwidth: { windows: [], otherwise: null },
      window: null,
      stallTimeoutMs: 60_000,
    },
    retry: { attempts: 12, firstMs: 1_000, maxMs: 900_000 },
    poll: { intervalMs: 1_000 * hour.pollSeconds, giveUpAfterMs: 86_400_000 },
    publish: { quietMs: 10_000, atMostMs: 120_000 },
    folders: [
      {
        path: '/inbox',
        key: 'folders[0]',
        include: ['**/*.mp4'],
        exclude: [],
        settleMs: 1_000,
        doneMarker: null,
        watch: 'polling',
        rescanMs: 20_000,
        onDuplicate: 'upload',
        onChange: 'upload',
        existing: 'upload',
        uploads: null,
        afterReady: { kind: 'keep' },
        rules: [
          {
            key: 'folders[0].rules[0]',
            line: 1,
            match: '**',
            channel: 'ch_main',
            title: '{title}',
            description: null,
            tags: [],
            publish: ['feed_news'],
            priority: 'normal',
          },
        ],
      },
    ],
    status: { listen: null, socket: '/state/dropcast.sock' },
    log: { level: 'info', format: 'json' },
  };
}

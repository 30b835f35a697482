import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { callDaemon } from '../src/daemon/control/client.ts';
import type { Bench, Row } from './bench.ts';
import { output, until } from './child.ts';
import { freePort } from './free-port.ts';
import type { Calls } from './listeners/callers.ts';
import { caughtUp, instantService, watchedFolder } from './watched-folder.ts';
import type { WatchedFolder } from './watched-folder.ts';
import type { Running } from './child.ts';

interface Listeners {
  readonly page: number;
  readonly control: string;
  readonly read: string;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
const webhook = `POST /webhooks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 65536\r\n\r\n${'x'.repeat(65_536)}`;
const caller = { connections: 300, text: '', times: 1, isReading: false, isRepeated: false };
/** Takes the answers, and connects again when the listener closes the connection. */
const greedy = { isReading: true, isRepeated: true };

const attacks: Readonly<Record<string, { readonly what: string; calls(listeners: Listeners): readonly Calls[] }>> = {
  status: {
    what: '100 × 50 `status?all=1` on the read socket',
    calls: ({ read }) => [{ ...greedy, target: read, connections: 100, text: get('/status?all=1'), times: 50 }],
  },
  healthz: {
    what: '250 × 1,800 `/healthz` on the page',
    calls: ({ page }) => [{ ...greedy, target: page, connections: 250, text: get('/healthz'), times: 1_800 }],
  },
  webhooks: {
    what: '300 × unsigned webhooks of 64 KiB',
    calls: ({ page }) => [
      { target: page, connections: 300, text: webhook, times: 1, isReading: true, isRepeated: true },
    ],
  },
  idle: {
    what: '300 idle connections on the page, and on the read socket',
    calls: ({ page, read }) => [page, read].map((target) => ({ ...caller, target })),
  },
  unread: {
    what: '300 × 50 questions each on the page and the read socket, 50 × 50 on the control socket, no answer read',
    calls: ({ page, control, read }) => [
      { ...caller, target: page, text: get('/healthz'), times: 50 },
      { ...caller, target: read, text: get('/files?limit=1000'), times: 50 },
      { ...caller, target: control, connections: 50, text: get('/files?limit=1000'), times: 50 },
    ],
  },
};

const figures: Readonly<Record<string, Row>> = {
  pause: { what: 'longest pause of the event loop', unit: 'ms', most: 1_000 },
  control: { what: 'longest answer to the owner', unit: 'ms', most: 5_000 },
  uploads: { what: 'twenty clips done', unit: 's', most: 60 },
  cpu: { what: 'CPU of the daemon', unit: '%' },
};

export const bench: Bench = {
  about:
    'What callers of the page, the control socket and the read socket can do to a daemon that knows 20,000 files, of which 2,000 need a person: the callers continue for 20 s, while twenty clips are dropped and `status` is asked for on the control socket.',
  rounds: 1,
  rows: {
    peak: { what: 'most memory, in all', unit: 'MB', most: 384 },
    quietUploads: { what: 'no callers: twenty clips done', unit: 's' },
    ...Object.fromEntries(
      Object.entries(attacks).flatMap(([attack, { what }]) =>
        Object.entries(figures).map(([figure, row]) => [
          `${attack} ${figure}`,
          { ...row, what: `${what}: ${row.what}` },
        ]),
      ),
    ),
  },
  round: async (build, size) => {
    using service = await instantService();
    const page = await freePort();
    const known = size === 'full' ? 20_000 : 2_000;
    await using folder = await watchedFolder(build, known, { service: service.baseUrl, page });
    const directory = dirname(folder.inbox);
    needPeople(join(directory, 'state/ledger.db'));
    await using running = folder.run();
    await caughtUp(folder, running);
    const control = join(directory, 'control.sock');
    const listeners = { page, control, read: join(directory, 'control.read.sock') };
    const values: Record<string, number> = { quietUploads: await clipsDone(folder) };
    for (const [name, { calls }] of Object.entries(attacks)) {
      const seconds = size === 'full' ? 20 : 4;
      const measured = await during(seconds, calls(listeners), { folder, running, control });
      for (const [figure, value] of Object.entries(measured)) values[`${name} ${figure}`] = value;
    }
    values['peak'] = (await running.memory()).peakMb;
    return { values };
  },
};

/** Lets callers call, and measures what becomes of everything else. */
async function during(
  seconds: number,
  calls: readonly Calls[],
  { folder, running, control }: { folder: WatchedFolder; running: Running; control: string },
): Promise<Record<keyof typeof figures, number>> {
  await folder.longest(running);
  const [cpu, begun] = [await running.cpuSeconds(), performance.now()];
  const over = new AbortController();
  const callers = output(process.execPath, [
    join(import.meta.dirname, 'listeners/callers.ts'),
    String(seconds),
    ...calls.map((one) => JSON.stringify(one)),
  ]).finally(() => over.abort());
  const clips = clipsDone(folder);
  let longest = 0;
  while (!over.signal.aborted) {
    const asked = performance.now();
    await callDaemon(control, 'GET', '/status').catch(() => (longest = Infinity));
    longest = Math.max(longest, performance.now() - asked);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await callers;
  const share = (100_000 * ((await running.cpuSeconds()) - cpu)) / (performance.now() - begun);
  return { pause: (await folder.longest(running)).pause, control: longest, uploads: await clips, cpu: share };
}

/** @returns seconds from the drop of twenty clips until the files of the folder are done */
async function clipsDone(folder: WatchedFolder): Promise<number> {
  const before = (await folder.status())?.counts['done'] ?? Number.NaN;
  const begun = performance.now();
  for (let n = 0; n < 20; n += 1)
    await writeFile(join(folder.inbox, `clip-${begun}-${n}.mpg`), 'x'.repeat(50_000 + n + Math.round(begun)));
  await until(async () => ((await folder.status())?.counts['done'] ?? 0) >= before + 20, 250);
  return (performance.now() - begun) / 1_000;
}

/** Every tenth file failed. The service counts its videos from the start, so those of the known files get other ids. */
function needPeople(path: string): void {
  using database = new DatabaseSync(path);
  const failure = JSON.stringify({ kind: 'permanent', code: 'processing_failed', message: 'it has no video track' });
  database.exec(`UPDATE file SET checksum = NULL, video_id = 'old_' || seq`);
  database.exec(
    `UPDATE file SET checksum = NULL, state = 'failed', "end" = 'failed', last_failure = '${failure}', why = 'it has no video track' WHERE seq % 10 = 1`,
  );
}

import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import type { Running } from './child.ts';
import { freePort } from './free-port.ts';
import { openViewers, view } from './page/viewers.ts';
import { caughtUp, watchedFolder } from './watched-folder.ts';

/** What people look at, each asked for often enough that the kernel's hundredths of a second say something. */
const pages = {
  overview: '/',
  files: '/files',
  failed: '/files?state=failed,held',
  cause: '/files?cause=processing_failed',
  stage: '/files?stage=processing',
  text: '/files?q=recording-0999',
  letters: '/files?q=%D1%89%C3%BC',
  folders: '/folders',
} as const;

export const bench: Bench = {
  about:
    "The daemon's page with 100,000 files, of which 20,000 need a person and 10,000 are processed: the processor time of each view, what 200 of them leave in memory, and what 50 viewers cost. The first overview counts all rows; the others are asked for while nothing is written.",
  rounds: 3,
  rows: {
    first: { what: 'first overview', unit: 'ms', most: 100 },
    overview: { what: 'overview', unit: 'ms', most: 100 },
    files: { what: 'all files', unit: 'ms', most: 100 },
    failed: { what: 'files that need a person', unit: 'ms', most: 100 },
    cause: { what: 'files of one cause', unit: 'ms', most: 100 },
    stage: { what: 'files of one stage', unit: 'ms', most: 100 },
    text: { what: 'files with a text in their name', unit: 'ms', most: 100 },
    letters: { what: 'files with letters beyond ASCII alone', unit: 'ms', most: 100 },
    folders: { what: 'folders', unit: 'ms', most: 100 },
    grown: { what: 'memory after 200 overviews, against before', unit: '×', most: 1.2 },
    alone: { what: 'four new files a second, page not open: share of a core', unit: '%' },
    watched: { what: 'the same with 50 viewers of the overview', unit: '%', most: 40 },
  },
  round: async (build, size) => {
    const known = size === 'full' ? 100_000 : 2_000;
    const port = await freePort();
    await using folder = await watchedFolder(build, known, { page: port });
    const directory = dirname(folder.inbox);
    makeDay(join(directory, 'state/ledger.db'));
    await using running = folder.run();
    await caughtUp(folder, running);
    const page = { port, token: (await readFile(join(directory, 'state/page-token'), 'utf8')).trim() };
    const cost = async (path: string, times: number): Promise<number> => {
      const before = await running.cpuSeconds();
      // Another address each time: who asks for the same one at the same time shares a rendering.
      for (let n = 0; n < times; n += 1) await view(page, `${path}${path.includes('?') ? '&' : '?'}n=${n}`);
      return (1_000 * ((await running.cpuSeconds()) - before)) / times;
    };
    const times = size === 'full' ? 50 : 5;
    const values: Record<string, number> = { first: await cost(pages.overview, 1) };
    for (const [name, path] of Object.entries(pages)) values[name] = await cost(path, times);
    const before = await rssOf(running);
    await cost(pages.overview, size === 'full' ? 200 : 20);
    values['grown'] = (await rssOf(running)) / before;
    const seconds = size === 'full' ? 30 : 3;
    values['alone'] = await shareWhileFilesArrive(running, folder.inbox, seconds);
    await using viewers = await openViewers(page, pages.overview, 50);
    values['watched'] = await shareWhileFilesArrive(running, folder.inbox, seconds);
    await viewers[Symbol.asyncDispose]();
    return { values };
  },
};

/** Spreads what was done over the last day; every tenth file failed, is held, or is processed. */
function makeDay(path: string): void {
  using database = new DatabaseSync(path);
  const failure = JSON.stringify({ kind: 'permanent', code: 'processing_failed', message: 'it has no video track' });
  const change = (what: string, tenth: number): void =>
    database.exec(`UPDATE file SET checksum = NULL, ${what} WHERE seq % 10 = ${tenth}`);
  database.exec(`UPDATE file SET checksum = NULL, ended_at = ${Date.now()} - (seq * 7919) % 86400000`);
  change(`state = 'failed', "end" = 'failed', last_failure = '${failure}', why = 'it has no video track'`, 1);
  change(`state = 'held', "end" = 'held', last_failure = json_set('${failure}', '$.code', 'no_rule')`, 2);
  change(
    `state = 'processing', "end" = NULL, ended_at = NULL, ready_at = NULL, disposal = NULL, remote_status = 'processing'`,
    3,
  );
}

/** @returns the share of a core that the daemon used while four files a second were dropped, in per cent */
async function shareWhileFilesArrive(running: Running, inbox: string, seconds: number): Promise<number> {
  const [before, begun] = [await running.cpuSeconds(), performance.now()];
  for (let n = 0; n < seconds * 4; n += 1) {
    await writeFile(join(inbox, `new-${begun.toFixed()}-${n}.mp4`), 'x'.repeat(1_000));
    await setTimeout(250);
  }
  return (100_000 * ((await running.cpuSeconds()) - before)) / (performance.now() - begun);
}

async function rssOf(running: Running): Promise<number> {
  return (await running.memory()).rssMb;
}

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { StatusView } from '../../../src/view/picture/documents.ts';
import type { Accounts } from '../../../src/watch/ports.ts';
import { startStation } from '../../e2e/station.ts';
import type { Station } from '../../e2e/station.ts';
import { eventually } from '../../support/until.ts';
import { createRandom } from '../kill/random.ts';
import { contentsOf, meddle, places } from './disk.ts';

/** `npm run test:reliability -- --long` plays more of them. */
const seeds = process.env['DROPCAST_LONG'] === '1' ? Array.from({ length: 30 }, (_, n) => n + 1) : [1];
const deeds = process.env['DROPCAST_LONG'] === '1' ? 3_000 : 600;

const folders = [{}, { path: 'inbox/inner', after_ready: { move: 'done/{date}' } }].map((folder) => ({
  settle: '100ms',
  rescan: '1s',
  ...folder,
}));

test.for(seeds)(
  'all through a storm, restarts and a changed rule, each path of each folder is in exactly one place (seed %i)',
  async (seed) => {
    await using station = await startStation({ folders, settings: { retry: { first: '100ms' } }, isStarted: false });
    const inbox = station.scratch.file('inbox');
    for (const place of places) await mkdir(join(inbox, place), { recursive: true });
    await station.start();
    const watch = watchAccounts(station);
    const random = createRandom(String(seed));
    const pick = (limit: number): number => Math.floor(limit * random());
    for (let n = 1; n <= deeds; n += 1) {
      meddle(inbox, pick);
      if (n % 20 === 0) await delay(pick(40));
      if (n % 250 === 100)
        await station
          .daemon()
          .kill(pick(2) === 0 ? 'SIGKILL' : 'SIGTERM')
          .then(() => station.start());
      if (n % 250 === 200) await changeRule(station, n);
    }
    await eventually('each folder says what the disk has', async () => {
      const [outer, inner] = (await station.status()).folders;
      expect([outer, inner].map(summaryOf)).toEqual([
        contentsOf(inbox, ['inner']),
        contentsOf(join(inbox, 'inner'), []),
      ]);
    });
    expect(await watch.end()).toBeGreaterThan(20);
  },
);

/** Asks for the status without a break. */
function watchAccounts(station: Station): { end(): Promise<number> } {
  const stop = new AbortController();
  const run = async (): Promise<number> => {
    let answers = 0;
    while (!stop.signal.aborted) {
      const status = await station.status().catch(() => null);
      // It is being started again.
      if (status === null) await delay(5);
      else requireBalance(status);
      answers += status === null ? 0 : 1;
    }
    return answers;
  };
  const running = run();
  running.catch(() => undefined);
  return {
    end: () => {
      stop.abort();
      return running;
    },
  };
}

function requireBalance({ accounts, folders: each }: StatusView): void {
  for (const of of [accounts, ...each.map((folder) => folder.accounts)]) {
    const { seen, settling, comparing, sidecars, ignored, refused, unaccounted } = of;
    const told = [settling, comparing, sidecars, ignored, refused, ...Object.values(of.known)];
    expect(Math.min(...told), JSON.stringify(of)).toBeGreaterThanOrEqual(0);
    expect([unaccounted, told.reduce((sum, count) => sum + count, 0)], JSON.stringify(of)).toEqual([0, seen]);
  }
}

function summaryOf(folder: { readonly accounts: Accounts } | undefined): unknown {
  const { seen = 0, known = {}, sidecars, ignored, refused } = folder?.accounts ?? {};
  return { seen, media: Object.values(known).reduce((sum, count) => sum + count, 0), sidecars, ignored, refused };
}

async function changeRule({ scratch, daemon }: Station, n: number): Promise<void> {
  const text = await readFile(scratch.config, 'utf8');
  await writeFile(scratch.config, text.replace(/channel: \w+/u, `channel: ${n % 500 === 200 ? 'ch_news' : 'ch_main'}`));
  daemon().child.kill('SIGHUP');
}

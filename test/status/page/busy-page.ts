import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { startDaemon, type Daemon } from '../../../src/daemon/daemon.ts';
import { healthOf } from '../../../src/daemon/health.ts';
import { createPageAccess, type PageAccess } from '../../../src/status/page/access.ts';
import type { StatusPage } from '../../../src/status/page/serve.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { runSandbox } from '../../sandbox/running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { loadedConfig } from '../../support/configuration.ts';
import { servedPage } from './served-page.ts';

/** A daemon with work of every kind behind it, and its page. */
export interface BusyPage extends AsyncDisposable {
  readonly daemon: Daemon;
  readonly page: StatusPage;
  /** Copies a sample into the first folder. */
  drop(name: string, as?: string): Promise<void>;
  /** Another page of the same daemon. @param port of a page that was closed */
  serve(port?: number): Promise<StatusPage>;
}

/** File names that must be nothing but text. */
const HOSTILE = ['<img src=x onerror=alert(1)>.mp4', 'a\u202egpj.mp4', `${'W'.repeat(120)} ${'long '.repeat(20)}.mp4`];

export async function busyPage(): Promise<BusyPage> {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await runSandbox({ requestsPerHour: 1000 }));
  const scratch = stack.use(await scratchDirectory());
  for (const name of ['news', 'archive', 'state']) await mkdir(scratch.file(name));
  const drop = (name: string, as = name) =>
    copyFile(new URL(`../../media/${name}`, import.meta.url), scratch.file('news', as));
  for (const name of HOSTILE) await drop('clip.mp4', name);
  for (const name of ['camera.mov', 'truncated.mp4']) await drop(name);
  await mkdir(scratch.file('news', 'late'));
  await drop('clip.mp4', 'late/evening.mp4');
  await writeFile(scratch.file('archive', 'waiting.mp4'), 'no marker yet');
  for (const name of ['link.mp4', 'other <b>link.mp4']) await symlink('/nowhere', scratch.file('news', name));
  const config = await loadedConfig(scratch, {
    service: { base_url: service.sandbox.baseUrl, api_key: service.sandbox.apiKey },
    poll: { interval: '1s' },
    publish: { quiet: '0s', at_most: '1s' },
    status: { hosts: ['dropcast.example.com'] },
    folders: [
      {
        path: 'news',
        on_duplicate: 'upload',
        rules: [
          {
            match: '{show}/*.mp4',
            channel: 'ch_news',
            title: '{show}: {title}',
            tags: ['news', '{show}'],
            publish: ['feed_news'],
          },
          { match: '**', channel: 'ch_main' },
          { match: 'late/*', channel: 'ch_news' },
        ],
      },
      { path: 'archive', done_marker: '{name}.{ext}.done', watch: 'polling' },
      { path: 'share' },
    ],
  });
  const daemon = stack.use(await startDaemon(config, silentLogger));
  const access: PageAccess = createPageAccess('the-token-of-this-daemon');
  const serve = (port = 0) => servedPage({ daemon, access, health: () => healthOf(daemon.waits()) }, port);
  const page = stack.use(await serve());
  await until('some files are done', async () => ((await daemon.ledger.totals('by state'))['done'] ?? 0) >= 3);
  const owned = stack.move();
  return { daemon, page, drop, serve, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

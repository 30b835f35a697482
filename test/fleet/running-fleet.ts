import { mkdir, writeFile } from 'node:fs/promises';
import { Client } from 'pg';
import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { startVideoHost } from '../e2e/video-host.ts';
import type { HostOptions, VideoHost } from '../e2e/video-host.ts';
import type { Logger } from '../../src/log/logger.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { freshDatabase } from '../support/postgres/server.ts';
import type { SharedServer } from '../support/postgres/server.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { loadedConfig, type FolderSettings, type Settings } from '../support/configuration.ts';

/** Daemons in this process that share a database, a folder (`share`) and a service; each has a folder of its own besides. */
export interface RunningFleet extends AsyncDisposable {
  readonly service: VideoHost;
  /** Of the folder that all of them watch. */
  readonly share: string;
  start(name: string): Promise<FleetMember>;
  /** A statement of somebody who is no member. */
  ask(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  drop(path: string): Promise<void>;
}

export interface FleetMember {
  readonly daemon: Daemon;
  /** That only it watches. */
  readonly inbox: string;
  /** Ends in order, or as if it had been killed so many milliseconds ago. */
  stop(): Promise<void>;
  die(agoMs: number): Promise<void>;
}

/** @param of.expect of the shared folder @param of.server has the database; else that of all tests @param of.logger of all members */
export async function startFleet(
  options: HostOptions = {},
  of: {
    readonly expect?: FolderSettings['expect'];
    readonly server?: SharedServer;
    readonly logger?: Logger;
    readonly quota?: NonNullable<Settings['service']>['quota'];
  } = {},
): Promise<RunningFleet> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await freshDatabase(of.server));
  const service = stack.use(await startVideoHost({ processingMs: () => 0, ...options }));
  const scratch = stack.use(await scratchDirectory());
  const share = scratch.file('share');
  await mkdir(share);
  const configOf = (name: string, inbox: string) => {
    const rules = [{ match: '**', channel: 'ch_main', publish: ['feed_news'] }];
    const folder = { settle: '50ms', rescan: '1s', rules };
    const settings: Settings = {
      service: { base_url: service.baseUrl, api_key: service.key, ...(of.quota && { quota: of.quota }) },
      state_dir: `state-${name}`,
      host_name: name,
      ledger: database.url,
      publish: { quiet: '100ms' },
      folders: [
        { path: inbox, ...folder },
        { path: share, share: 'nas1', ...folder, ...(of.expect !== undefined && { expect: of.expect }) },
      ],
    };
    return loadedConfig(scratch, settings, `${name}.yaml`);
  };
  const ask: RunningFleet['ask'] = async (text, values = []) => {
    await using client = new AsyncDisposableStack();
    const asker = client.adopt(new Client(database.url), (each) => each.end());
    await asker.connect();
    return (await asker.query<Record<string, unknown>>(text, [...values])).rows;
  };
  const running = stack.move();
  return {
    service,
    share,
    ask,
    drop: (path) => writeFile(path, `the bytes of ${path}`),
    start: async (name) => {
      const inbox = scratch.file(name);
      await mkdir(inbox, { recursive: true });
      const daemon = running.use(await startDaemon(await configOf(name, inbox), of.logger ?? silentLogger));
      const stop = (): Promise<void> => daemon.stop(AbortSignal.abort());
      return {
        daemon,
        inbox,
        stop,
        die: async (agoMs) => {
          await stop();
          await ask('update dropcast.host set stopped_at = null, heard_at = heard_at - $2 where name = $1', [
            name,
            agoMs,
          ]);
        },
      };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

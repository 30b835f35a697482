import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { versionOf } from '../../src/watch/observation.ts';
import { makeScratch } from '../e2e/dropcast-process.ts';
import { startVideoHost } from '../e2e/video-host.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { someFacts } from '../pipeline/some-facts.ts';

test.for(['before', 'while'])(
  'told to stop %s it looks at the folders for the first time, it ends without a request',
  async (when) => {
    await using host = await startVideoHost();
    await using scratch = await makeScratch(
      (path) => `
service: { base_url: "${host.baseUrl}", api_key: ${host.key} }
state_dir: ${path}/state
folders: [{ path: ${path}/inbox, settle: 100ms, rules: [{ match: "**", channel: ch_main }] }]
status: { listen: off }
`,
    );
    await mkdir(scratch.file('inbox'));
    await writeFile(scratch.file('inbox', 'clip.mpg'), 'bytes of no known container');
    const { config } = await loadConfig(scratch.config, { cwd: scratch.path, env: {}, home: scratch.path });
    if (config === null) throw new Error('the configuration is wrong');
    const ledger = await openLedger(config.stateDir);
    await writeFile(scratch.file('inbox', 'old.mpg'), 'queued before the last end');
    const version = versionOf(await lstat(scratch.file('inbox', 'old.mpg'), { bigint: true }));
    await ledger.insert(someFacts({ folder: scratch.file('inbox'), path: 'old.mpg', version }));
    await ledger[Symbol.asyncDispose]();
    const stopping = new AbortController();
    if (when === 'before') stopping.abort();
    const logger = { ...silentLogger, info: (line: string) => line === 'folder state' && stopping.abort() };
    await using daemon = await startDaemon(config, logger, { stopping: stopping.signal });
    expect(stopping.signal.aborted).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await daemon.ledger.list({ limit: 10 })).map(({ path }) => path)).toEqual(['old.mpg']);
    await daemon.stop(AbortSignal.timeout(5_000));
    expect(host.requests).toEqual([]);
  },
);

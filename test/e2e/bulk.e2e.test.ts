import { createHash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { callDaemon } from '../../src/daemon/control/client.ts';
import type { StatusView } from '../../src/view/picture/documents.ts';
import { makeScratch, startDropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import type { Scratch } from './dropcast-process.ts';
import { startVideoHost } from './video-host.ts';
import type { VideoHost } from './video-host.ts';
import type { Settings } from '../support/configuration.ts';

const files = 120;

interface Dropped {
  readonly path: string;
  readonly sha256: string;
  readonly channel: string;
  readonly tags: readonly string[];
}

/** Mixed sizes: 1 byte to 3 MiB, over the boundary of the commit gate's last part. Bytes of no known container. */
async function dropMany(scratch: Scratch): Promise<readonly Dropped[]> {
  const dropped: Dropped[] = [];
  for (let n = 0; n < files; n += 1) {
    const isNews = n % 2 === 0;
    const path = isNews ? `news/show-${n % 5}/clip_${n}.mpg` : `other/sub/file ${n} "ü" 🎬.mpg`;
    const size = n % 20 === 0 ? 3 * 1024 * 1024 + n : n % 3 === 0 ? 1024 * 1024 + (n % 7) - 3 : 1 + n * 331;
    const body = randomBytes(size);
    const target = scratch.file('inbox', path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, body);
    dropped.push({
      path,
      sha256: createHash('sha256').update(body).digest('hex'),
      channel: isNews ? 'ch_news' : 'ch_main',
      tags: isNews ? ['news', `show-${n % 5}`] : ['other', 'sub'],
    });
  }
  return dropped;
}

const settingsFor = (host: VideoHost): Settings => ({
  service: { base_url: host.baseUrl, api_key: host.key },
  poll: { interval: '1s' },
  publish: { quiet: '1s', at_most: '1m' },
  folders: [
    {
      settle: '2s',
      rescan: '5s',
      rules: [
        { match: 'news/{show}/**', channel: 'ch_news', tags: ['news', '{show}'], publish: ['feed_news'] },
        { match: '**', channel: 'ch_main', tags: ['{dirs}'] },
      ],
    },
  ],
});

/** What must hold whatever happened on the way. */
function judge(host: VideoHost, dropped: readonly Dropped[]): void {
  const withBytes = [...host.videos.values()].filter(({ bodies }) => bodies.length > 0);
  const bySha = new Map(withBytes.map((video) => [video.bodies[0], video]));
  expect(host.leaks).toEqual([]);
  expect(withBytes.filter(({ bodies }) => bodies.length > 1)).toEqual([]);
  expect(withBytes.length).toBe(dropped.length);
  for (const { sha256, channel, tags, path } of dropped) {
    expect(bySha.get(sha256), path).toMatchObject({ status: 'ready', channelId: channel, tags });
  }
}

/** On a busy machine the sweeps use up their quick requests before the uploads end; then two minutes can lie between two of them. */
const patienceMs = 240_000;

async function countDone(scratch: Scratch): Promise<number> {
  const socket = scratch.file('state', 'dropcast.sock');
  return (await callDaemon<StatusView>(socket, 'GET', '/status')).counts['done'] ?? 0;
}

test.concurrent.for([
  {
    name: 'a service that wraps its answers and lists oldest first',
    options: { wraps: true, order: 'oldest-first' } as const,
  },
  {
    name: 'a service that answers bare and lists newest first',
    options: { wraps: false, order: 'newest-first' } as const,
  },
])(
  '120 files dropped at once are all ready, each created once, at most 1.3 requests each: $name',
  async ({ options }) => {
    await using host = await startVideoHost({ ...options, processingMs: () => 200 + Math.random() * 1_500 });
    await using scratch = await makeScratch(settingsFor(host));
    await mkdir(scratch.file('inbox'));
    await using daemon = startDropcast(['run', '--config', scratch.config]);
    await until('the daemon is ready', () => daemon.output().includes('Ready'));
    const dropped = await dropMany(scratch);
    await until('all are done', async () => (await countDone(scratch)) === files, { withinMs: patienceMs });
    judge(host, dropped);
    expect(host.videos.size).toBe(files);
    expect(host.requests.length / files).toBeLessThanOrEqual(1.3);
    expect(daemon.output()).not.toContain(host.key);
    expect(daemon.output()).not.toContain('sig=');
    const ended = await daemon.kill('SIGTERM');
    expect(ended.code).toBe(0);
  },
);

import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { smallDisk, type SmallDisk } from '../ledger/small-disk.ts';
import { needs } from '../support/needs.ts';
import { admin } from './admin/admin-side.ts';
import { put, readSample, RunningSandbox, until } from './running-sandbox.ts';
import { startReceiver } from './webhooks/receiver.ts';

/** Until not a byte is free: SQLite still grows its log within the last page. */
async function fill({ path }: SmallDisk): Promise<() => Promise<void>> {
  const ballast = join(path, 'ballast');
  for (let size = 1 << 20; size >= 512; size /= 2) {
    for (;;) {
      try {
        await writeFile(ballast, Buffer.alloc(size), { flag: 'a' });
      } catch {
        break;
      }
    }
  }
  return () => rm(ballast);
}

const TEN_MINUTES_MS = 600_000;
const FULL = { status: 507, body: { error: { code: 'insufficient_storage', message: expect.any(String) } } };

test(
  'a full disk is reported in the given format, and everything continues when there is room again',
  needs('mount'),
  async () => {
    const defects: Error[] = [];
    const note = (warning: Error) => void (warning.name === 'SandboxDefect' && defects.push(warning));
    process.on('warning', note);
    await using receiver = await startReceiver();
    await using disk = await smallDisk('4m');
    const dataDir = join(disk.path, 'data');
    await using service = new RunningSandbox(
      await startSandbox({ dataDir, processingMs: { min: TEN_MINUTES_MS, max: TEN_MINUTES_MS } }),
    );
    await admin(service, 'POST /webhooks', { url: receiver.url });
    const [processing, pending] = [await service.create(), await service.create()];
    const clip = await readSample('clip.mp4');
    await put(processing.upload_url, clip);
    const makeRoom = await fill(disk);
    for (let index = 0; index < 5; index += 1) await service.call('GET', '/videos'); // what is left of the log
    for (const [method, path, body] of [
      ['GET', '/videos', undefined],
      ['POST', '/videos', { title: 'T' }],
      ['PATCH', `/videos/${pending.id}`, { title: 'T' }],
      ['DELETE', `/videos/${pending.id}`, undefined],
      ['POST', '/feeds/feed_news/publish', undefined],
    ] as const)
      expect([path, await service.call(method, path, body)]).toMatchObject([path, FULL]);
    expect(await put(pending.upload_url, clip)).toMatchObject(FULL);
    expect(await admin(service, 'POST /reset')).toMatchObject(FULL);
    expect(await readdir(join(dataDir, 'incoming'))).toEqual([]);
    expect(await readdir(join(dataDir, 'media'))).toEqual([processing.id]);
    await admin(service, 'POST /clock/advance', { ms: TEN_MINUTES_MS }); // its time comes while nothing can be written
    await makeRoom();
    expect((await service.ended(processing.id)).status).toBe('ready');
    expect((await put(pending.upload_url, clip)).status).toBe(200);
    await admin(service, 'POST /clock/advance', { ms: TEN_MINUTES_MS });
    expect((await service.ended(pending.id)).status).toBe('ready');
    await until(() => (receiver.received.length === 2 ? true : undefined));
    process.off('warning', note);
    expect(defects).toEqual([]);
  },
);

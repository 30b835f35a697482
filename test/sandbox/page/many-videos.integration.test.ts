import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { runSandbox } from '../running-sandbox.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { Visitor } from './visitor.ts';

/** Adds so many videos to a sandbox that does not run. */
function addVideos(dataDir: string, count: number): void {
  const database = new DatabaseSync(join(dataDir, 'sandbox.db'));
  database
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO videos (id, title, channel_id, tags, created_at_ms, status, failure_code, failure_message)
       SELECT 'vid_' || i, 'Title ' || i, 'ch_news', '[]', i, 'failed', 'old', 'Old.' FROM n`,
    )
    .run(count);
  database.close();
}

/** Of the answer, in ms: the best of some. */
async function timeOf(visitor: Visitor, path: string): Promise<number> {
  const times: number[] = [];
  for (let attempt = 0; attempt < 7; attempt += 1) {
    const startMs = performance.now();
    expect((await visitor.get(path)).status).toBe(200);
    times.push(performance.now() - startMs);
  }
  return Math.min(...times);
}

test('with 100,000 videos a view takes hardly longer than with 100', async () => {
  const times = new Map<number, number[]>();
  for (const count of [100, 100_000]) {
    await using folder = await temporaryFolder();
    await (await runSandbox({ dataDir: folder.path })).sandbox.close();
    addVideos(folder.path, count);
    await using service = await runSandbox({ dataDir: folder.path });
    const visitor = await Visitor.enter(service.sandbox);
    expect((await visitor.get('/_page/videos')).html).toContain(`Title ${count}<`);
    const taken: number[] = [];
    for (const path of ['/', '/_page/videos', '/_page/videos?status=failed&channel=ch_news&page=2'])
      taken.push(await timeOf(visitor, path));
    times.set(count, taken);
  }
  const [few = [], many = []] = times.values();
  // The rest is counting: an index of 100,000 entries is read in a few milliseconds.
  for (const [index, fewMs] of few.entries()) expect(many[index]).toBeLessThan(fewMs * 4 + 40);
});

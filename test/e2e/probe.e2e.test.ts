import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { dropcast, startDropcast } from './dropcast-process.ts';
import { startStation } from './station.ts';
import type { Station } from './station.ts';

let station: Station;
let slow: Station;
beforeAll(async () => {
  [station, slow] = await Promise.all([
    startStation(),
    startStation({ host: { processingMs: () => 3_600_000 }, isStarted: false }),
  ]);
});
afterAll(async () => {
  await station[Symbol.asyncDispose]();
  await slow[Symbol.asyncDispose]();
});

interface Document {
  readonly ok: boolean;
  readonly video: string;
  readonly requests: number;
  readonly points: readonly { readonly name: string; readonly service: string }[];
}

test('while a daemon runs, a probe spends its budget, and leaves neither a video nor a file', async () => {
  const total = async (): Promise<number> => (await station.status()).requests?.total ?? Number.NaN;
  await station.drop('a.mpg');
  await station.reaches('a.mpg', 'done');
  const before = await total();
  const { code, stdout, stderr } = await dropcast(['probe', '--yes', '--json', '--config', station.scratch.config]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { video, requests, points } = JSON.parse(stdout) as Document;
  expect(stderr).toMatch(/in the channel ch_news of .*; the daemon has [\d,]+ left and counts them\./s);
  expect((await total()) - before).toBeGreaterThanOrEqual(requests);
  expect(points).toContainEqual(expect.objectContaining({ name: 'expect', service: 'answered' }));
  expect(station.host.deleted).toContain(video);
  expect(existsSync(station.scratch.file('state', 'probe.json'))).toBe(false);
  expect((await station.files()).files).toHaveLength(1);
});

test('a probe that may exceed the budget of the daemon sends nothing', async () => {
  await using poor = await startStation({ isStarted: false });
  await writeFile(
    poor.scratch.config,
    (await readFile(poor.scratch.config, 'utf8')).replace(/requests_per_hour: \d+/, 'requests_per_hour: 20'),
  );
  await poor.start();
  const creates = poor.host.videos.size;
  const { code, stderr } = await dropcast(['probe', '--yes', '--config', poor.scratch.config]);
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/a probe takes up to \d+ requests, and the daemon has \d+ left in this hour/),
  });
  expect(poor.host.videos.size).toBe(creates);
});

test('what a killed probe made is named by the doctor and deleted by the command that it names', async () => {
  const { config } = slow.scratch;
  const deleted = slow.host.deleted.length;
  {
    await using probe = startDropcast(['probe', '--yes', '--config', config]);
    await until('the file is sent', () => probe.output().includes('Sent its file.'));
    await probe.kill('SIGKILL');
  }
  const { stdout } = await dropcast(['doctor', '--config', config]);
  expect(stdout).toMatch(/an interrupted probe may have left the video \S+ on the service/);
  expect(stdout).toContain(`fix: dropcast probe --clean-up --config '${config}'`);
  const cleaned = await dropcast(['probe', '--clean-up', '--config', config]);
  expect(cleaned).toMatchObject({ code: 0, stderr: expect.stringContaining('Deleted the video ') });
  expect(slow.host.deleted.length).toBe(deleted + 1);
  expect((await dropcast(['doctor', '--config', config])).stdout).not.toContain('interrupted probe');
});

test.each(['SIGINT', 'SIGTERM'] as const)('a probe that is stopped by %s deletes its video', async (signal) => {
  const deleted = slow.host.deleted.length;
  await using probe = startDropcast(['probe', '--yes', '--config', slow.scratch.config]);
  await until('the file is sent', () => probe.output().includes('Sent its file.'));
  const { code, stderr } = await probe.kill(signal);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('Deleted the video.') });
  expect(stderr).toContain('The probe failed: stopped before the service answered');
  expect(slow.host.deleted.length).toBe(deleted + 1);
  expect(existsSync(slow.scratch.file('state', 'probe.json'))).toBe(false);
});

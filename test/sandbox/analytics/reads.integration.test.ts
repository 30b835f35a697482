import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runSandbox, until, type Json, type RunningSandbox } from '../running-sandbox.ts';

let service: RunningSandbox;
beforeAll(async () => {
  service = await runSandbox({ requestsPerHour: 1e6 });
});
afterAll(() => service.sandbox.close());

let id: string;
let sizeBytes: number;
beforeEach(async () => {
  id = (await service.upload('interview.mp3')).id;
  sizeBytes = service.sandbox.files().find(({ videoId }) => videoId === id)?.sizeBytes ?? 0;
});

interface Reading {
  readonly range?: string;
  readonly agent?: string;
  readonly method?: string;
  readonly query?: string;
}

async function read({ range, agent = 'Podcasts/1', method = 'GET', query = '' }: Reading = {}): Promise<number> {
  const headers = { 'user-agent': agent, ...(range && { range: `bytes=${range}` }) };
  const address = new URL(`/cdn/videos/${id}.mp3${query}`, service.sandbox.baseUrl);
  const response = await fetch(address, { method, headers });
  return (await response.arrayBuffer()).byteLength;
}

const figures = async (): Promise<Json> => (await service.call('GET', `/analytics/videos?video_id=${id}`)).body.data;

/** Reads end on the service's side a moment after they have ended here. */
const viewsReach = (views: number) =>
  until(async () => {
    const record = await figures();
    return record.views === views ? record : undefined;
  });

test('a podcast app that loads the file is a view, watched to its end', async () => {
  expect(await read()).toBe(sizeBytes);
  const record = await viewsReach(1);
  expect(record).toMatchObject({ unique_viewers: 1, completion_rate: 1 });
  expect(record.avg_watch_time_seconds).toBeCloseTo(5, 0);
});

test('it is the same view when it loads the file again, and another one for another app', async () => {
  for (const agent of ['Podcasts/1', 'Podcasts/1', 'Television/2']) await read({ agent });
  expect(await viewsReach(2)).toMatchObject({ unique_viewers: 2 });
});

test('parts are put together, each byte once', async () => {
  const half = Math.floor(sizeBytes / 2);
  for (const range of ['0-1', `0-${half}`, `0-${half}`]) await read({ range });
  await read({ agent: 'Television/2' }); // the reads before have ended when this one is counted
  await viewsReach(1);
  await read({ range: `${half}-` });
  expect(await viewsReach(2)).toMatchObject({ unique_viewers: 2, completion_rate: 1 });
});

test('HEAD, probes and reads of an embed page are not views', async () => {
  await read({ method: 'HEAD' });
  await read({ range: '0-1' });
  await read({ query: '?via=embed' });
  await read({ agent: 'Television/2' });
  expect(await viewsReach(1)).toMatchObject({ unique_viewers: 1 });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  mostDailyVideos,
  mostUploadBytes,
  openPoints,
  profiles,
  switchNames,
} from '../../packages/sandbox/src/profiles/switch-table.ts';
import type { ProfileName, SwitchName, Switches } from '../../packages/sandbox/src/profiles/switch-table.ts';
import { recognitions } from '../../packages/recorder/src/compare/recognitions.ts';
import type { Comparison } from '../../packages/recorder/src/compare/compare.ts';
import { startSandbox, type Sandbox } from '../../packages/sandbox/src/sandbox.ts';
import { admin } from '../sandbox/admin/admin-side.ts';
import { toldHeaders } from '../sandbox/profiles/told-headers.ts';
import { randomSwitches } from '../sandbox/profiles/random-switches.ts';
import { readSample, type Json } from '../sandbox/running-sandbox.ts';
import { recorded } from './recorded.ts';

let sandbox: Sandbox;
let clip: Buffer<ArrayBuffer>;
beforeAll(async () => {
  sandbox = await startSandbox({ processingMs: { min: 60_000, max: 60_000 } });
  clip = await readSample('clip.mp4');
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

/** All of them take half a minute: `npm run test:profiles`. The profiles have every value that is not a default. */
const isLong = process.env['DROPCAST_LONG'] === '1';

/** Does everything to a service that shows how it settles a point. */
async function tryEverything(baseUrl: string): Promise<void> {
  const ask = async (method: string, path: string, json?: object, more: Record<string, string> = {}): Promise<Json> => {
    const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json', ...more };
    const answer = await fetch(baseUrl + path, { method, headers, ...(json && { body: JSON.stringify(json) }) });
    const text = await answer.text();
    return text.startsWith('{') ? JSON.parse(text) : {};
  };
  const putWith = (url: string, headers: Headers | Record<string, string> | [string, string][], body = clip) =>
    fetch(url, { method: 'PUT', body, redirect: 'manual', headers });
  const put = async (created: Json, body = clip) => {
    const { upload_url: url } = created;
    const { status, headers } = await putWith(url, toldHeaders(created) ?? { 'content-type': 'video/mp4' }, body);
    if (status === 403) await putWith(url, {}, body);
    if (headers.has('tus-resumable')) await fetch(url, { method: 'PATCH', body, headers: ofTus(body) });
  };
  const create = async (more?: Record<string, string>): Promise<Json> => {
    const answer = await ask('POST', '/videos', { title: 'T', channel_id: 'ch_news' }, more);
    return answer.data ?? answer;
  };
  const start = Date.now();
  const late = await create({ 'idempotency-key': 'k1' });
  await create({ 'idempotency-key': 'k1' });
  sandbox.setClock(new Date(start + 2_000));
  const video = await create();
  await put(video);
  await ask('GET', `/videos/${video.id}`);
  await ask('HEAD', `/videos/${video.id}`);
  await ask('GET', '/videos');
  await put(video);
  await put(await create(), Buffer.alloc(mostUploadBytes + 1));
  sandbox.setClock(new Date(start + 120_000));
  await ask('GET', `/videos/${video.id}`);
  await ask('GET', '/videos?per_page=101');
  await ask('GET', '/videos?colour=red');
  await ask('GET', '/channels');
  await ask('GET', `/analytics/videos?video_id=${video.id}`);
  await ask('POST', '/feeds/feed_news/publish');
  await ask('PATCH', `/videos/${video.id}`, { title: 'Other' });
  await ask('PATCH', `/videos/${video.id}`, { title: 'Other', colour: 'red' });
  await ask('PATCH', '/channels/ch_news', { name: 'Other' });
  await ask('POST', '/videos', { title: 5 });
  await ask('GET', '/videos/vid_none');
  await ask('DELETE', `/videos/${video.id}`);
  await ask('DELETE', `/videos/${video.id}`);
  sandbox.setClock(new Date(start + 7_200_000));
  await put(late);
  for (let n = 0; n <= mostDailyVideos; n += 1) await create();
  await admin({ sandbox }, 'PUT /rate-limit', { requests_per_hour: 1 });
  for (const _ of [1, 2]) await ask('GET', '/channels');
}

function ofTus({ length }: Buffer): Record<string, string> {
  return {
    'tus-resumable': '1.0.0',
    'content-type': 'application/offset+octet-stream',
    'upload-offset': '0',
    'upload-length': String(length),
  };
}

async function comparisonWith(profile: ProfileName, switches: Partial<Switches> = {}): Promise<Comparison> {
  await admin({ sandbox }, 'PUT /profile', { profile, switches });
  const { comparison } = await recorded(sandbox.baseUrl, ({ baseUrl }) => tryEverything(baseUrl));
  return comparison;
}

/** What a recording can show of them. */
function visible(switches: Partial<Switches>): Partial<Switches> {
  const hasCodes = !/^(?:message|text|html)$/.test(switches.error_body ?? '');
  const shown = Object.entries(switches).filter(([name, value]) => {
    // Only the code of the error distinguishes these quotas from any other 403 or 429.
    if (name === 'daily_videos' && value !== 'insufficient_storage') return hasCodes;
    return recognitions[name as SwitchName] !== null;
  });
  return Object.fromEntries(shown);
}

/** Points with a default that no recording proves: the next answer may have a new field, named headers or a quota. */
const unproven: ReadonlySet<SwitchName> = new Set(['extra_fields', 'upload_headers', 'daily_videos']);

describe('a comparison names the switches of the service that was recorded', () => {
  test.each(Object.entries(profiles) as [ProfileName, Partial<Switches>][])('%s', async (profile, switches) => {
    const comparison = await comparisonWith(profile);
    expect(comparison.switches).toEqual(visible(switches));
    expect(comparison.settled.filter(({ values }) => values.length > 1)).toEqual([]);
  });

  const everyValue = switchNames.flatMap((name) => openPoints[name].values.map((value) => [name, value] as const));
  test.each(isLong ? everyValue : [])('%s=%s', async (name, value) => {
    const { switches, settled } = await comparisonWith('default', { [name]: value });
    const isDefault = openPoints[name].values[0] === value;
    expect(switches).toEqual(isDefault ? {} : visible({ [name]: value }));
    if (recognitions[name] === null || (isDefault && unproven.has(name))) return;
    expect(settled.find((point) => point.name === name)?.values).toMatchObject([{ value }]);
  });

  test.each(Array.from({ length: isLong ? 100 : 3 }, (_, seed) => seed))('random switches, seed %i', async (seed) => {
    // Without uploads there is little to see, and uploads that can be continued have statuses of their own.
    const switches = randomSwitches(`shown-${seed}`, ['upload_redirect', 'upload_protocol']);
    expect((await comparisonWith('default', switches)).switches).toEqual(visible(switches));
  });
});

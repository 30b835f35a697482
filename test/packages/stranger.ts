import { AbortedError, createVideoClient, RateLimitedError, type WaitNote } from '@dropcast/client';

const [baseUrl = '', apiKey = '', file = '', adminUrl = '', token = ''] = process.argv.slice(2);
const waits: WaitNote[] = [];
await using client = createVideoClient({ baseUrl, apiKey, maxRetryAfterMs: 2_000, onWait: (note) => waits.push(note) });

let percent = 0;
const onProgress = (sent: number, total: number): void => void (percent = Math.round((100 * sent) / total));
const fields = { title: 'A stranger passes', channelId: 'ch_news', tags: ['walk'] };
const { id, sha256 } = await client.videos.upload(file, fields, { onProgress });
const statuses: string[] = [];
const onStatus = (status: string): void => void statuses.push(status);
const { duration } = await client.videos.waitUntilReady(id, { intervalMs: 1_000, onStatus });

const titles: string[] = [];
for await (const { title } of client.videos.list({ status: 'ready', limit: 5 })) titles.push(title);
const published = await client.feeds.publish('feed_news');
const period = { from: '2026-01-01', to: '2026-01-31' };
const figures = await client.analytics.videos({ channelId: 'ch_news', ...period }).toArray();
const { data, response } = await client.channels.list().withResponse();

const limitRate = async (seconds: number): Promise<void> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ kind: 'rate_limited', seconds, times: 1 });
  await fetch(`${adminUrl}/faults`, { method: 'POST', headers, body });
};
await limitRate(1);
await client.feeds.list();
await limitRate(600);
const limited: unknown = await client.feeds.list().catch((error: unknown) => error);
const retryAfterMs = limited instanceof RateLimitedError ? limited.retryAfterMs : null;
const reasons = waits.map(({ reason }) => reason).filter((reason) => reason !== 'not ready');

const stop = new AbortController();
const waiting = client.videos.waitUntilReady(id, { signal: stop.signal }).catch((error: unknown) => error);
stop.abort('enough');
const aborted = await waiting;
const cause = aborted instanceof AbortedError ? aborted.cause : null;
const heard = { channels: data.length, status: response.status, reasons, retryAfterMs, cause };
console.log(JSON.stringify({ percent, sha256, statuses, duration, titles, published, figures, ...heard }));

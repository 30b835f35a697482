import createClient from 'openapi-fetch';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { paths } from './openapi-typescript.gen.ts';

const [baseUrl = '', apiKey = '', file = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } });

const created = await client.POST('/videos', { body: { title: 'By openapi-fetch', channel_id: 'ch_news' } });
if (created.error) throw new Error(created.error.error.message);
const { id, upload_url } = created.data;

const address = new URL(upload_url);
const [, , video_id = '', token = ''] = address.pathname.split('/');
const content = new Blob([await readFile(file)], { type: 'application/octet-stream' });
const sent = await client.PUT('/uploads/{video_id}/{token}', {
  baseUrl: address.origin,
  params: { path: { video_id, token } },
  headers: { 'Content-Type': 'application/octet-stream' },
  // openapi-typescript types a binary body as a text.
  body: '',
  bodySerializer: () => content,
});
if (sent.error) throw new Error(sent.error.error.message);

async function ended() {
  for (;;) {
    const { data, error } = await client.GET('/videos/{id}', { params: { path: { id } } });
    if (error) throw new Error(error.error.message);
    if (data.data.status === 'ready' || data.data.status === 'failed') return data.data;
    await setTimeout(100);
  }
}
const { status, duration } = await ended();

const published = await client.POST('/feeds/{id}/publish', { params: { path: { id: 'feed_news' } } });
if (published.error) throw new Error(published.error.error.message);
console.log(JSON.stringify({ size: sent.data.size, status, duration, videos: published.data.video_count }));

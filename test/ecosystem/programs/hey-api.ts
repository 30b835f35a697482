import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { client } from './hey-api.gen/client.gen.ts';
import { createVideo, getVideo, publishFeed, uploadFile } from './hey-api.gen/sdk.gen.ts';

const [baseUrl = '', apiKey = '', file = ''] = process.argv.slice(2);
client.setConfig({ baseUrl, auth: apiKey, throwOnError: true });

const body = { title: 'By hey-api', channel_id: 'ch_news' };
const { id, upload_url } = (await createVideo({ body, throwOnError: true })).data;

const address = new URL(upload_url);
const [, , video_id = '', token = ''] = address.pathname.split('/');
const content = new Blob([await readFile(file)]);
const upload = { baseUrl: address.origin, path: { video_id, token }, body: content };
const { size } = (await uploadFile({ ...upload, throwOnError: true })).data;

async function ended() {
  for (;;) {
    const video = (await getVideo({ path: { id }, throwOnError: true })).data.data;
    if (video.status === 'ready' || video.status === 'failed') return video;
    await setTimeout(100);
  }
}
const { status, duration } = await ended();

const { video_count: videos } = (await publishFeed({ path: { id: 'feed_news' }, throwOnError: true })).data;
console.log(JSON.stringify({ size, status, duration, videos }));

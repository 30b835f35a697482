import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { createVideo, getVideo, publishFeed, uploadFile } from './orval.gen.ts';

const file = process.argv[4] ?? '';
const created = await createVideo({ title: 'By orval', channel_id: 'ch_news' });
if (created.status !== 201) throw new Error(created.data.error.message);
const { id, upload_url } = created.data;

const [, , videoId = '', token = ''] = new URL(upload_url).pathname.split('/');
const sent = await uploadFile(videoId, token, new Blob([await readFile(file)]));
if (sent.status !== 200) throw new Error(sent.data.error.message);

async function ended() {
  for (;;) {
    const answer = await getVideo(id);
    if (answer.status !== 200) throw new Error(answer.data.error.message);
    const { data: video } = answer.data;
    if (video.status === 'ready' || video.status === 'failed') return video;
    await setTimeout(100);
  }
}
const { status, duration } = await ended();

const published = await publishFeed('feed_news');
if (published.status !== 200) throw new Error(published.data.error.message);
console.log(JSON.stringify({ size: sent.data.size, status, duration, videos: published.data.video_count }));

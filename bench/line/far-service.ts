import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/*
 * The service at the far end of a line. It sends uploads to the sink, which keeps nothing, and reports each video as ready. Its
 * own process, because it runs in another network namespace. Prints its origin.
 */
const [address = '', sink = '', key = '', certificate = ''] = process.argv.slice(2);
const videos: { readonly id: string; readonly title: string; readonly created_at: string }[] = [];
const perPage = 100;

const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
  const body: Buffer[] = [];
  request.on('data', (part: Buffer) => body.push(part));
  request.on('end', () => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://far');
    const [, , resource, id] = pathname.split('/');
    response.setHeader('content-type', 'application/json');
    if (resource !== 'videos') return response.end('{"data":[{"id":"ch_main"}]}');
    if (request.method === 'POST') {
      const { title } = JSON.parse(Buffer.concat(body).toString()) as { readonly title: string };
      const video = { id: `vid_${videos.length}`, title, created_at: new Date().toISOString() };
      videos.push(video);
      response.statusCode = 201;
      return response.end(JSON.stringify({ ...video, status: 'pending', upload_url: `${sink}/put/${video.id}` }));
    }
    if (id !== undefined) return response.end(JSON.stringify({ data: ready(videos.find((each) => each.id === id)) }));
    const page = Number(searchParams.get('page') ?? 1);
    const listed = videos.toReversed().slice((page - 1) * perPage, page * perPage);
    const meta = { page, per_page: perPage, total: videos.length };
    return response.end(JSON.stringify({ data: listed.map(ready), meta }));
  });
});

server.listen(0, address, () => console.log(`https://${address}:${(server.address() as AddressInfo).port}`));

function ready(video: (typeof videos)[number] | undefined) {
  return { ...video, status: 'ready', channel_id: 'ch_main', tags: [] };
}

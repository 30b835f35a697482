import { createHash } from 'node:crypto';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { baseUrl, created, ready, uploadAll } from './uploads.ts';

let received = '';
const server = setupServer(
  http.post(`${baseUrl}/videos`, () => HttpResponse.json(created)),
  http.put(created.upload_url, async ({ request }) => {
    received = createHash('sha256')
      .update(await request.bytes())
      .digest('hex');
    return new HttpResponse(null, { status: 200 });
  }),
  http.get(`${baseUrl}/videos/${created.id}`, () => HttpResponse.json(ready)),
);
server.listen();
await uploadAll(() => received);

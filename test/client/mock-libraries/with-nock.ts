import { createHash } from 'node:crypto';
import nock from 'nock';
import { baseUrl, created, ready, uploadAll } from './uploads.ts';

let received = '';
nock.disableNetConnect();
nock(baseUrl).persist().post('/videos').reply(200, created).get(`/videos/${created.id}`).reply(200, ready);
const { origin, pathname } = new URL(created.upload_url);
nock(origin)
  .persist()
  .put(pathname, (body: unknown) => {
    // The bytes are not valid UTF-8, so nock shows them in hexadecimal; an empty body is an empty text.
    received = createHash('sha256')
      .update(Buffer.from(String(body), 'hex'))
      .digest('hex');
    return true;
  })
  .reply(200);
await uploadAll(() => received);

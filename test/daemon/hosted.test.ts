import nock from 'nock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHosted } from '../../src/daemon/hosted.ts';
import { createBandwidth } from '../../src/service/bandwidth.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { openService } from '../service/open-service.ts';

const base = 'https://video.example.com/v1';
const nothing = { error: { code: 'not_found', message: 'nothing here' } };
const { signal } = new AbortController();

beforeAll(() => nock.disableNetConnect());
afterAll(() => nock.enableNetConnect());

test.for([
  { name: 'once, while the list is answered: tried again', list: 200, attempts: 0, kind: 'transient' },
  { name: 'again, while the list is answered: the file fails', list: 200, attempts: 1, kind: 'permanent' },
  { name: 'and the list too: it is the address, everything waits', list: 404, attempts: 0, kind: 'suspended' },
])('404 to a create request $name', async ({ list, attempts, kind }) => {
  await using opened = openService(base);
  nock(base)
    .post('/videos')
    .reply(404, nothing)
    .get('/videos')
    .query(true)
    .reply(list, list === 200 ? { data: [], meta: { page: 1, per_page: 1, total: 0 } } : nothing);
  const hosted = createHosted({
    service: () => opened.service,
    bandwidth: createBandwidth(null),
    stallTimeoutMs: () => 1_000,
  });
  expect(await hosted.create(someFacts({ attempts }), 'token', signal)).toMatchObject({ ok: false, failure: { kind } });
});

import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { sumOfAccounts } from '../../../src/watch/inventory.ts';
import { viewOf } from '../../../src/view/files/file-view.ts';
import { statusView } from '../../../src/view/picture/documents.ts';
import type { LivePicture } from '../../../src/view/picture/picture.ts';
import type { PageSource } from '../../../src/status/page/site.ts';
import { idleDaemon } from './idle-daemon.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import { servedPage } from './served-page.ts';

const view = {
  counts: { queued: 2 },
  settling: 1,
  outlook: { limited_by: 'upload slots', why: 'all 4 are in use', done_at: null } as const,
  working: [
    viewOf(
      null,
      someFacts({ path: '<script>alert(1)</script>.mp4', uploadUrl: 'https://upload.example/x?sig=secret' }),
    ),
  ],
};

const authorization = 'Bearer the-token';

/** One GET, with a Host header of our choice: `fetch` does not let one set it. */
function get(
  port: number,
  path: string,
  host = `127.0.0.1:${port}`,
): Promise<{ status: number; headers: object; text: string }> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers: { host, authorization }, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    })
      .on('error', reject)
      .end();
  });
}

const serve = (
  picture: Partial<LivePicture>,
  receive: PageSource['receive'] = () => 'not wanted',
  health: ReturnType<PageSource['health']> = 'ok',
) => servedPage({ daemon: idleDaemon(picture), health: () => health, receive });

test('shows what is under way, with hostile names escaped', async () => {
  await using page = await serve(view);
  const { status, headers, text } = await get(page.port, '/');
  expect(status).toBe(200);
  expect(headers).toMatchObject({ 'content-security-policy': expect.stringContaining("default-src 'none'") });
  expect(text).toContain('&lt;script&gt;alert(1)');
  expect(text.match(/<script/g)).toHaveLength(1);
});

test('says what the status says: the limit of uploads, an archive to adopt, files to delete, paths in no state', async () => {
  const at = new Date(2099, 0, 1, 20, 0).getTime();
  await using page = await serve({
    ...view,
    uploads: { bytes_per_second: 20_000_000, until: at, start_at: null },
    adoption: { files: 12, compared: 3, comparing: null },
    deletions: { files: 5, next_at: at },
    accounts: { ...sumOfAccounts([]), unaccounted: 1 },
  });
  const { text } = await get(page.port, '/');
  const words = text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
  for (const part of [
    'Combined upload limit: 20 MB/s until 2099-01-01 20:00.',
    '12 files were there before: dropcast adopt shows which of',
    '5 local files will be deleted later, the next after 2099-01-01 20:00.',
    '1 file is in no state.',
  ])
    expect(words).toContain(part);
});

test('gives programs the same as JSON, without upload addresses', async () => {
  await using page = await serve(view);
  const { text } = await get(page.port, '/status.json');
  expect(JSON.parse(text)).toEqual(statusView(await idleDaemon(view).picture()));
  expect(text).not.toContain('sig=');
});

test.each([
  ['ok', 200],
  ['waiting', 503],
  ['frozen', 503],
] as const)('a health check says %s with %s, and tells strangers nothing else', async (health, status) => {
  await using page = await serve(view, undefined, health);
  expect(await get(page.port, '/healthz')).toMatchObject({ status, text: `${health}\n` });
});

test.each(['evil.example', 'evil.example:80', 'localhost.evil.example'])(
  'a request under the name %s is refused',
  async (host) => {
    await using page = await serve(view);
    expect((await get(page.port, '/status.json', host)).status).toBe(421);
  },
);

describe('POST /webhooks', () => {
  const signed = { 'webhook-id': 'msg_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' };
  const post = (port: number, body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', body, headers });

  test.each([
    ['taken', 204],
    ['refused', 401],
    ['not wanted', 404],
  ] as const)('a webhook that is %s is answered %i', async (admission, status) => {
    await using page = await serve(view, () => admission);
    expect((await post(page.port, '{}')).status).toBe(status);
  });

  test('is handed on byte for byte, with its headers', async () => {
    const received: { id: string | null; body: Buffer }[] = [];
    await using page = await serve(view, ({ headers, body }) => {
      if (body === null) return 'unread';
      received.push({ id: new Headers(headers as Headers).get('webhook-id'), body: Buffer.from(body) });
      return 'taken';
    });
    const bytes = Buffer.from([0, 255, 13, 10, 123]);
    await post(page.port, bytes, signed);
    expect(received).toEqual([{ id: 'msg_1', body: bytes }]);
  });

  test('comes under whatever name, as a proxy passes it on', async () => {
    await using page = await serve(view, () => 'taken');
    const status = await new Promise((resolve, reject) => {
      const asked = { host: '127.0.0.1', port: page.port, path: '/webhooks', method: 'POST', agent: false };
      request({ ...asked, headers: { host: 'dropcast.example.com' } }, (answer) => resolve(answer.statusCode))
        .on('error', reject)
        .end('{}');
    });
    expect(status).toBe(204);
  });

  test('more than 64 KiB is refused unread, whether it is announced or not', async () => {
    let isAsked = false;
    await using page = await serve(view, ({ body }) => {
      isAsked ||= body !== null;
      return body === null ? 'unread' : 'taken';
    });
    const tooMuch = Buffer.alloc(64 * 1024 + 1);
    expect((await post(page.port, tooMuch)).status).toBe(413);
    const unannounced = new Blob([tooMuch]).stream();
    const streamed = { method: 'POST', body: unannounced, duplex: 'half', headers: signed } as RequestInit;
    expect((await fetch(`http://127.0.0.1:${page.port}/webhooks`, streamed)).status).toBe(413);
    expect(isAsked).toBe(false);
    expect((await post(page.port, tooMuch.subarray(1), signed)).status).toBe(204);
  });

  test('that its headers rule out is refused before its body arrives', async () => {
    const bodies: (Uint8Array | null)[] = [];
    await using page = await serve(view, ({ body }) => {
      bodies.push(body);
      return 'refused';
    });
    const headers = { 'webhook-id': 'msg_1', 'content-length': '1000' };
    const asked = { host: '127.0.0.1', port: page.port, path: '/webhooks', method: 'POST', agent: false, headers };
    const answered = await new Promise<IncomingMessage>((resolve, reject) => {
      request(asked, resolve).on('error', reject).flushHeaders();
    });
    expect(answered).toMatchObject({ statusCode: 401, headers: { connection: 'close' } });
    expect(bodies).toEqual([null]);
    answered.destroy();
  });

  test('can only be posted to', async () => {
    await using page = await serve(view, () => 'taken');
    expect((await get(page.port, '/webhooks')).status).toBe(404);
  });
});

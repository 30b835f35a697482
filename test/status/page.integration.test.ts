import { request } from 'node:http';
import { expect, test } from 'vitest';
import { viewOf } from '../../src/daemon/view.ts';
import type { StatusView } from '../../src/daemon/view.ts';
import { serveStatusPage } from '../../src/status/page.ts';
import { someFacts } from '../pipeline/some-facts.ts';

const view: StatusView = {
  v: 1,
  daemon: { running: true, pid: 1, started_at: 0 },
  config: '/etc/dropcast/dropcast.yaml',
  counts: { queued: 2 },
  settling: 1,
  waiting: null,
  requests: { used: 3, limit: 1000, blocked_until: null, total: 3 },
  folders: [
    {
      path: '/inbox',
      state: 'frozen',
      why: 'unmounted',
      paths: { seen: 0, settling: 0, offered: 0, ignored: 0, refused: 0 },
    },
  ],
  working: [
    viewOf(
      null,
      someFacts({ path: '<script>alert(1)</script>.mp4', uploadUrl: 'https://upload.example/x?sig=secret' }),
    ),
  ],
  needs_you: [],
  suspects: 0,
};

/** One GET, with a Host header of our choice: `fetch` does not let one set it. */
function get(
  port: number,
  path: string,
  host = `127.0.0.1:${port}`,
): Promise<{ status: number; headers: object; text: string }> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    })
      .on('error', reject)
      .end();
  });
}

const serve = (status: StatusView) => serveStatusPage({ host: '127.0.0.1', port: 0 }, () => Promise.resolve(status));

test('shows what is under way, with hostile names escaped and no secret', async () => {
  await using page = await serve(view);
  const { status, headers, text } = await get(page.port, '/');
  expect(status).toBe(200);
  expect(headers).toMatchObject({ 'content-security-policy': expect.stringContaining("default-src 'none'") });
  expect(text).toContain('&lt;script&gt;alert(1)');
  expect(text).not.toContain('<script');
  expect(text).toContain('/inbox: frozen, unmounted');
  expect(text).not.toContain('sig=');
});

test('gives programs the same as JSON, without upload addresses', async () => {
  await using page = await serve(view);
  const { text } = await get(page.port, '/status.json');
  expect(JSON.parse(text)).toEqual(view);
  expect(text).not.toContain('sig=');
});

test('a health check fails while everything waits, and says why', async () => {
  await using well = await serve(view);
  expect(await get(well.port, '/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
  const waiting = { kind: 'suspended', why: 'the key was refused', since: 0, next_probe_at: 1 };
  await using ill = await serve({ ...view, waiting });
  expect(await get(ill.port, '/healthz')).toMatchObject({ status: 503, text: 'waiting: the key was refused\n' });
});

test.each(['evil.example', 'evil.example:80', 'localhost.evil.example'])(
  'a request under the name %s is refused',
  async (host) => {
    await using page = await serve(view);
    expect((await get(page.port, '/status.json', host)).status).toBe(421);
  },
);

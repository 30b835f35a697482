import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import type { Comparison } from '../../packages/recorder/src/compare/compare.ts';
import type { Switches } from '../../packages/sandbox/src/profiles/switch-table.ts';
import { clientAt, recorded } from './recorded.ts';

const clip = new URL('../media/clip.mp4', import.meta.url).pathname;

const paths = [
  '/videos',
  '/videos/vid_unknown',
  '/videos/VIDEO',
  '/channels',
  '/channels/ch_news',
  '/channels/ch_unknown',
  '/feeds',
  '/feeds/feed_news/publish',
  '/feeds/unknown/publish',
  '/analytics/videos?video_id=VIDEO&from=2026-01-01&to=2026-01-31',
  '/analytics/videos?from=today',
  '/analytics/videos',
  '/analytics/overview',
  '/analytics/overview?channel_id=ch_unknown&from=2026-02-30',
  '/videos?per_page=101',
  '/videos?per_page=100&page=2&status=ready',
  '/videos?page=0&status=pending',
  '/nothing',
];
const named = '{"title":"T","channel_id":"ch_news","tags":["a"]}';
const bodies = ['{}', named, '{"title":7}', '{"other":1}', '{"', '[]'];
const keys: readonly Key[] = ['right', 'wrong', 'none'];

type Key = 'right' | 'wrong' | 'none';

test('the sandbox follows its own contract, whatever the request', { timeout: 120_000 }, async () => {
  await using running = await runSandbox();
  const { baseUrl: to, apiKey } = running.sandbox;
  const file = await readFile(clip);
  const { comparison, recording } = await recorded(to, async ({ baseUrl }) => {
    const headersWith: Readonly<Record<Key, Record<string, string>>> = {
      right: { authorization: `Bearer ${apiKey}` },
      wrong: { authorization: 'Bearer sk_wrong_000000' },
      none: {},
    };
    const ask = async (method: string, target: string, body?: string | Buffer, key: Key = 'right'): Promise<string> => {
      const headers = { 'content-type': 'application/json', ...headersWith[key] };
      const url = target.startsWith('/') ? baseUrl + target : target;
      return (await fetch(url, { method, headers, ...(body !== undefined && { body }) })).text();
    };
    const create = async (): Promise<{ readonly id: string; readonly upload_url: string }> =>
      JSON.parse(await ask('POST', '/videos', named));
    const video = await create();
    for (const content of [Buffer.alloc(0), file, file]) await ask('PUT', video.upload_url, content);
    const other = await create();
    const form = new FormData();
    form.append('file', new Blob([file]));
    await fetch(other.upload_url, { method: 'PUT', body: form });
    await ask('PUT', other.upload_url, 'this is no video');
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) await ask(method, other.upload_url);
    for (const [method, path, body, key] of matrix()) await ask(method, path.replaceAll('VIDEO', video.id), body, key);
    for (const key of keys) await ask('DELETE', `/videos/${other.id}`, undefined, key);
    await ask('DELETE', `/videos/${other.id}`);
    await ask('PUT', other.upload_url, file);
  });
  expect(recording.exchanges.length).toBeGreaterThan(300);
  expect(recording.exchanges.filter(({ broken }) => broken !== undefined)).toEqual([]);
  expect([comparison.violated, comparison.contradicted, comparison.unknown]).toEqual([[], [], []]);
});

test.each<[Partial<Switches>, 'violated' | 'contradicted', string[]]>([
  [{ create_body: 'wrapped' }, 'violated', ['videos.create body is wrapped in data']],
  [{ create_status: '202' }, 'contradicted', ['videos.create HTTP status answers 202']],
  [{ get_body: 'bare' }, 'contradicted', ['videos.get body is not wrapped in data']],
  [{ list_order: 'oldest' }, 'contradicted', ['videos.list order oldest first']],
  [{ delete_answer: '202' }, 'contradicted', ['videos.delete HTTP status answers 202']],
  [{ second_delete: '204' }, 'contradicted', ['videos.delete second time answered with 204']],
  [{ publish_answer: 'wrapped' }, 'violated', ['feeds.publish body is wrapped in data']],
])('a service with %j departs from the contract in this, and in nothing else', async (switches, group, expected) => {
  await using running = await runSandbox({ switches });
  const { comparison } = await recorded(running.sandbox.baseUrl, async (recorder) => {
    await using client = clientAt(recorder, running.sandbox.apiKey);
    const created = [await client.videos.create({ title: 'First' }), await client.videos.create({ title: 'Second' })];
    for (const { id } of created) await client.videos.get(id);
    await client.videos.list().toArray();
    await client.feeds.publish('feed_news');
    for (const id of [created[0]?.id, created[0]?.id]) await client.videos.delete(String(id)).catch(() => {});
  });
  const told = (findings: Comparison['violated']): string[] => findings.map(({ place, what }) => `${place} ${what}`);
  expect({ violated: told(comparison.violated), contradicted: told(comparison.contradicted) }).toEqual({
    violated: [],
    contradicted: [],
    [group]: expected,
  });
});

/** Each path with each method, with bodies where there can be one, and with keys that differ. */
function* matrix(): Generator<readonly [method: string, path: string, body: string | undefined, key: Key]> {
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH'])
      for (const key of keys) yield [method, path, undefined, key];
    for (const method of ['POST', 'PUT', 'PATCH']) for (const body of bodies) yield [method, path, body, 'right'];
  }
}

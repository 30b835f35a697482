import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';
import { dropcast, startDropcast } from './dropcast-process.ts';

const root = join(import.meta.dirname, '../..');

/** What the example tells you to set, and for the test alone: shorter waits, and no port that others may use. */
async function copyOfExample(baseUrl: string, folder: string): Promise<string> {
  const example = await readFile(join(root, 'config.example.yaml'), 'utf8');
  return example
    .replace('https://video.example.com/v1', baseUrl)
    .replaceAll(/\/(?:srv|var)\//g, `${folder}/`)
    .replace('127.0.0.1:7878', '127.0.0.1:0')
    .replace(/settle: \w+/, 'settle: 300ms')
    .replace(/interval: \w+/, 'interval: 200ms')
    .replace(/quiet: \w+/, 'quiet: 0s');
}

test('the example runs against the sandbox with its address, its key and your folders, and a file becomes live', async () => {
  await using scratch = await scratchDirectory();
  await using sandbox = startDropcast(['sandbox', '--port', '0', '--json']);
  const line = await until('the sandbox is ready', () => /^\{.*\}$/m.exec(sandbox.output())?.[0]);
  const { base_url, api_key } = JSON.parse(line) as { readonly base_url: string; readonly api_key: string };
  const config = scratch.file('dropcast.yaml');
  await writeFile(config, await copyOfExample(base_url, scratch.path), { mode: 0o600 });
  const media = scratch.file('media');
  for (const folder of ['inbox/news/evening', 'podcasts']) await mkdir(join(media, folder), { recursive: true });
  const env = { DROPCAST_API_KEY: api_key };
  const checked = await dropcast(['check', '--online', '--config', config], env);
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  await using daemon = startDropcast(['run', '--config', config], env);
  const { output } = daemon;
  await until('it is ready', () => output().includes('Ready'), { seen: output });
  await copyFile(join(root, 'test/media/clip.mp4'), join(media, 'inbox/news/evening/clip.mp4'));
  await until('the clip is live', () => output().includes('"state":"done"'), { seen: output });
});

import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { freePort } from '../support/free-port.ts';
import { startServer } from '../support/server.ts';
import { eventually, until } from '../support/until.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import type { RunningSandbox } from '../sandbox/running-sandbox.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const run = promisify(execFile);

/** The examples of the page, by the file name in their first line. */
const examples = new Map(
  [...readFileSync(at('docs/client.md'), 'utf8').matchAll(/^```ts\n\/\/ ([\w-]+\.ts)\n([^]*?)^```$/gm)].map(
    ([, name = '', code = '']) => [name, code],
  ),
);

let folder: ScratchDirectory;
let plain: RunningSandbox;

beforeAll(async () => {
  folder = await scratchDirectory();
  plain = await runSandbox();
  const library = pathToFileURL(at('packages/client/src/index.ts')).href;
  for (const [name, code] of examples) {
    writeFileSync(join(folder.path, name), code.replaceAll("from '@dropcast/client'", `from '${library}'`));
  }
  writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }');
  cpSync(at('test/media/clip.mp4'), join(folder.path, 'clip.mp4'));
});

afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  await plain.sandbox.close();
});

function environment({ sandbox }: RunningSandbox): NodeJS.ProcessEnv {
  return { ...process.env, DROPCAST_BASE_URL: sandbox.baseUrl, DROPCAST_API_KEY: sandbox.apiKey, NO_COLOR: '1' };
}

/** Runs an example as its reader would. @returns what it prints */
async function output(name: string, env: NodeJS.ProcessEnv = environment(plain)): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [name], { cwd: folder.path, env });
  expect(stderr).toBe('');
  return stdout;
}

describe('the page of the client', () => {
  test('has its TypeScript in named examples, all of which are run here', () => {
    const blocks = readFileSync(at('docs/client.md'), 'utf8').match(/^```ts$/gm);
    expect(blocks).toHaveLength(examples.size);
    const run = ['client.ts', 'create-and-send.ts', 'tls.ts', 'webhook.ts', ...printing.map(([name]) => name)];
    expect([...examples.keys()].toSorted()).toEqual(run.toSorted());
  });

  test('has examples whose types are right', async () => {
    const paths = { '@dropcast/client': [at('packages/client/src/index.ts')] };
    const typed = { ...JSON.parse(readFileSync(at('tsconfig.json'), 'utf8')).compilerOptions, paths };
    await using typedFolder = await scratchDirectory();
    for (const [name, code] of examples) writeFileSync(join(typedFolder.path, name), code);
    symlinkSync(at('node_modules'), join(typedFolder.path, 'node_modules'));
    const config = { compilerOptions: typed, files: [...examples.keys()] };
    writeFileSync(join(typedFolder.path, 'tsconfig.json'), JSON.stringify(config));
    writeFileSync(join(typedFolder.path, 'package.json'), '{ "type": "module" }');
    const checking = run(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', typedFolder.path]);
    const { stdout } = await checking.catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });

  const printing: [string, RegExp][] = [
    ['upload.ts', /^created vid_\w+\n[^]*^100 %\nvid_\w+: \d+ bytes, SHA-256 [0-9a-f]{64}\n$/m],
    ['upload-bytes.ts', /^vid_\w+\nvid_\w+\n$/],
    ['any-request.ts', /^\{[^]*videos: \[|data: \[/],
    ['upload-stream.ts', /^vid_\w+\n$/],
    ['publish.ts', /^ready\n\d+ s, to be seen at http\S+\n\d+ videos in the feed since 20\S+\n$/m],
    ['videos.ts', /\nRenamed\n$/],
    ['channels-and-feeds.ts', /^ch_main Main \d+\n[^]*^feed_news mrss http/m],
    ['analytics.ts', /^\d+ \d+ \[[^]*from: '20/],
    ['waiting.ts', /^(?:not ready: asks again in \d+ ms\n)*ready\n$/],
    ['raw-answer.ts', /^3 200 application\/json\S* 1\n$/],
    ['errors.ts', /^there is no such video\n$/],
    ['budgets.ts', /^list feeds low\n$/],
    ['own-books.ts', /^vid_\w+: [0-9a-f]{64}\n$/],
    ['hooks.ts', /^list channels: GET \/channels, attempt 1\nlist channels 200 \d+ /],
  ];

  test.each(printing)('has an example %s that runs', async (name, expected) => {
    expect(await output(name)).toMatch(expected);
  });

  test('has an example of two steps and an import, which fetches from the address that it names', async () => {
    const clip = readFileSync(at('test/media/clip.mp4'));
    await using server = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(clip);
    });
    const code = readFileSync(join(folder.path, 'create-and-send.ts'), 'utf8');
    writeFileSync(join(folder.path, 'import.ts'), code.replace('http://127.0.0.1:4080', server.origin));
    expect(await output('import.ts')).toMatch(/^(pending|processing)\n$/);
  });

  test('has an example that trusts the certificate of the sandbox', async () => {
    await using secure = await runSandbox({ tls: true });
    const env = { ...environment(secure), DROPCAST_CA: secure.sandbox.caPath };
    expect(await output('tls.ts', env)).toMatch(/^\d+\n$/);
  });

  test('has an example that takes webhooks, and refuses forged ones', async () => {
    const key = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const port = await freePort();
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: `whsec_${key}` };
    const receiver = spawn(process.execPath, ['webhook.ts'], { cwd: folder.path, env });
    let printed = '';
    for (const stream of [receiver.stdout, receiver.stderr]) stream.on('data', (data) => (printed += String(data)));
    const send = async (type: string, data: object, signed = true) => {
      const body = JSON.stringify({ type, timestamp: '2026-11-20T12:00:00Z', data });
      const timestamp = String(Math.floor(Date.now() / 1000));
      const mac = createHmac('sha256', Buffer.from(key, 'base64')).update(`msg_1.${timestamp}.${body}`);
      const signature = `v1,${signed ? mac.digest('base64') : 'AAAA'}`;
      const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers })).status;
    };
    try {
      const video = { id: 'vid_1', status: 'ready' };
      expect(await until('the receiver answers', () => send('video.ready', video))).toBe(204);
      expect(await send('feed.published', { feed_id: 'feed_1', video_count: 2 })).toBe(204);
      expect(await send('video.seen', {})).toBe(204);
      expect(await send('video.ready', video, false)).toBe(400);
      const lines = ['vid_1 is ready', 'feed_1 has 2 videos', 'video.seen: a kind that this version does not know {}'];
      await eventually('all of it is printed', () => {
        expect(printed).toBe([...lines, 'wrong_signature', ''].join('\n'));
      });
    } finally {
      receiver.kill();
    }
  });
});

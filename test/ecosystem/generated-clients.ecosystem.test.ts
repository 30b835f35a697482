import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { run, tool, workspace, type Workspace } from './tools.ts';

const CLIP = join(import.meta.dirname, '../media/clip.mp4');

describe('the client that a generator makes from openapi.yaml creates a video, uploads, waits and publishes', () => {
  let work: Workspace;
  beforeAll(async () => {
    work = await workspace();
    const plugins = ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript'];
    await run(tool('openapi-typescript'), ['openapi.yaml', '-o', 'openapi-typescript.gen.ts'], { cwd: work.path });
    await run(tool('openapi-ts'), ['-i', 'openapi.yaml', '-o', 'hey-api.gen', '-p', ...plugins], { cwd: work.path });
    await run(tool('orval'), ['--config', 'orval.config.ts'], { cwd: work.path });
    // Strict: programs/tsconfig.json.
    await run(tool('tsc'), ['-p', '.'], { cwd: work.path });
  });
  afterAll(() => work[Symbol.asyncDispose]());

  test.each(['openapi-fetch', 'hey-api', 'orval'])('%s', async (name) => {
    await using service = await runSandbox();
    const { baseUrl, apiKey } = service.sandbox;
    const printed = await run(process.execPath, [join('built', `${name}.js`), baseUrl, apiKey, CLIP], {
      cwd: work.path,
    });
    expect(JSON.parse(printed)).toEqual({ size: 65_182, status: 'ready', duration: 4, videos: 1 });
  });
});

import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, type RunningSandbox } from '../sandbox/running-sandbox.ts';
import { hostileText, requestsOf, type Known, type WireRequest } from './arbitraries.ts';
import { operationNamed, operations } from '../../packages/sandbox/src/contract/document.ts';
import { WireClient } from './wire-client.ts';

/**
 * Requests to send, over all operations. For a long run: DROPCAST_FUZZ_REQUESTS=50000 npx vitest run test/contract/fuzz
 * DROPCAST_FUZZ_SEED repeats the run that a failure names.
 */
const REQUESTS = Number(process.env['DROPCAST_FUZZ_REQUESTS'] ?? 3000);
const SEED = Number(process.env['DROPCAST_FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const TIMEOUT_MS = 30_000 + REQUESTS * 20;

let service: RunningSandbox;
let client: WireClient;
let defects = 0;
const videos: string[] = [];
beforeAll(async () => {
  service = await runSandbox({ requestsPerHour: 1_000_000_000 });
  client = new WireClient(service.sandbox);
  videos.push((await service.upload('clip.mp4', { channel_id: 'ch_main' })).id, (await service.create()).id);
});
afterAll(async () => {
  client[Symbol.dispose]();
  console.log(`fuzz: ${client.summary()}, ${defects} defects, seed ${SEED}`);
  expect(client.afterwards).toEqual([]);
  await service.sandbox.close();
});

const IDS: Readonly<Record<string, readonly string[]>> = {
  VideoId: videos,
  ChannelId: ['ch_main', 'ch_news', 'ch_podcast'],
  FeedId: ['feed_main', 'feed_news', 'feed_podcast', 'feed_tv'],
};
const known: Known = (name) => IDS[name] ?? [];

/** Sends it, and fails when the answer is against the contract. A video that was made by it is one of the known from now on. */
async function tried(sent: WireRequest): Promise<void> {
  const { status, body, problems } = await client.send(sent);
  defects += problems.length;
  expect(problems).toEqual([]);
  if (status === 201 && videos.length < 200) videos.push((JSON.parse(body) as { id: string }).id);
}

const api = operations.filter((operation) => operation.needsKey);

describe('whatever is sent, the answer is as the contract says, and never a 500 (7)', () => {
  // The uploads take a tenth of all.
  const runs = { numRuns: Math.ceil((REQUESTS * 0.9) / api.length), seed: SEED };

  test.each(api.map((operation) => [operation.name, operation] as const))(
    '%s',
    async (_name, operation) => {
      await fc.assert(fc.asyncProperty(requestsOf(operation, known), tried), runs);
    },
    TIMEOUT_MS,
  );

  test(
    'uploads.put',
    async () => {
      const { method } = operationNamed('uploads.put');
      const upload = fc.record({
        method: fc.oneof(
          { weight: 8, arbitrary: fc.constant(method) },
          fc.constantFrom('POST', 'GET', 'HEAD', 'OPTIONS'),
        ),
        spoil: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, hostileText.map(printable)),
        headers: fc.constantFrom<Record<string, string>>(
          {},
          {},
          { 'content-type': 'text/html' },
          { 'content-encoding': 'gzip' },
          { 'content-range': 'bytes 0-1/9' },
          { authorization: 'Bearer x' },
          { expect: '100-continue' },
        ),
        body: fc.oneof(fc.constant(''), hostileText, fc.base64String()),
        isTwice: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(upload, async ({ spoil, isTwice, ...sent }) => {
          const { upload_url } = await service.create();
          const target = new URL(upload_url).pathname + spoil;
          await tried({ ...sent, target });
          if (isTwice) await tried({ ...sent, target });
        }),
        { numRuns: Math.ceil((REQUESTS * 0.1) / 1.5), seed: SEED },
      );
    },
    TIMEOUT_MS,
  );
});

function printable(text: string): string {
  return text.slice(0, 500).replaceAll(/[^!-~]/g, '_');
}

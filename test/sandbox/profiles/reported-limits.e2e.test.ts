import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Switches } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import { startSandbox } from '../../../packages/sandbox/src/sandbox.ts';
import { makeScratch, startDropcast } from '../../e2e/dropcast-process.ts';
import { until } from '../../support/until.ts';
import { admin } from '../admin/admin-side.ts';

const clip = await readFile(join(import.meta.dirname, '../../media/clip.mp4'));
const files = 20;
/** The service takes 50 requests in ten seconds. */
const [limit, usedByOthers] = [50, 40];

/**
 * Uploads files to a service that takes ten more requests for now, and needs more. The service's clock stands still until
 * they are used, so that the speed of this machine does not matter.
 *
 * @returns how many requests the service refused
 */
async function refusals(rate_limit_headers: Switches['rate_limit_headers']): Promise<number> {
  await using sandbox = await startSandbox({
    switches: { rate_limit: 'burst', rate_limit_headers },
    processingMs: { min: 50, max: 100 },
  });
  await using scratch = await makeScratch({
    service: { base_url: sandbox.baseUrl },
    poll: { interval: '1s' },
    publish: { quiet: '1s', at_most: '2s' },
    folders: [{ path: 'in', settle: '1s', rules: [{ match: '**', channel: 'ch_news', publish: ['feed_news'] }] }],
  });
  await mkdir(scratch.file('in'));
  for (let n = 0; n < files; n += 1) {
    // Each has a box of its own that players skip, so that none is a duplicate.
    const own = Buffer.from(`\0\0\0\u000Cfree${String(n).padStart(4)}`, 'latin1');
    await writeFile(scratch.file(`in/clip ${n}.mp4`), Buffer.concat([clip, own]));
  }
  const asked = () => sandbox.requests().filter(({ path }) => path.startsWith('/v1/'));
  const ask = () => fetch(`${sandbox.baseUrl}/feeds`, { headers: { authorization: `Bearer ${sandbox.apiKey}` } });
  await admin({ sandbox }, 'PUT /clock', { frozen: true });
  await Promise.all(Array.from({ length: usedByOthers }, ask));
  await using daemon = startDropcast(['once', '--config', scratch.config, '--json'], { KEY: sandbox.apiKey });
  const isRefused = () => asked().some(({ status }) => status === 429);
  // The daemon keeps the last two for what is urgent.
  const isUsedUp = () => (rate_limit_headers === 'none' ? isRefused() : asked().length >= limit - 2);
  await until('the requests for now are used', () => isUsedUp() || undefined);
  await admin({ sandbox }, 'PUT /clock', { frozen: false });
  // The daemon counts from its last answer, and the service from now.
  sandbox.advance(5_000);
  const { stdout, code } = await daemon.ended;
  const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { files: { state: string }[] };
  expect([code, last.files.filter(({ state }) => state === 'done').length]).toEqual([0, files]);
  expect(new Set(sandbox.files().map(({ sha256 }) => sha256)).size).toBe(files);
  return asked().filter(({ status }) => status === 429).length;
}

test.concurrent.each(['none', 'draft', 'date', 'window_ms'] as const)(
  'a service that limits bursts and reports so (%s) refuses no request; one that does not report it refuses some',
  async (form) => {
    const refused = await refusals(form);
    if (form === 'none') expect(refused).toBeGreaterThan(0);
    else expect(refused).toBe(0);
  },
);

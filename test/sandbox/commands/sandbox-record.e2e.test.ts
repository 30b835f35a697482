import { execFileSync } from 'node:child_process';
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSandbox } from '../running-sandbox.ts';
import { until } from '../../support/until.ts';
import { dropcast, startDropcast, type DropcastProcess } from '../../e2e/dropcast-process.ts';
import { writeConfig, type Settings } from '../../support/configuration.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const media = join(import.meta.dirname, '../../media');

/** The address that it prints. */
async function addressOf(process: DropcastProcess): Promise<string> {
  const found = (): string | undefined => /^http:\/\/127\.0\.0\.1:\d+\/v1$/m.exec(process.output())?.[0];
  await until('it listens', () => found() !== undefined);
  return found() ?? '';
}

const settings = (baseUrl: string): Settings => ({
  service: { base_url: baseUrl },
  publish: { quiet: '1s', at_most: '2s' },
  poll: { interval: '1s' },
  folders: [{ path: 'in', settle: '1s', rules: [{ match: '**', channel: 'ch_news', publish: ['feed_news'] }] }],
});

test('the daemon through a recorder, the comparison of what was recorded, and the daemon again from the recording', async () => {
  await using running = await runSandbox();
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('in'));
  await cp(join(media, 'clip.mp4'), scratch.file('in/clip.mp4'));
  const once = async (baseUrl: string, key: string) => {
    // The second time it knows nothing of the first.
    await rm(scratch.file('state'), { recursive: true, force: true });
    const config = await writeConfig(scratch, settings(baseUrl));
    return await dropcast(['once', '--config', config, '--json'], { KEY: key });
  };
  const file = scratch.file('recording.ndjson');
  await using recorder = startDropcast([
    'sandbox',
    'record',
    '--to',
    running.sandbox.baseUrl,
    '--port',
    '0',
    '--out',
    file,
  ]);
  expect(await once(await addressOf(recorder), running.sandbox.apiKey)).toMatchObject({ code: 0 });
  const recorded = await recorder.kill('SIGINT');
  expect(recorded.code).toBe(0);
  expect(recorded.stderr).toMatch(/^\d+ POST \/v1\/videos 201$/m);
  expect(recorded.stderr).toMatch(/^\d+ PUT \/uploads\/vid_\w+\/1 200$/m);
  expect(recorded.stderr).toContain('As openapi.yaml assumes (');

  const compared = await dropcast(['sandbox', 'compare', file, '--json']);
  expect(compared).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(compared.stdout)).toMatchObject({ v: 1, violated: [], contradicted: [], unknown: [], broken: [] });

  await using replay = startDropcast(['sandbox', 'replay', file, '--port', '0']);
  expect(await once(await addressOf(replay), 'any-key')).toMatchObject({ code: 0 });
  const replayed = await replay.kill('SIGINT');
  expect(replayed).toMatchObject({ code: 0, stderr: expect.stringContaining('0 requests without a recorded answer') });
});

test('a recorder whose disk is full says so, refuses what comes, and ends with exit code 1', async () => {
  await using running = await runSandbox();
  await using scratch = await scratchDirectory();
  const file = scratch.file('r');
  const { baseUrl } = running.sandbox;
  await using recorder = startDropcast(['sandbox', 'record', '--to', baseUrl, '--port', '0', '--out', file]);
  const address = await addressOf(recorder);
  execFileSync('/bin/sh', ['-c', `prlimit --pid ${recorder.child.pid} --fsize=300`]);
  await fetch(`${address}/videos`);
  await until('it says so', () => recorder.output().includes('Cannot write'));
  expect((await fetch(`${address}/videos`)).status).toBe(500);
  const { code, stderr } = await recorder.kill('SIGINT');
  expect([code, stderr]).toEqual([1, expect.stringContaining('is incomplete')]);
});

test('mistakes are said in one sentence', async () => {
  await using scratch = await scratchDirectory();
  const noRecording = await scratch.write('notes.txt', 'not a recording\n');
  const record = (...args: string[]) =>
    dropcast(['sandbox', 'record', '--out', scratch.file('r'), '--port', '0', ...args]);
  expect(await record('--to', 'http://video.example.com/v1')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^--to: the address must start with https:[^\n]+\n$/),
  });
  const taken = ['sandbox', 'record', '--to', 'https://video.example.com/v1', '--out', noRecording];
  expect(await dropcast(taken)).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') });
  expect(await dropcast(['sandbox', 'compare', noRecording])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/notes\.txt is not a recording: [^\n]+\n$/),
  });
  expect(await dropcast(['sandbox', 'replay', scratch.file('none')])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ENOENT'),
  });
});

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { dropcast } from '../e2e/dropcast-process.ts';
import { until } from '../support/until.ts';
import { answer, isCreate, startStation } from '../e2e/station.ts';
import type { Station } from '../e2e/station.ts';

/** What a name, a title or an answer may hold to act on a terminal, end a line of the journal, or reorder what is read. */
const ansi = '\u001B[31m\u001B]0;title\u0007\u001B[2J';
const act = `${ansi}\n<2>forged\r\nforged=1\u009B31m\u0085\u2028\u202Egpj.\u2066\uFEFF\u007F`;

/** Every character that is no text, but the newline that ends our own lines. */
const unsafe = /[^\P{Cc}\n]|[\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF]/u;

let station: Station;

beforeAll(async () => {
  station = await startStation({
    env: { JOURNAL_STREAM: '8:1' },
    settings: { retry: { attempts: 1, first: '100ms', max: '100ms' } },
  });
  station.faults.api = (request, response, body) => {
    // A service that refuses everything would be away: no file would fail.
    const isAnswered = request.method === 'GET' && /^\/v1\/(?:feeds|channels|videos\?)/.test(request.url ?? '');
    if (isAnswered || request.url?.startsWith('/v1/feeds') === true) return false;
    const said = { error: { code: `code${act}`, message: `message${act}` } };
    if (!isCreate(request)) return answer(response, 422, said, { 'x-request-id': 'id\u009B31m' });
    if (body.toString().includes('refused')) return answer(response, 422, said);
    const created = { id: `vid_${act}`, upload_url: `${station.host.uploadOrigin}/u/x`, status: `pending${ansi}` };
    return answer(response, 201, created);
  };
  station.faults.upload = (_, response) => answer(response, 400, { error: { code: act, message: act } });
  await station.drop(`refused${act.replaceAll('/', '_')}.mp4`);
  // Control characters are refused in a sidecar; this is what is left.
  await station.drop('sidecar.yaml', 'title: "refused by its title\\n<2>forged\\r\\nforged \u202Egpj.\u2066"');
  await station.drop('sidecar.mp4');
  await station.drop('made.mp4');
  const hasFailed = async (): Promise<boolean> =>
    (await station.files()).files.filter(({ state }) => state === 'failed').length === 3;
  await until('all three have failed', hasFailed);
});

afterAll(async () => {
  await station[Symbol.asyncDispose]();
});

describe('hostile names, titles and answers do nothing', () => {
  test('in the journal: each line has a level of ours, and none is forged', async () => {
    const output = station.daemon().output();
    expect(output).toContain('forged');
    expect(output).not.toMatch(unsafe);
    const lines = output.split('\n').filter(Boolean);
    expect(lines.filter((line) => !/^<[3467]>\S/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.startsWith('<2>'))).toEqual([]);
  });

  test('in failures.jsonl: as many lines as failures, all of them JSON', async () => {
    await until('three failures are written', async () => (await failures()).length >= 3);
    const text = await readFile(station.scratch.file('state/failures.jsonl'), 'utf8');
    expect(text).not.toMatch(unsafe);
    expect((await failures()).map(({ v }) => v)).toEqual([1, 1, 1]);
    expect((await failures()).map(({ file }) => file)).toContain(
      station.scratch.file('inbox', `refused${act.replaceAll('/', '_')}.mp4`),
    );
  });

  test.each([
    ['ls', []],
    ['status', []],
    ['show', ['made.mp4']],
    ['show', ['sidecar.mp4']],
    ['explain', ['made.mp4']],
    ['explain', ['sidecar.mp4']],
    ['retry', [`no${act}`]],
    ['add', [`no${act}.mp4`]],
    ['show', [`no${act}`]],
    ['check', []],
  ] as const)('on the terminal of `dropcast %s` %j', async (command, names) => {
    const paths = names.map((name) => station.scratch.file('inbox', name));
    for (const options of [[], command === 'check' ? [] : ['--json']]) {
      const { stdout, stderr, code } = await dropcast([
        command,
        '--config',
        station.scratch.config,
        ...options,
        ...paths,
      ]);
      expect(code).not.toBeNull();
      expect((stdout + stderr).length).toBeGreaterThan(2);
      expect(stdout).not.toMatch(unsafe);
      expect(stderr).not.toMatch(unsafe);
      expect(`\n${stdout}${stderr}`).not.toMatch(/\n(?:<2>|forged)/);
    }
  });
});

async function failures(): Promise<readonly { readonly v: number; readonly file: string }[]> {
  const text = await readFile(station.scratch.file('state/failures.jsonl'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { v: number; file: string });
}

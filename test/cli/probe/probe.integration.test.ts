import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { compare, readRecording } from '@dropcast/recorder';
import { startSandbox } from '@dropcast/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SandboxOptions } from '../../../packages/sandbox/src/options.ts';
import type { Sandbox } from '../../../packages/sandbox/src/sandbox.ts';
import { probe, type ProbeOptions } from '../../../src/cli/probe/probe.ts';
import { LeftoverFile, titleOf, type Leftover } from '../../../src/cli/probe/leftover.ts';
import { mostRequests } from '../../../src/cli/probe/send-probe.ts';
import { CommandError } from '../../../src/cli/shell.ts';
import { admin } from '../../sandbox/admin/admin-side.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { fakeShell, printedJson, type FakeShell } from '../api/fake-shell.ts';

const random = '0123456789abcdef';

interface Account {
  readonly sandbox: Sandbox;
  readonly file: LeftoverFile;
  readonly shell: FakeShell;
  /** Titles of the videos on the service. */
  titles(): Promise<readonly string[]>;
  faults(...rules: object[]): Promise<void>;
  probe(options?: ProbeOptions, shell?: FakeShell): Promise<{ code: number; sentence: string }>;
  leave(changes?: Partial<Leftover>): Promise<void>;
}

/** A service, and a person who has its key in the environment. */
async function account(
  options: SandboxOptions = {},
  person: { isTerminal?: boolean; key?: string } = {},
): Promise<Account> {
  const sandbox = await startSandbox({ processingMs: { min: 1, max: 2 }, ...options });
  const scratch = await scratchDirectory();
  onTestFinished(async () => {
    await sandbox.close();
    await scratch[Symbol.asyncDispose]();
  });
  const env = {
    DROPCAST_BASE_URL: sandbox.baseUrl,
    DROPCAST_API_KEY: person.key ?? sandbox.apiKey,
    XDG_STATE_HOME: scratch.path,
  };
  const shell = fakeShell({ cwd: scratch.path, env, isTerminal: person.isTerminal === true });
  const file = new LeftoverFile(scratch.file('dropcast'));
  const list = async (): Promise<{ readonly data: readonly { readonly title: string }[] }> =>
    (
      await fetch(`${sandbox.baseUrl}/videos`, { headers: { authorization: `Bearer ${sandbox.apiKey}` } })
    ).json() as never;
  return {
    sandbox,
    file,
    shell,
    titles: async () => (await list()).data.map(({ title }) => title),
    faults: async (...rules) => {
      const { status } = await admin({ sandbox }, 'PUT /faults', rules);
      expect(status).toBe(200);
    },
    probe: async (given = {}, typed = shell) => {
      try {
        const code = await probe(typed, 'test/media', { yes: true, channel: 'ch_news', timeout: 60_000, ...given });
        return { code, sentence: '' };
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        return { code: error.exitCode, sentence: error.message };
      }
    },
    leave: (changes) =>
      file.write({
        service: sandbox.baseUrl,
        title: titleOf(random),
        id: null,
        started_at: 1_700_000_000_000,
        ends_by: 1_700_000_060_000,
        pid: process.pid,
        ...changes,
      }),
  };
}

interface Document {
  readonly ok: boolean;
  readonly video: string | null;
  readonly problem: string | null;
  readonly left: { readonly id: string | null; readonly title: string } | null;
  readonly requests: number;
  readonly points: readonly { readonly name: string; readonly service: string }[];
  readonly settings: readonly { readonly key: string; readonly value: string }[];
}

/** The document, with the points by name. */
function printed(shell: FakeShell): Document & { readonly by: Readonly<Record<string, string>> } {
  const document = printedJson(shell) as Document;
  return { ...document, by: Object.fromEntries(document.points.map(({ name, service }) => [name, service])) };
}

describe('a service that takes the video', () => {
  test('is described point by point, and nothing remains on it', async () => {
    const { probe, shell, titles, file, sandbox } = await account();
    expect(await probe({ json: true })).toMatchObject({ code: 0 });
    const { by, ...document } = printed(shell);
    expect(document).toMatchObject({ ok: true, problem: null, left: null, settings: [] });
    expect(by).toMatchObject({
      create_status: '201',
      create_body: 'bare',
      upload_origin: sandbox.uploadOrigin,
      expect: 'answered',
      upload_status: '200',
      delete_answer: '204',
      error_body: 'object',
      after_deletion: 'not found',
    });
    expect(by['statuses']).toMatch(/^pending, (?:processing, )?ready$/);
    expect(document.requests).toBe(sandbox.requests().filter(({ operation }) => operation !== 'uploads.put').length);
    expect(await titles()).toEqual([]);
    expect(await file.read()).toBeNull();
  });

  test('gets one video, with one PUT, and each request once', async () => {
    const { probe, sandbox } = await account();
    await probe();
    const asked = sandbox.requests().map(({ operation }) => operation);
    expect(asked.filter((operation) => operation !== 'videos.get')).toEqual([
      'videos.create',
      'uploads.put',
      'videos.delete',
    ]);
  });

  test('the table says what it does, what dropcast does with that, and what was not probed', async () => {
    const { probe, shell } = await account({ profile: 'queued-publish' });
    await probe();
    expect(shell.out.text).toMatch(/^Status of POST \/videos +202 +accepts any 2xx$/m);
    expect(shell.out.text).toContain('\nNo further settings needed.\n\nNot probed:\n  webhooks: ');
    expect(shell.err.text).toMatch(/It takes about 7 requests, at most \d+, of the hourly limit/);
  });

  test.each<[string, SandboxOptions, Record<string, string>]>([
    ['upload-headers', { profile: 'upload-headers' }, { upload_headers: 'upload_headers' }],
    ['another origin for uploads', { uploadOrigin: 'separate' }, { upload_status: '200' }],
    ['lenient', { profile: 'lenient' }, { create_status: '200', upload_status: '201' }],
    ['terse', { profile: 'terse' }, { get_fields: 'minimal', error_body: 'text', delete_answer: '200' }],
    ['tus', { profile: 'tus' }, { upload_protocol: 'tus' }],
    ['resumable-sessions', { profile: 'resumable-sessions' }, { upload_protocol: 'content_range' }],
    ['pending-until-ready', { profile: 'pending-until-ready' }, { statuses: 'pending, ready' }],
  ])('%s is recognised', async (_, options, points) => {
    const { probe, shell, titles } = await account(options);
    expect(await probe({ json: true })).toMatchObject({ code: 0 });
    expect(printed(shell)).toMatchObject({ settings: [], by: points });
    expect(await titles()).toEqual([]);
  });

  test('a host that refuses a Content-Type needs a setting, ready to paste', async () => {
    const { probe, shell } = await account({ profile: 'signed-without-type' });
    expect(await probe()).toMatchObject({ code: 0 });
    expect(shell.out.text).toContain('Settings that this service needs:\n  uploads:\n    content_type: none # ');
  });

  test('the recording compares as one of `record` does', async () => {
    const { probe, shell, sandbox } = await account({ profile: 'new-words' });
    const out = `${shell.cwd}/probe.ndjson`;
    await probe({ out: 'probe.ndjson' });
    const { head, exchanges } = await readRecording(out);
    expect(head.to).toBe(sandbox.baseUrl);
    expect(compare(exchanges).switches).toMatchObject({ extra_fields: 'yes', get_fields: 'list' });
    expect(await readFile(out, 'utf8')).not.toContain(sandbox.apiKey);
    expect(await probe({ out: 'probe.ndjson' })).toMatchObject({ code: 2 });
    expect(sandbox.requests().filter(({ operation }) => operation === 'videos.create')).toHaveLength(1);
  });
});

describe('without consent', () => {
  test('nothing is sent, and without a terminal the command says how to give it', async () => {
    const { probe, sandbox } = await account();
    expect(await probe({ yes: false })).toEqual({
      code: 2,
      sentence: 'a probe needs your consent: pass --yes, because this is not a terminal',
    });
    expect(sandbox.requests()).toEqual([]);
  });

  test.each<[string, number, number]>([
    ['n\n', 1, 0],
    ['\n', 1, 0],
    ['y\n', 0, 1],
  ])('the answer %j', async (answer, code, creates) => {
    const { probe, sandbox, shell } = await account({}, { isTerminal: true });
    shell.keyboard.write(answer);
    expect(await probe({ yes: false })).toMatchObject({ code });
    expect(sandbox.requests().filter(({ operation }) => operation === 'videos.create')).toHaveLength(creates);
  });
});

describe('a service that fails', () => {
  test('a key that it refuses: the reason, the place of the key, and nothing remembered', async () => {
    const { probe, shell, file } = await account({}, { key: 'sk_test_wrong_0123' });
    expect(await probe({ json: true })).toMatchObject({ code: 1 });
    const { problem, left, video } = printed(shell);
    expect(problem).toMatch(/^the service answered 401 unauthorized.*the key is from \$DROPCAST_API_KEY$/);
    expect([left, video, await file.read()]).toEqual([null, null, null]);
    expect(shell.out.text + shell.err.text).not.toContain('sk_test_wrong_0123');
  });

  test('a create request that fails with 500 may have made a video, so its title is remembered and looked for', async () => {
    const { probe, shell, file, faults, sandbox, titles } = await account();
    await faults({ kind: 'status', status: 500, operation: 'videos.create' });
    expect(await probe({ json: true })).toMatchObject({ code: 1 });
    const { left, problem } = printed(shell);
    expect(problem).toContain('the service answered 500 server_error');
    expect(left).toEqual({ id: null, title: expect.stringMatching(/^dropcast probe /) });
    expect(sandbox.requests().map(({ operation }) => operation)).toEqual(['videos.create', 'videos.list']);
    expect(await file.read()).toMatchObject({ id: null, title: left?.title });
    // The next one looks again, and then forgets it.
    await faults();
    expect(await probe()).toMatchObject({
      code: 1,
      sentence: expect.stringContaining('another probe has been running'),
    });
    await file.write({ ...((await file.read()) as Leftover), ends_by: 1 });
    expect(await probe()).toMatchObject({ code: 0 });
    expect(shell.err.text).toContain('Not among the newest videos: a video titled "dropcast probe ');
    expect(await titles()).toEqual([]);
  });

  test('a create request whose answer is lost: the video is found by its title and deleted', async () => {
    const { probe, shell, file, faults, titles } = await account();
    await faults({ kind: 'answer_lost', operation: 'videos.create', times: 1 });
    expect(await probe({ json: true })).toMatchObject({ code: 1 });
    expect(printed(shell)).toMatchObject({ left: null });
    expect([await titles(), await file.read()]).toEqual([[], null]);
  });

  test('an upload that is refused: the points seen so far, and the video is deleted', async () => {
    const { probe, shell, faults, titles } = await account();
    await faults({ kind: 'status', status: 403, code: 'SignatureDoesNotMatch', operation: 'uploads.put' });
    expect(await probe()).toMatchObject({ code: 1 });
    expect(shell.out.text).toMatch(/^Status of POST \/videos +201/m);
    expect(shell.err.text).toContain('The probe failed: the upload address answered 403');
    expect(await titles()).toEqual([]);
  });

  test('a video that is never ready: says so after the timeout, with the status, and deletes it', async () => {
    const { probe, shell, file, titles, sandbox } = await account({
      processingMs: { min: 3_600_000, max: 3_600_000 },
    });
    expect(await probe({ timeout: 1_500, json: true })).toMatchObject({ code: 1 });
    expect(printed(shell)).toMatchObject({
      problem: 'the video was not ready within 1.5 s; its status is "processing"',
      left: null,
      by: { statuses: 'pending, processing' },
    });
    expect([await titles(), await file.read()]).toEqual([[], null]);
    expect(sandbox.requests().length - 1).toBeLessThanOrEqual(mostRequests(1_500));
  });

  test('a video that cannot be deleted is remembered, and the next probe deletes it first', async () => {
    const { probe, shell, file, faults, titles } = await account();
    await faults({ kind: 'status', status: 500, operation: 'videos.delete' });
    expect(await probe()).toMatchObject({ code: 1 });
    expect(shell.err.text).toMatch(
      /^the video vid_\w+ remains on the service: `dropcast probe --clean-up` deletes it/m,
    );
    expect(await titles()).toHaveLength(1);
    await faults();
    await file.write({ ...((await file.read()) as Leftover), ends_by: 1 });
    expect(await probe()).toMatchObject({ code: 0 });
    expect(await titles()).toEqual([]);
  });

  test('stopped by Ctrl-C, it deletes the video', async () => {
    const { probe, shell, file, titles } = await account({ processingMs: { min: 3_600_000, max: 3_600_000 } });
    const ending = probe();
    await until('the file is sent', () => shell.err.text.includes('Sent its file.'));
    shell.stop();
    expect(await ending).toMatchObject({ code: 1 });
    expect([await titles(), await file.read()]).toEqual([[], null]);
  });
});

describe('what an earlier probe left', () => {
  test('is deleted by --clean-up, by its title, and no other video is', async () => {
    const { probe, leave, titles, sandbox, file, shell } = await account();
    const other = titleOf('0'.repeat(16));
    await sandbox.make.video({ title: titleOf(random) });
    await sandbox.make.video({ title: other });
    await leave();
    expect(await probe({ cleanUp: true, yes: false })).toEqual({ code: 0, sentence: '' });
    expect(await titles()).toEqual([other]);
    expect(await file.read()).toBeNull();
    expect(shell.err.text).toContain(
      'Deleted a video titled "dropcast probe 0123456789abcdef", from the probe of 2023-11-14T22:13:20.000Z.',
    );
    expect(await probe({ cleanUp: true })).toMatchObject({ code: 0 });
    expect(shell.err.text).toContain('No probe has left anything on the service.');
  });

  test.each<[string, Partial<Leftover>, string]>([
    ['without consent', {}, 'deletes it'],
    ['on another service', { service: 'https://other.example.com/v1' }, 'which is another service: delete it there'],
    ['by a probe that is running', { ends_by: Date.now() + 600_000 }, 'another probe has been running since'],
  ])('%s stops the next one', async (_, changes, sentence) => {
    const { probe, leave, sandbox } = await account();
    await leave({ id: 'vid_1', ...changes });
    expect(await probe({ yes: false })).toEqual({ code: 1, sentence: expect.stringContaining(sentence) });
    expect(sandbox.requests()).toEqual([]);
  });

  test.each(['', '{', '[]', 'null', '{"service":1}', '{"service":"http://x","title":"My film","id":"vid_1"}'])(
    'is nothing in a file that no probe wrote: %j',
    async (content) => {
      const { leave, file } = await account();
      await leave();
      await writeFile(file.path, content);
      expect(await file.read()).toBeNull();
    },
  );

  test('a hostile file causes no crash', async () => {
    const { probe, leave, sandbox } = await account();
    await leave({ started_at: Number.MAX_VALUE, ends_by: Number.MAX_VALUE, pid: -1 });
    expect(await probe({ cleanUp: true })).toMatchObject({ code: 0 });
    expect(sandbox.requests().map(({ operation }) => operation)).toEqual(['videos.list']);
  });
});

test('without a channel and with several, the command names them', async () => {
  const { sandbox } = await account();
  const shell = fakeShell({
    env: { DROPCAST_BASE_URL: sandbox.baseUrl, DROPCAST_API_KEY: sandbox.apiKey, XDG_STATE_HOME: '/nowhere' },
  });
  await expect(probe(shell, 'test/media', { yes: true })).rejects.toThrow(/--channel: .*ch_news/);
});

test('a state directory that cannot be written: nothing is sent', async () => {
  const { probe, sandbox } = await account();
  const shell = fakeShell({
    env: { DROPCAST_BASE_URL: sandbox.baseUrl, DROPCAST_API_KEY: sandbox.apiKey, XDG_STATE_HOME: '/dev/null' },
  });
  expect(await probe({}, shell)).toEqual({
    code: 1,
    sentence: expect.stringMatching(/^cannot write \/dev\/null\/dropcast\/probe\.json/),
  });
  expect(sandbox.requests()).toEqual([]);
});

interface Tiny {
  /** Answers the PUT of a file. */
  put?(request: IncomingMessage, response: ServerResponse): void;
  /** Title of the video on the service; default: a changed form of the given one. */
  readonly title?: string;
}

/** A service whose upload host has another origin. @returns what the command printed, and the requests */
async function probeTiny({ put, title }: Tiny) {
  await using uploads = await startServer((request, response) => {
    request.resume();
    if (put === undefined) request.on('end', () => response.writeHead(200).end());
    else put(request, response);
  });
  const asked: string[] = [];
  let given = '';
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    asked.push(`${request.method} ${request.url}`);
    const answer = (status: number, json: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    if (request.method === 'POST') {
      given = (JSON.parse(body) as { title: string }).title;
      return answer(201, { id: 'vid_1', upload_url: `${uploads.origin}/put/secret`, status: 'pending' });
    }
    if (request.method === 'DELETE') return answer(200, {});
    return answer(200, { data: { id: 'vid_1', status: 'ready', title: title ?? `"${given}…` } });
  };
  await using api = await startServer((request, response) => void serve(request, response));
  await using scratch = await scratchDirectory();
  const shell = fakeShell({
    env: { DROPCAST_BASE_URL: `${api.origin}/v1`, DROPCAST_API_KEY: 'sk_test_0', XDG_STATE_HOME: scratch.path },
  });
  const code = await probe(shell, 'test/media', { yes: true, json: true, channel: 'ch_1' });
  return { code, asked, ...printed(shell), origin: uploads.origin };
}

test('a host that wants the key needs a setting, and the key is not sent there', async () => {
  const keys: unknown[] = [];
  const { code, by, settings, asked, problem, origin } = await probeTiny({
    put: ({ headers }, response) => {
      keys.push(headers.authorization);
      response.writeHead(401).end();
    },
  });
  expect([code, by['upload_key'], keys]).toEqual([1, 'wanted', [undefined]]);
  expect(settings).toMatchObject([{ key: 'service.send_key_to', value: `["${origin}"]` }]);
  expect(problem).toContain('answered 401');
  expect(asked).toContain('DELETE /v1/videos/vid_1');
});

test('a host that names a missing header needs a setting', async () => {
  const { settings } = await probeTiny({
    put: (_, response) =>
      void response
        .writeHead(400, { 'content-type': 'application/xml' })
        .end(
          '<?xml version="1.0"?><Error><Code>MissingRequiredHeader</Code><HeaderName>x-ms-blob-type</HeaderName></Error>',
        ),
  });
  expect(settings).toMatchObject([{ key: 'uploads.headers', value: '{ x-ms-blob-type: BlockBlob }' }]);
});

test('a video that has another title is not deleted', async () => {
  const { code, asked, problem, left } = await probeTiny({ title: 'My holidays' });
  expect([code, left]).toEqual([1, null]);
  expect(problem).toMatch(/^the service gave the probe the id vid_1, which another video has/);
  expect(asked.filter((request) => request.startsWith('DELETE'))).toEqual([]);
});

test('a video whose title the service has changed a little is deleted', async () => {
  const { code, asked, by } = await probeTiny({});
  expect(asked.filter((request) => request.startsWith('DELETE'))).toEqual(['DELETE /v1/videos/vid_1']);
  expect([code, by['after_deletion']]).toEqual([0, 'still there']);
});

test('a service that refuses for a while: the form of its Retry-After is a point', async () => {
  const { probe, shell, faults } = await account();
  await faults({ kind: 'rate_limited', retry_after: 'date', seconds: 90, operation: 'videos.create' });
  expect(await probe({ json: true })).toMatchObject({ code: 1 });
  expect(printed(shell)).toMatchObject({ by: { retry_after: 'date' }, left: null });
  expect(printed(shell).problem).toContain('try again in');
});

test('a service that redirects its API is named', async () => {
  await using server = await startServer((_, response) => void response.writeHead(302, { location: '/x' }).end());
  const { probe } = await account();
  const shell = fakeShell({
    env: {
      DROPCAST_BASE_URL: `${server.origin}/v1`,
      DROPCAST_API_KEY: 'sk_test_0',
      XDG_STATE_HOME: (await scratchDirectory()).path,
    },
  });
  expect(await probe({ json: true }, shell)).toMatchObject({ code: 1 });
  expect(printed(shell).problem).toContain('a redirect to');
});

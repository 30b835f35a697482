import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { requestText, talk } from '../faults/raw-http.ts';
import { readSample, runSandbox, until, type RunningSandbox } from '../running-sandbox.ts';
import { admin } from '../admin/admin-side.ts';
import { writeFile } from 'node:fs/promises';

async function commandOf({ sandbox }: RunningSandbox, number: number): Promise<string> {
  return until(async () => {
    const headers = { authorization: `Bearer ${sandbox.adminToken}` };
    const answer = await fetch(`${sandbox.adminUrl}/requests/${number}/curl`, { headers });
    return answer.ok ? answer.text() : undefined;
  });
}

/** Runs the command in a shell, with what it needs in its environment. */
async function run(command: string, environment: Record<string, string>): Promise<string> {
  const env = { ...process.env, ...environment };
  return (await promisify(execFile)('/bin/sh', ['-c', command], { env })).stdout;
}

const sent = async (service: RunningSandbox, number: number) =>
  (await admin(service, `GET /requests/${number}`)).body.data;

test.each([
  ['a plain question', 'GET', '/videos?page=1&per_page=2', undefined, {}],
  [
    'a create with quotes, dollars and line breaks',
    'POST',
    '/videos',
    { title: `It's "$HOME" \`x\` \\n %s\n\u{1F600}\u202e` },
    { 'x-note': `a'b "c" $d` },
  ],
  ['a change', 'PATCH', '/channels/ch_main', { name: '@etc' }, {}],
  ['a body that begins like the name of a file', 'POST', '/videos', '@/etc/passwd', {}],
  ['a body with NUL', 'POST', '/videos', '{"title":"\0"}', {}],
  ['a body of no type', 'POST', '/videos', 'x=1', { 'content-type': '' }],
  ['a delete', 'DELETE', '/videos/vid_x', undefined, {}],
  ['a head', 'HEAD', '/videos', undefined, {}],
  ['a query with braces, which curl would take for several', 'GET', '/videos?status={ready,failed}', undefined, {}],
  ['a query with brackets, which curl would count through', 'GET', '/videos?page=[1-3]', undefined, {}],
  ['a key that is not valid', 'GET', '/videos', undefined, { authorization: 'Bearer none' }],
  ['a sign-in of another kind', 'GET', '/videos', undefined, { authorization: 'Basic bm9uZTpub25l' }],
])(
  '%s, sent again with its command, is the same request with the same answer',
  async (_what, method, path, body, headers) => {
    await using service = await runSandbox();
    await service.call(method, path, body, headers);
    const command = await commandOf(service, 1);
    expect(command).not.toContain(service.sandbox.apiKey);
    await run(command, { DROPCAST_API_KEY: service.sandbox.apiKey, REFUSED_KEY: 'none' });
    const [first, second] = [await sent(service, 1), await sent(service, 2)];
    const asked = ({ method: verb, path: where, query, status, details }: typeof first) => [
      verb,
      where,
      query,
      status,
      details.request.body,
    ];
    expect(asked(second)).toEqual(asked(first));
    const { authorization: _, ...others } = headers as Record<string, string>;
    expect(second.details.request.headers).toMatchObject(others);
    expect(second.details.request.headers.authorization).toBe(first.details.request.headers.authorization);
  },
);

test('a request that a fault answers before its key is known is sent again with the key', async () => {
  await using service = await runSandbox();
  await admin(service, 'POST /faults', { kind: 'status', status: 401, times: 1 });
  await service.call('GET', '/channels');
  await run(await commandOf(service, 1), { DROPCAST_API_KEY: service.sandbox.apiKey });
  expect((await sent(service, 2)).status).toBe(200);
});

test('an empty file is sent again', async () => {
  await using scratch = await scratchDirectory();
  await using service = await runSandbox();
  const [first, second] = [await service.create(), await service.create()];
  await fetch(first.upload_url, { method: 'PUT', body: '' });
  const file = join(scratch.path, 'empty');
  await writeFile(file, '');
  await run(await commandOf(service, 3), { UPLOAD_URL: second.upload_url, FILE: file });
  expect((await sent(service, 4)).status).toBe(200);
});

test('a body with HEAD is left out, which curl cannot send', async () => {
  await using service = await runSandbox();
  const head = { Authorization: `Bearer ${service.sandbox.apiKey}`, 'Content-Length': 2, Connection: 'close' };
  await talk(service.sandbox.port, requestText('HEAD /v1/videos', head, 'hi'));
  const command = await commandOf(service, 1);
  expect(command).toMatch(/^# curl sends no body with HEAD: 2 bytes are left out\.\n/);
  await run(command, { DROPCAST_API_KEY: service.sandbox.apiKey });
  expect((await sent(service, 2)).status).toBe(200);
});

test('header fields of any bytes are sent again', async () => {
  await using service = await runSandbox();
  const authorization = `Bearer ${service.sandbox.apiKey}`;
  const request = requestText('GET /v1/channels', {
    Authorization: authorization,
    'X-Odd': 'caf\u00e9 \u{1F600}\u0080 %s\t\'"',
    Connection: 'close',
  });
  await talk(service.sandbox.port, Buffer.from(request));
  await run(await commandOf(service, 1), { DROPCAST_API_KEY: service.sandbox.apiKey });
  await commandOf(service, 2);
  const [first, second] = [await sent(service, 1), await sent(service, 2)];
  expect(second.details.request.headers['x-odd']).toBe(first.details.request.headers['x-odd']);
});

test('a body whose type was not said is sent again without one', async () => {
  await using service = await runSandbox();
  const head = { Authorization: `Bearer ${service.sandbox.apiKey}`, 'Content-Length': 3, Connection: 'close' };
  await talk(service.sandbox.port, requestText('POST /v1/videos', head, 'x=1'));
  await run(await commandOf(service, 1), { DROPCAST_API_KEY: service.sandbox.apiKey });
  expect((await sent(service, 2)).details.request.body).toMatchObject({ type: null, text: 'x=1' });
});

test('an upload is sent again with its address and file, which the command does not have', async () => {
  await using scratch = await scratchDirectory();
  await using service = await runSandbox();
  const { id, upload_url: url } = await service.create();
  await fetch(url, { method: 'PUT', body: 'x', headers: { 'content-encoding': 'gzip' } });
  const command = await commandOf(service, 2);
  expect(command).not.toContain(url);
  const file = join(scratch.path, 'a file');
  await writeFile(file, await readSample('clip.mp4'));
  await run(command.replace(/ .*content-encoding.*\n/, ''), { UPLOAD_URL: url, FILE: file });
  expect((await service.ended(id)).status).toBe('ready');
});

test('a command says what the journal does not have', async () => {
  await using service = await runSandbox();
  await service.call('PATCH', '/channels/ch_main', `{"name": "${'x'.repeat(70_000)}`);
  await service.call('GET', `/videos?token=x&${'y'.repeat(400)}`);
  expect(await commandOf(service, 1)).toMatch(
    /^# The journal has only a part of the body, 70010 bytes: put the whole into \$FILE\.\n/,
  );
  expect(await commandOf(service, 2)).toMatch(/# The address is cut.*\n# Words in brackets/);
});

test('a text that is not UTF-8 is not taken for whole, and shows no secret', async () => {
  await using service = await runSandbox();
  const { apiKey, port } = service.sandbox;
  const body = Buffer.from(`{"k":"${apiKey}","title":"caf\u00e9"}`, 'latin1');
  const head = { 'Content-Type': 'application/json', 'Content-Length': body.length, Connection: 'close' };
  await talk(port, Buffer.concat([Buffer.from(requestText('POST /v1/videos', head)), body]));
  expect(await commandOf(service, 1)).toMatch(
    /^# The journal has only a part of the body, \d+ bytes: put the whole into \$FILE\.\n/,
  );
  const { body: shown } = (await sent(service, 1)).details.request;
  expect(shown).toMatchObject({ size: body.length, cut: true });
  expect(Buffer.from(shown.first_bytes, 'hex').toString()).not.toContain(apiKey.slice(0, 20));
});

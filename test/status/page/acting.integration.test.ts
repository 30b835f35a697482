import { mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import { statusOf } from '../../../src/daemon/view.ts';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import { createPageAccess } from '../../../src/status/page/access.ts';
import { serveStatusPage } from '../../../src/status/page/serve.ts';
import { makeScratch } from '../../e2e/dropcast-process.ts';
import { startVideoHost } from '../../e2e/video-host.ts';
import type { HostOptions } from '../../e2e/video-host.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { until } from '../../support/until.ts';

/** The service takes no video at all. */
const refuseCreates: NonNullable<HostOptions['meddle']> = (request, response) => {
  if (request.method !== 'POST' || request.url?.endsWith('/videos') !== true) return false;
  response.writeHead(422, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { code: 'invalid_request', message: 'title: is not allowed' } }));
  return true;
};

/** A daemon beside a service, its page, and somebody who reads it and presses its buttons: all over HTTP. */
async function open(options: HostOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await startVideoHost(options));
  const scratch = stack.use(await makeScratch(() => ''));
  const inbox = scratch.file('inbox');
  await mkdir(inbox);
  await writeFile(
    scratch.config,
    `
service: { base_url: "${host.baseUrl}", api_key: ${host.key} }
state_dir: ${scratch.file('state')}
poll: { interval: 100ms }
publish: { quiet: 100ms, at_most: 200ms }
folders:
  - path: ${inbox}
    settle: 100ms
    rules: [{ match: "*.{mpg,mkv}", channel: ch_main, publish: [feed_news] }]
status: { listen: off }
`,
    { mode: 0o600 },
  );
  const { config, problems } = await loadConfig(scratch.config, { cwd: scratch.path, env: {}, home: scratch.path });
  if (config === null) throw new Error(`the configuration is wrong: ${JSON.stringify(problems)}`);
  const daemon = await startDaemon(config, silentLogger);
  stack.defer(() => daemon.stop(AbortSignal.abort()));
  const page = stack.use(
    await serveStatusPage(
      { host: '127.0.0.1', port: 0 },
      {
        daemon,
        status: () => statusOf(daemon.ledger, daemon),
        health: () => 'ok',
        receive: () => 'not wanted',
        access: createPageAccess('the-token'),
      },
    ),
  );
  const origin = `http://127.0.0.1:${page.port}`;
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(new URL(path, origin), {
      method,
      redirect: 'manual',
      headers: { authorization: 'Bearer the-token', origin },
    });
    const html = await answer.text();
    const words = html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    return {
      status: answer.status,
      html: html.replaceAll('&amp;', '&'),
      words,
      to: answer.headers.get('location') ?? '',
    };
  };
  const facts = (path: string) => daemon.ledger.atPath(inbox, path);
  const owned = stack.move();
  return {
    host,
    daemon,
    inbox,
    ask,
    /** Presses a button, and looks where the browser goes then. */
    press: async (path: string) => {
      const { status, to, words } = await ask(path, 'POST');
      return status === 303 ? { status, to, words: (await ask(to)).words } : { status, to, words };
    },
    facts,
    drop: (path: string, content = `what is in ${path}`) => writeFile(`${inbox}/${path}`, content),
    reaches: (path: string, state: string) =>
      until(`${path} is ${state}`, async () => {
        const found = await facts(path);
        return found !== null && stateOf(found) === state;
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('files for a channel that the service does not have are one group on the overview, and go live from there in another channel', async () => {
  const channels = ['ch_main', 'ch_news'];
  const station = await open({
    channels: () => channels,
    meddle: (request, response, body) => {
      const isCreate = request.method === 'POST' && request.url?.endsWith('/videos') === true;
      if (!isCreate || channels.some((channel) => body.includes(`"${channel}"`))) return false;
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { code: 'not_found', message: 'no such channel' } }));
      return true;
    },
  });
  await using _ = station;
  channels.shift();
  for (const name of ['a.mpg', 'b.mpg', 'c.mkv']) await station.drop(name);
  for (const name of ['a.mpg', 'b.mpg', 'c.mkv']) await station.reaches(name, 'retrying');

  const { words, html } = await station.ask('/');
  expect(words).toContain('3 files (.mpg, .mkv) wait for channel ch_main, which the service does not have');
  expect(words).toContain('3 need you');
  expect(words).not.toContain('Limited by');
  // The list is the service's.
  expect(html).toContain('<option value="ch_news"');
  expect(html).not.toContain('<option value="ch_main"');
  const cause = 'which=all&state=needs-you&cause=unknown_channel.ch_main';
  expect(html).toContain(`href="/files/many?do=ignore&${cause}"`);

  const asked = `/files/many?do=send+elsewhere&${cause}&to=ch_news`;
  expect((await station.ask(asked)).words).toMatch(/To channel ch_news \. 3 files , 3 requests to the service/);
  const { status, words: after } = await station.press(asked);
  expect(status).toBe(303);
  expect(after).toContain('3 files sent to another channel.');
  for (const name of ['a.mpg', 'b.mpg', 'c.mkv']) await station.reaches(name, 'done');
  expect([...station.host.videos.values()].map(({ channelId }) => channelId)).toEqual([
    'ch_news',
    'ch_news',
    'ch_news',
  ]);
  expect((await station.ask('/')).words).toContain('All 3 files of today are live');
});

test('many files are ignored and taken up again from the page, and each time the next page says what was done and what was left', async () => {
  const station = await open({ meddle: refuseCreates });
  await using _ = station;
  for (const name of ['a.mkv', 'b.mkv', 'c.mpg']) await station.drop(name);
  for (const name of ['a.mkv', 'b.mkv', 'c.mpg']) await station.reaches(name, 'failed');
  const ids = await Promise.all(['a.mkv', 'b.mkv'].map(async (name) => (await station.facts(name))?.id ?? ''));
  const which = ids.map((id) => `id=${id}`).join('&');
  const ignored = await station.press(`/files/many?do=ignore&which=ticked&${which}`);
  expect(ignored.words).toContain('2 files ignored.');
  expect(ignored.words).toContain('exclude: [&quot;**/*.mkv&quot;]');
  // Ids alone are names of nothing; the address has counts.
  expect(ignored.to).toBe('/files?did=ignore&to_files=2&ending=mkv');
  const again = await station.press('/files/many?do=ignore&which=all&state=failed,skipped');
  expect(again.words).toContain('1 file ignored. 2 files were left as they are.');

  const [first = ''] = ids;
  expect((await station.press(`/files/${first}/ignore`)).words).toContain('Nothing was done: already ignored.');
  const back = await station.press(`/files/${first}/unignore`);
  expect(back).toMatchObject({ status: 303, to: `/files/${first}` });
  await station.reaches('a.mkv', 'failed');
  expect(await station.press(`/files/${first}/unignore`)).toMatchObject({ status: 409 });
});

test('files are tried again, one and many, and go live', async () => {
  let isRefused = true;
  const station = await open({ meddle: (...asked) => isRefused && refuseCreates(...asked) });
  await using _ = station;
  for (const name of ['a.mpg', 'b.mpg', 'c.mpg']) await station.drop(name);
  for (const name of ['a.mpg', 'b.mpg', 'c.mpg']) await station.reaches(name, 'failed');
  isRefused = false;
  const id = (await station.facts('a.mpg'))?.id ?? '';
  expect(await station.press(`/files/${id}/retry`)).toMatchObject({ status: 303, to: `/files/${id}` });
  await station.reaches('a.mpg', 'done');
  expect(await station.press(`/files/${id}/retry`)).toMatchObject({ status: 409 });
  const many = await station.press('/files/many?do=retry&which=all&state=failed,held');
  expect(many.words).toContain('2 files will be tried again at once.');
  for (const name of ['b.mpg', 'c.mpg']) await station.reaches(name, 'done');
  expect((await station.press('/files/many?do=retry&which=all&state=done')).words).toContain(
    '0 files will be tried again at once. 3 files were left as they are.',
  );
});

test('a paused folder says so, keeps its files and goes on, all by its buttons', async () => {
  const station = await open();
  await using _ = station;
  const folder = `folder=${encodeURIComponent(station.inbox)}`;
  expect((await station.press(`/folders/pause?${folder}`)).words).toContain('paused by the status page');
  await station.drop('a.mpg');
  await station.reaches('a.mpg', 'queued');
  expect((await station.ask('/')).words).toContain('paused by the status page');
  expect(await station.press(`/folders/resume?${folder}`)).toMatchObject({ status: 303 });
  await station.reaches('a.mpg', 'done');
  expect(await station.press(`/folders/resume?${folder}`)).toMatchObject({ status: 409 });
});

test('no address makes the page say what no command says', async () => {
  const station = await open();
  await using _ = station;
  for (const words of ['did=hack&to_files=3', 'did=ignore&to_files=call+me', 'did=ignore'])
    expect((await station.ask(`/files?${words}`)).html).not.toContain('notice-bar');
  const { words } = await station.ask('/files?did=ignore&to_files=2&left=now&ending=mkv,%22%5D+evil,waytoolongending');
  expect(words).toContain('2 files ignored.');
  expect(words).toContain('exclude: [&quot;**/*.mkv&quot;]');
  expect(words).not.toMatch(/evil|waytoolong|now were/);
});

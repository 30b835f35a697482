import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { fieldsOf, openStation, refuseCreates } from './acting-station.ts';
import { knowsOnly } from '../../e2e/answers.ts';

test('what was confirmed for other files than there are now is not done: the page asks again', async () => {
  const station = await openStation({ meddle: refuseCreates });
  await using _ = station;
  for (const name of ['a.mkv', 'b.mkv']) await station.drop(name);
  for (const name of ['a.mkv', 'b.mkv']) await station.reaches(name, 'failed');
  const address = '/files/many?do=ignore&which=all&state=failed';
  const { html } = await station.ask(address);
  expect(fieldsOf(html)).toEqual({ files: '2', these: expect.stringMatching(/^[\da-f]{16}$/) });
  await station.drop('c.mkv');
  await station.reaches('c.mkv', 'failed');
  for (const old of [fieldsOf(html), { files: '2' }]) {
    const { to, words } = await station.press(address, old);
    expect(to).toBe('/files/many?do=ignore&which=all&state=failed&was=2');
    expect(words).toContain('Nothing was done: it concerned 2 files when you were asked, and concerns 3 files now.');
  }
  for (const odd of [{}, { files: '' }, { files: '3.0' }, { files: '<b>' }] as readonly Record<string, string>[]) {
    const { to } = await station.press(address, odd);
    expect(to).toBe('/files/many?do=ignore&which=all&state=failed');
  }
  const done = await station.press(address);
  expect(done.words).toContain('3 files ignored.');
  // Sent a second time, by a double click or the back button.
  const twice = await station.press(address, { files: '3' });
  expect(twice.words).toContain('it concerned 3 files when you were asked, and concerns 0 files now');
  expect((await station.daemon.ledger.totals('by state'))['skipped']).toBe(3);
});

test('what was confirmed for as many other files is not done either', async () => {
  const station = await openStation({ meddle: refuseCreates });
  await using _ = station;
  for (const name of ['a.mkv', 'b.mkv']) await station.drop(name);
  for (const name of ['a.mkv', 'b.mkv']) await station.reaches(name, 'failed');
  const address = '/files/many?do=ignore&which=all&state=failed';
  const { html } = await station.ask(address);
  await station.press('/files/many?do=ignore&which=all&state=failed&q=a.mkv');
  await station.drop('c.mkv');
  await station.reaches('c.mkv', 'failed');
  const { to, words } = await station.press(address, fieldsOf(html));
  expect(to).toBe('/files/many?do=ignore&which=all&state=failed&was=2');
  expect(words).toContain('Nothing was done: the selection contained other files when you were asked.');
  expect((await station.daemon.ledger.totals('by state'))['skipped']).toBe(1);
  expect((await station.press(address)).words).toContain('2 files ignored.');
});

test('files for a channel that the service does not have are one group on the overview, and go live from there in another channel', async () => {
  const channels = ['ch_main', 'ch_news'];
  const station = await openStation({
    channels: () => channels,
    meddle: knowsOnly(channels, 404),
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
  expect((await station.ask(asked)).words).toMatch(/To channel ch_news \. 3 files , at most 8 requests to the service/);
  const { status, words: after } = await station.press(asked);
  expect(status).toBe(303);
  expect(after).toContain('3 files sent to another channel.');
  for (const name of ['a.mpg', 'b.mpg', 'c.mkv']) await station.reaches(name, 'done');
  expect([...station.host.videos.values()].map(({ channelId }) => channelId)).toEqual([
    'ch_news',
    'ch_news',
    'ch_news',
  ]);
  // The picture that the page shows may be a moment old.
  await until('all are live', async () => (await station.ask('/')).words.includes("All 3 of today's files are live"));
});

test('many files are ignored and taken up again from the page, and each time the next page says what was done and what was left', async () => {
  const station = await openStation({ meddle: refuseCreates });
  await using _ = station;
  for (const name of ['a.mkv', 'b.mkv', 'c.mpg']) await station.drop(name);
  for (const name of ['a.mkv', 'b.mkv', 'c.mpg']) await station.reaches(name, 'failed');
  const ids = await Promise.all(['a.mkv', 'b.mkv'].map(async (name) => (await station.facts(name))?.id ?? ''));
  const which = ids.map((id) => `id=${id}`).join('&');
  const ignored = await station.press(`/files/many?do=ignore&which=ticked&${which}`);
  expect(ignored.words).toContain('2 files ignored.');
  expect(ignored.words).toContain('exclude: [&quot;**/*.mkv&quot;]');
  // The address names neither files nor a command.
  expect(ignored.to).toMatch(/^\/files\?outcome=[\da-f-]+$/);
  expect(ignored.words).toMatch(/Which files .*a\.mkv .*b\.mkv/);
  const again = await station.press('/files/many?do=ignore&which=all&state=failed,skipped');
  expect(again.words).toContain('1 file ignored. 2 files were left as they are.');
  expect(again.words).toMatch(/2 files left: already ignored: (?:b\.mkv , a\.mkv|a\.mkv , b\.mkv)/);

  const [first = ''] = ids;
  expect((await station.press(`/files/${first}/ignore`)).words).toContain('Nothing was done: already ignored.');
  const back = await station.press(`/files/${first}/unignore`);
  expect(back).toMatchObject({ status: 303, to: `/files/${first}` });
  await station.reaches('a.mkv', 'failed');
  expect(await station.press(`/files/${first}/unignore`)).toMatchObject({ status: 409 });
});

test('files are tried again, one and many, and go live', async () => {
  let isRefused = true;
  const station = await openStation({ meddle: (...asked) => isRefused && refuseCreates(...asked) });
  await using _ = station;
  for (const name of ['a.mpg', 'b.mpg', 'c.mpg']) await station.drop(name);
  for (const name of ['a.mpg', 'b.mpg', 'c.mpg']) await station.reaches(name, 'failed');
  isRefused = false;
  const id = (await station.facts('a.mpg'))?.id ?? '';
  expect(await station.press(`/files/${id}/retry`)).toMatchObject({ status: 303, to: `/files/${id}` });
  await station.reaches('a.mpg', 'done');
  expect(await station.press(`/files/${id}/retry`)).toMatchObject({ status: 409 });
  const many = await station.press('/files/many?do=retry&which=all&state=failed,held');
  expect(many.words).toContain('2 files will be retried at once.');
  for (const name of ['b.mpg', 'c.mpg']) await station.reaches(name, 'done');
  expect((await station.ask('/files/many?do=retry&which=all&state=done')).words).toMatch(
    /0 files , 0 requests.* 3 files left: done: nothing to retry: [abc]\.mpg , [abc]\.mpg , [abc]\.mpg/,
  );
});

test('a paused folder says so, keeps its files and resumes, all by its buttons', async () => {
  const station = await openStation();
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
  const station = await openStation();
  await using _ = station;
  for (const words of ['did=ignore&to_files=3', 'outcome=ignore', 'outcome=065c8a97-e4b6-4b2a-bc41-96e0d924c9c5'])
    expect((await station.ask(`/files?${words}`)).html).not.toContain('notice-bar');
});

test('a file leads to its video and its feeds, at the addresses that the service gave, at no request', async () => {
  const station = await openStation();
  await using _ = station;
  await station.drop('a.mpg');
  await station.reaches('a.mpg', 'done');
  // In dropcast's own list of feeds, which is asked for when a configuration is taken up.
  await station.daemon.conductor.names.ask({ channel: [], feed: [] }, new AbortController().signal);
  const { id = '', videoId = '' } = (await station.facts('a.mpg')) ?? {};
  const { total } = station.daemon.gate.snapshot();
  const { html } = await station.ask(`/files/${id}`);
  expect(html).toContain(`<a href="https://player.example.com/${videoId}" rel="noopener noreferrer external">`);
  expect(html).toContain('<a href="https://feeds.example.com/feed_news.xml" rel="noopener noreferrer external">');
  expect((await station.ask('/')).html).toContain('href="https://feeds.example.com/feed_news.xml"');
  expect(station.daemon.gate.snapshot().total).toBe(total);
});

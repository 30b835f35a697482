import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openStation } from './acting-station.ts';

const text = `rules:
  - match: "{show} - *.mpg"
    channel: ch_other
    title: "{show} tonight"
    publish: [feed_late]
`;

test('rules that are being written are tried on a path and on known files, and nothing is written', async () => {
  await using station = await openStation();
  await station.drop('News - 1.mpg');
  await station.reaches('News - 1.mpg', 'done');
  const { file } = station.daemon.config();
  const before = [
    await readFile(file, 'utf8'),
    (await readdir(station.inbox)).join(),
    await station.facts('News - 1.mpg'),
  ];
  const requests = station.daemon.gate.snapshot().total;
  const address = `/configuration/try?folder=${encodeURIComponent(station.inbox)}`;
  expect((await station.ask(address)).words).toContain('channel: ch_main');

  const { words, to } = await station.press(address, { path: 'Sport - 2.mpg', rules: text.replaceAll('\n', '\r\n') });
  expect(to).toMatch(/^\/configuration\/try\?trial=[\w-]+#tried$/);
  expect(words).toMatch(/valid rules .*taken.* Channel ch_other .*Title Sport tonight .*Feeds feed_late/);
  expect(words).toMatch(
    /0 waiting files would change at once, and 1 sent file with dropcast reapply ?, for \d requests/,
  );
  expect(words).toMatch(/News - 1\.mpg : title, publish; News tonight in ch_main/);
  expect(words).toContain('dropcast reload --plan');
  const after = [
    await readFile(file, 'utf8'),
    (await readdir(station.inbox)).join(),
    await station.facts('News - 1.mpg'),
  ];
  expect(after).toEqual(before);
  expect(station.daemon.gate.snapshot().total).toBe(requests);
});

test('a path outside of the folder is not looked at, nor is a folder that is not watched', async () => {
  await using station = await openStation();
  const address = `/configuration/try?folder=${encodeURIComponent(station.inbox)}`;
  for (const path of ['/etc/passwd', '../dropcast.yaml', '..', 'x'.repeat(2_000)]) {
    const { words } = await station.press(address, { path, rules: text });
    expect(words, path.slice(0, 20)).toContain('The path is not in');
    expect(words).not.toMatch(/taken|held/);
  }
  expect((await station.press('/configuration/try?folder=/etc', { path: 'passwd', rules: text })).status).toBe(409);
  expect((await station.ask('/configuration/try?folder=/etc')).status).toBe(404);
});

test('mistakes have their line and column, and text from outside is text', async () => {
  await using station = await openStation();
  const address = `/configuration/try?folder=${encodeURIComponent(station.inbox)}`;
  const { to } = await station.ask(address, 'POST', {
    path: '<script>alert(1)</script>.mpg',
    rules: 'rules:\n  - match: "</textarea><img src=x>"\n    chanel: a\n',
  });
  const { html, words } = await station.ask(to);
  expect(words).toContain('line 3, column 5: unknown key');
  expect(html).not.toMatch(/<script>alert|<img src=x/);
  expect(html).not.toContain('To apply it');
});

test('who may only look tries no rules', async () => {
  await using station = await openStation();
  const origin = `http://127.0.0.1:${station.page.port}`;
  const headers = { authorization: 'Bearer the-token', 'dropcast-access': 'look', origin };
  const address = `${origin}/configuration/try?folder=${encodeURIComponent(station.inbox)}`;
  const body = new URLSearchParams({ rules: text });
  for (const init of [{ headers }, { headers, method: 'POST', body }]) {
    const answer = await fetch(address, init);
    expect(answer.status).toBe(403);
    expect(await answer.text()).not.toContain('ch_main');
  }
});

import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Daemon } from '../../../../src/daemon/daemon.ts';
import { configuration } from '../../../../src/status/page/views/configuration.ts';
import { scratch } from '../../../config/scratch.ts';
import { someWorld } from '../some-world.ts';
import { wordsOf } from '../words-of.ts';

const TEXT = `service: { base_url: https://video.example.com/v1, api_key: the-key-itself }
folders:
  - path: in
    rules:
      - match: 'news/{show}/*.mp4'
        channel: ch_news
        title: '{show}: {title}'
        publish: [feed_news]
      - match: '**'
        channel: ch_main
      - match: '*.mkv'
        channel: ch_never
`;

/** What the view says. @param path in the field */
async function read(path?: string, text = TEXT): Promise<string> {
  await using here = await scratch();
  await mkdir(here.file('in'));
  const { config } = await here.load(text);
  if (config === null) throw new Error('the configuration of this test is wrong');
  const daemon = { config: () => config, ledger: { movedBy: async () => [] } } as unknown as Daemon;
  const world = someWorld(daemon, { now: Date.UTC(2026, 10, 22) });
  const query = new URLSearchParams(path === undefined ? {} : { path: path.replace('HERE', here.path) });
  const words = await wordsOf(await configuration(world, { query, part: () => '' }));
  return words.replaceAll(here.path, '');
}

test('every setting is there, and where it comes from', async () => {
  const words = await read();
  expect(words).toContain('service.base_url https://video.example.com/v1 from the file, line 1');
  expect(words).toContain('uploads.concurrency 4 default');
  expect(words).toContain('folders[0].on_change upload default');
});

test('no secret is in it', async () => {
  const words = await read();
  expect(words).not.toContain('the-key-itself');
  expect(words).toContain('service.api_key [secret]');
});

test('the rules are there in order, and one that can never match is marked', async () => {
  const words = await read();
  expect(words).toMatch(
    /5 news\/\{show\}\/\*\.mp4 ch_news .* 9 \*\* ch_main .* 11 \*\.mkv ?check this can never match/,
  );
  expect(words).toMatch(/Warnings 1 warning 11:16 folders\[0\]\.rules\[2\]\.match: can never match/);
});

test.each<[string, RegExp]>([
  ['news/late/clip.mp4', /taken Channel ch_news Title late: clip Feeds feed_news/],
  ['HERE/in/other/clip.mp4', /other\/clip\.mp4 in \/in taken Channel ch_main/],
  ['clip.xyz', /ignored It is ignored: no pattern of include selects it: /],
  ['.clip.mp4.part', /ignored It is ignored: names like \*\.part are left alone: "\.clip\.mp4\.part" is not finished/],
  ['/etc/passwd', /\/etc\/passwd is not in a watched folder/],
  ['../secret.mp4', /\/secret\.mp4 is not in a watched folder/],
  ['a\u202eb.mp4', /a\[U\+202E\]b\.mp4/],
  ['<img src=x onerror=alert(1)>.mp4', /<img src=x onerror=alert\(1\)>\.mp4 in/],
])('the path %j is explained', async (path, words) => {
  expect(await read(path)).toMatch(words);
});

test('where several folders are watched, a relative path could be in any of them', async () => {
  const two = `${TEXT}  - { path: other, rules: [{ match: "**", channel: c }] }\n`;
  expect(await read('a.mp4', two)).toContain('There are 2 folders: write the whole path, like /in/a.mp4.');
});

test('says of each rule why it does not take the path', async () => {
  const words = await read('clip.mp4');
  expect(words).toMatch(/news\/\{show\}\/\*\.mp4 .*line 5 \*\* matches line 9/);
});

test('of many folders a page is shown', async () => {
  const folders = Array.from({ length: 45 }, (_, n) => `  - { path: in${n}, rules: [{ match: "**", channel: c }] }`);
  const words = await read(undefined, `${TEXT.split('folders:')[0]}folders:\n${folders.join('\n')}\n`);
  expect(words).toContain('Page 1 of 3');
  expect(words).toContain('/in19 ');
  expect(words).not.toContain('/in20 ');
});

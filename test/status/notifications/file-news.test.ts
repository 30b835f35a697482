import { describe, expect, test } from 'vitest';
import { fileMessages } from '../../../src/status/notifications/file-news.ts';
import type { FileNews } from '../../../src/status/notifications/file-news.ts';

const files = (n: number, news: Partial<FileNews> = {}): FileNews[] =>
  Array.from({ length: n }, (_, i) => ({
    id: `f_${i}`,
    path: `/in/clip${i}.mp4`,
    embedUrl: null,
    feedUrls: [],
    recipients: [],
    happened: 'live',
    cause: '',
    why: '',
    next: '',
    ...news,
  }));
const needing = (n: number, cause = 'no_rule', why = 'no rule matches it'): FileNews[] =>
  files(n, { happened: 'needs you', cause, why, next: 'See it with dropcast show f_0' });

const told = (news: readonly FileNews[]): string[] =>
  fileMessages(news, 1).map(({ type, title }) => `${type}: ${title}`);

describe('notifications about files', () => {
  test.each<[string, FileNews[], string[]]>([
    ['nothing', [], []],
    ['one that is live', files(1), ['live: clip0.mp4 is live']],
    ['many that are live, in one message', files(14), ['live: 14 files are live']],
    ['one that needs a person', needing(1), ['needs_you: clip0.mp4 needs you']],
    ['seven of one cause, in one message', needing(7), ['needs_you: Needs you: 7 .mp4 files match no rule']],
    [
      'each cause separately',
      [...needing(2), ...needing(1, 'flawed', 'it is cut short'), ...files(3)],
      ['needs_you: Needs you: 2 .mp4 files match no rule', 'needs_you: clip0.mp4 needs you', 'live: 3 files are live'],
    ],
    [
      'many causes, in one message',
      [1, 2, 3, 4, 5].flatMap((n) => needing(n, `c${n}`, `why ${n}`)),
      ['needs_you: 15 files need you, for 5 reasons'],
    ],
    ['what was mended', files(1, { happened: 'recovered' }), ['recovered: clip0.mp4 is live, and needed you before']],
  ])('%s', (_, news, lines) => {
    expect(told(news)).toEqual(lines);
  });

  test.each([1, 3])('the command that opens %d files that cannot be read, once', (n) => {
    const why = "user nobody may not read this file (EACCES); run `sudo setfacl -m u:nobody:r -- '/in/clip0.mp4'`";
    const [message] = fileMessages(needing(n, 'unreadable', why), 1);
    expect(message?.body.split('sudo setfacl')).toHaveLength(2);
  });

  // ntfy refuses a message of more than 4,096 bytes, which was then lost.
  test('links to many feeds leave a message as short as chats and ntfy accept', () => {
    const feedUrls = Array.from({ length: 30 }, (_, n) => `https://feeds.example.com/${'f'.repeat(60)}/${n}`);
    const [message] = fileMessages(files(9, { embedUrl: 'https://v.example.com/1', feedUrls }), 0);
    expect(message?.body).toContain('https://v.example.com/1\nhttps://feeds.example.com/');
    expect(message?.body.length).toBeLessThan(3_000);
  });

  test.each([
    ['https://v.example.com/@news/clip', ['https://v.example.com/%40news/clip']],
    ['https://v.example.com/a](https://w.example.com)', ['https://v.example.com/a%5D(https://w.example.com)']],
    [`https://v.example.com/${'a'.repeat(600)}`, []],
  ])('a link to a video works in every chat, and is left out if it is too long: %s', (embedUrl, links) => {
    const [message] = fileMessages(files(1, { embedUrl }), 0);
    expect(message?.body.split('\n').slice(1)).toEqual(links);
  });

  test('where live videos are watched, as far as the service names it', () => {
    const watched = (n: number): FileNews[] => files(n, { embedUrl: 'https://video.example.com/embed/vid_1' });
    const body = (news: readonly FileNews[]) => fileMessages(news, 1)[0]?.body.split('\n');
    expect(body(watched(1))).toEqual(['/in/clip0.mp4', 'https://video.example.com/embed/vid_1']);
    expect(body([...watched(1), ...files(1)])).toEqual([
      '/in/clip0.mp4 (f_0)',
      'https://video.example.com/embed/vid_1',
      '/in/clip0.mp4 (f_0)',
    ]);
  });

  test('reason, next step, and the first of the names', () => {
    const [message] = fileMessages(needing(7), 1);
    expect(message?.body.split('\n')).toEqual([
      'No rule matches it. Add a rule for them, or ignore them.',
      '/in/clip0.mp4 (f_0)',
      '/in/clip1.mp4 (f_1)',
      '/in/clip2.mp4 (f_2)',
      '/in/clip3.mp4 (f_3)',
      '/in/clip4.mp4 (f_4)',
      'and 2 more files',
    ]);
    expect(message).toMatchObject({ count: 7, files: ['f_0', 'f_1', 'f_2', 'f_3', 'f_4'], level: 'warn' });
  });
});

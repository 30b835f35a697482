import type { FeedContent } from '../../../packages/sandbox/src/feeds/content.ts';
import { Links } from '../../../packages/sandbox/src/http/links.ts';
import type { FeedItem } from '../../../packages/sandbox/src/store/feeds.ts';
import type { VideoMedia } from '../../../packages/sandbox/src/store/videos.ts';
import { playable } from '../playable.ts';

const ORIGIN = 'http://127.0.0.1:8080';

/** What a feed says in tests of its form: two items, published on a day in January. */
export function someContent(fields: Partial<FeedContent> = {}): FeedContent {
  return {
    channelId: 'ch_main',
    title: 'Main',
    description: 'All of it',
    url: `${ORIGIN}/feeds/feed_main.xml`,
    pages: {},
    publishedAtMs: Date.UTC(2026, 0, 31, 12),
    changedAtMs: Date.UTC(2026, 0, 31, 13),
    podcastGuid: '9b024349-ccf0-5f69-a609-6b82873eab3c',
    items: [someItem({ videoId: 'vid_2' }), someItem({ videoId: 'vid_1', title: 'The first' })],
    links: new Links(ORIGIN, ORIGIN, 'jpg'),
    ...fields,
  };
}

export function someItem({
  media,
  ...fields
}: Partial<Omit<FeedItem, 'media'>> & { media?: Partial<VideoMedia> } = {}): FeedItem {
  const { isPlayable: _isPlayable, ...facts } = playable;
  return {
    videoId: 'vid_1',
    title: 'A clip',
    description: 'What is to be seen',
    tags: ['news', 'city'],
    createdAtMs: Date.UTC(2026, 0, 30, 9, 5),
    media: { ...facts, sizeBytes: 65_182, sha256: 'ab'.repeat(32), ...media },
    ...fields,
  };
}

/** Texts that broke somebody's feed once, each with a word that must survive. The API takes all of them as titles. */
export const hostileTexts: readonly string[] = [
  '<script>alert("word")</script>',
  '</title></item> word',
  ']]> word <![CDATA[',
  'word & word &amp; &#0; &nosuch;',
  `"word" 'word'`,
  'word\u0001\u0008\u000b\u001f\u007f\u0085',
  'word \ufffe\uffff',
  '  word\t\r\n\u2028 word  ',
  '😀 word 👩‍👩‍👧‍👦',
  '\u202eword מילה كلمة\u202c',
  'wo\u0301rd ﷽ \u{1d11e}',
  '<!-- word --> <?xml word?>',
  `word ${'x'.repeat(490)}`,
  `word ${'😀'.repeat(240)}`,
  '\ufeffword\u200b',
];

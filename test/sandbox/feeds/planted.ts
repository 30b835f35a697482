import { ctvDocument } from '../../../packages/sandbox/src/feeds/ctv.ts';
import { mrssDocument } from '../../../packages/sandbox/src/feeds/mrss.ts';
import { podcastDocument } from '../../../packages/sandbox/src/feeds/podcast.ts';
import { rokuSearchDocument } from '../../../packages/sandbox/src/feeds/roku-search.ts';
import { hostileTexts, someContent, someItem } from './some-content.ts';

/** A good feed of each type, with short and long, silent and hostile items. */
export const goodFeeds = {
  mrss: mrssDocument(manifold()),
  podcast: podcastDocument(manifold()),
  ctv: ctvDocument(manifold()),
  'roku-search': rokuSearchDocument(manifold()),
};

function manifold() {
  const hostile = hostileTexts.map((text, index) =>
    someItem({ videoId: `vid_h${index}`, title: text, description: text, tags: [text] }),
  );
  const items = [
    someItem({ videoId: 'vid_first' }),
    someItem({
      videoId: 'vid_long',
      description: 'é😀 '.repeat(2000),
      media: { durationS: 5000.7, width: 3840, height: 2160 },
    }),
    someItem({ videoId: 'vid_bare', description: null, tags: [], media: { bitRate: null, frameRate: null } }),
    someItem({ videoId: 'vid_mov', media: { mediaType: 'video/quicktime', fileExtension: 'mov' } }),
    ...hostile,
  ];
  const url = 'http://127.0.0.1:8080/feeds/feed_main.xml';
  const pages = { first: url, previous: url, next: `${url}?page=3`, last: `${url}?page=3` };
  return someContent({ title: 'A & B <C>', items, url: `${url}?page=2`, pages });
}

/** A fault: what it is, how it comes into a good feed, the rule of our verdict, and the independent judges that see it. */
export interface Planted {
  readonly fault: string;
  readonly type: keyof typeof goodFeeds;
  readonly from: string | RegExp;
  readonly to: string;
  readonly rule: string;
  /** An empty list: a fault that no general judge sees, which is why the verdict has a rule for it. */
  readonly seenBy: readonly string[];
}

const mrss = (fault: string, from: Planted['from'], to: string, rule: string, seenBy: readonly string[]): Planted => ({
  fault,
  type: 'mrss',
  from,
  to,
  rule,
  seenBy,
});
const podcast = (...[fault, from, to, rule, seenBy]: Parameters<typeof mrss>): Planted => ({
  ...mrss(fault, from, to, rule, seenBy),
  type: 'podcast',
});
const ctv = (...[fault, from, to, rule, seenBy]: Parameters<typeof mrss>): Planted => ({
  ...mrss(fault, from, to, rule, seenBy),
  type: 'ctv',
});
const search = (...[fault, from, to, rule, seenBy]: Parameters<typeof mrss>): Planted => ({
  ...mrss(fault, from, to, rule, seenBy),
  type: 'roku-search',
});

const XML = ['xmllint'];
/** Of the middle one of three pages, which the good feeds are. */
const NEXT =
  '<atom:link href="http://127.0.0.1:8080/feeds/feed_main.xml?page=3" rel="next" type="application/rss+xml"/>';
const READERS = ['xmllint', 'rss-parser', 'feedsmith'];

export const planted: readonly Planted[] = [
  mrss('an unescaped ampersand', 'A &#x26; B', 'A & B', 'well-formed', ['xmllint', 'rss-parser']),
  mrss('an element that is not closed', '</channel>', '', 'well-formed', ['xmllint', 'rss-parser']),
  mrss('a control character', 'A clip', 'A \u0001clip', 'well-formed', ['xmllint']),
  mrss('the Media RSS namespace without its slash', 'com/mrss/"', 'com/mrss"', 'namespace', XML),
  mrss('the Media RSS namespace with https', 'http://search', 'https://search', 'namespace', XML),
  mrss('another version', 'version="2.0"', 'version="0.91"', 'rss-version', XML),
  mrss('no link of the channel', /<link>.*?<\/link>/, '', 'required', ['xmllint', 'rss-parser']),
  mrss('no self link', 'rel="self"', 'rel="alternate"', 'self-link', ['xmllint', 'feedsmith']),
  mrss(
    'a self link that is not a feed',
    'rel="self" type="application/rss+xml"',
    'rel="self" type="text/html"',
    'self-link',
    XML,
  ),
  mrss('a second next page', NEXT, NEXT + NEXT, 'paging', XML),
  mrss(
    'a next page that is this one',
    'feed_main.xml?page=3" rel="next"',
    'feed_main.xml?page=2" rel="next"',
    'paging',
    [],
  ),
  mrss('a next page without a last one', /<atom:link [^>]*rel="last"[^>]*>/, '', 'paging', XML),
  mrss('a previous page without a first one', /<atom:link [^>]*rel="first"[^>]*>/, '', 'paging', XML),
  mrss('a page in the middle that does not lead back', /<atom:link [^>]*rel="previous"[^>]*>/, '', 'paging', []),
  mrss('a control character that XML permits', 'A clip', 'A \u0085clip', 'characters', XML),
  mrss('DEL', '<description>What', '<description>\u007fWhat', 'characters', XML),
  mrss('a character that was lost', 'news, city', 'news, c\ufffdty', 'characters', XML),
  mrss('a control character in an attribute', 'rel="self"', 'rel="self" title="\u0091"', 'characters', XML),
  mrss(
    'HTML in the description of the channel',
    '<description>All of it',
    '<description>&#x3C;b>All&#x3C;/b> of it',
    'html-in-text',
    XML,
  ),
  mrss('escaped HTML in the description of the channel', 'All of it', 'All &amp;lt;of&amp;gt; it', 'html-in-text', []),
  mrss(
    'HTML of its own in the description of the channel',
    'All of it',
    '<![CDATA[All<br>of it]]>',
    'html-in-text',
    [],
  ),
  mrss('an entity in a title', '<title>A clip', '<title>A &amp;eacute; clip', 'html-in-text', []),
  mrss('HTML in a media:title', /(<media:title[^>]*>)A clip/, '$1&lt;em&gt;A&lt;/em&gt; clip', 'html-in-text', XML),
  mrss('a date with UTC+0', '12:00:00 GMT', '12:00:00 UTC+0', 'date', XML),
  mrss('a date of ISO 8601', 'Fri, 30 Jan 2026 09:05:00 GMT', '2026-01-30T09:05:00Z', 'date', XML),
  mrss('the wrong day of the week', 'Fri, 30 Jan', 'Mon, 30 Jan', 'date', []),
  mrss('a day that does not exist', 'Fri, 30 Jan', 'Tue, 31 Feb', 'date', []),
  mrss('the hour 25', '09:05:00', '25:05:00', 'date', ['rss-parser']),
  mrss('a zone beyond all zones', '09:05:00 GMT', '09:05:00 +9999', 'date', []),
  mrss('two titles of the channel', '<title>A &#x26;', '<title>B</title><title>A &#x26;', 'repeated', XML),
  mrss('two titles of an item', '<title>A clip', '<title>B</title><title>A clip', 'repeated', XML),
  mrss('two guids', '<guid ', '<guid isPermaLink="false">other</guid><guid ', 'repeated', XML),
  mrss('two channels', '</channel>', '</channel><channel><title>B</title></channel>', 'repeated', XML),
  mrss(
    'a namespace for the elements of RSS',
    '<rss ',
    '<rss xmlns="http://backend.userland.com/rss2" ',
    'namespace',
    XML,
  ),
  mrss('a link of an item that is none', 'link>http://127.0.0.1:8080/embed/', 'link>embed/', 'link', XML),
  mrss('an address with a blank', 'videos/vid_first.mp4"', 'videos/vid first.mp4"', 'enclosure', XML),
  mrss('a language by its name', '<language>en', '<language>English (US)', 'language', XML),
  mrss('white space around a title', '<title>A clip', '<title>\n        A clip', 'white-space', [
    'xmllint',
    'rss-parser',
  ]),
  mrss('no guid', /<guid.*?<\/guid>/, '', 'required', READERS),
  mrss('a guid that claims to be an address', 'isPermaLink="false"', 'isPermaLink="true"', 'guid', [
    'xmllint',
    'feedsmith',
  ]),
  mrss('the same guid twice', 'vid_long</guid>', 'vid_first</guid>', 'guid-unique', []),
  mrss('the same enclosure twice', 'vid_long.mp4" length', 'vid_first.mp4" length', 'enclosure-unique', []),
  mrss(
    'two enclosures',
    '<enclosure ',
    '<enclosure url="http://x/y.mp4" length="1" type="video/mp4"/><enclosure ',
    'enclosure',
    XML,
  ),
  mrss('an enclosure of length 0', 'length="65182"', 'length="0"', 'enclosure-length', READERS),
  mrss('an enclosure without a type', / type="video\/mp4"\/>/, '/>', 'enclosure-type', READERS),
  mrss('a duration with fractions', 'duration="4"', 'duration="4.04"', 'media-duration', XML),
  mrss('a duration of 0', 'duration="4"', 'duration="0"', 'media-duration', XML),
  mrss('isDefault as yes', 'isDefault="true"', 'isDefault="yes"', 'media-default', ['xmllint', 'feedsmith']),
  mrss('an unknown expression', 'expression="full"', 'expression="whole"', 'media-expression', XML),
  mrss('an unknown medium', 'medium="video"', 'medium="film"', 'media-medium', XML),
  mrss('a group of one', /(<media:content[^]*?<\/media:content>)/, '<media:group>$1</media:group>', 'media-group', [
    'xmllint',
    'feedsmith',
  ]),
  mrss(
    'a hash of SHA-256',
    '<media:player',
    '<media:hash algo="sha-256">00</media:hash><media:player',
    'media-hash',
    XML,
  ),
  mrss(
    'a long media:description',
    '<media:description type="plain">W',
    `<media:description type="plain">${'x'.repeat(201)}W`,
    'media-description',
    XML,
  ),
  mrss('no thumbnail', /<media:thumbnail.*?\/>/, '', 'media-thumbnail', ['xmllint', 'feedsmith']),
  mrss(
    'neither category nor keywords',
    /<media:keywords>.*?<\/media:keywords>([^]*?)<media:category>.*?<\/media:category>/,
    '$1',
    'media-category',
    XML,
  ),
  podcast('no language', /<language>.*?<\/language>/, '', 'required', XML),
  podcast('no category', /<itunes:category.*?\/>/, '', 'itunes-category', ['xmllint', 'podcast-partytime']),
  podcast("a category that is not Apple's", 'Society &amp; Culture', 'Videos', 'itunes-category', [
    'xmllint',
    'podcast-partytime',
  ]),
  podcast('no owner', /<itunes:owner>[^]*?<\/itunes:owner>/, '', 'itunes-owner', XML),
  podcast('an owner without an address', /<itunes:email>.*?<\/itunes:email>/, '', 'itunes-owner', XML),
  podcast('an owner whose address is none', 'podcast@example.com', 'podcast', 'itunes-owner', XML),
  podcast('two names of the owner', '<itunes:name>', '<itunes:name>B</itunes:name><itunes:name>', 'repeated', XML),
  podcast('two locks', '<podcast:locked>', '<podcast:locked>no</podcast:locked><podcast:locked>', 'repeated', XML),
  podcast('HTML in the name of the owner', '<itunes:name>A', '<itunes:name>&#x3C;/b>A', 'html-in-text', XML),
  podcast('QuickTime by another name', 'vid_mov.mov"', 'vid_mov.qt"', 'enclosure-extension', XML),
  podcast('explicit as no', '<itunes:explicit>false', '<itunes:explicit>no', 'itunes-explicit', XML),
  podcast('no explicit', /<itunes:explicit>.*?<\/itunes:explicit>/, '', 'itunes-explicit', ['xmllint']),
  podcast('no artwork', /<itunes:image.*?\/>/, '', 'itunes-image', ['xmllint', 'podcast-partytime']),
  podcast('artwork without an extension', 'ch_main.jpg"', 'ch_main"', 'itunes-image', XML),
  podcast('a guid of another version', '-5f69-', '-4f69-', 'podcast-guid', XML),
  podcast('a lock that is false', '<podcast:locked>no', '<podcast:locked>false', 'podcast-locked', XML),
  podcast(
    'the podcast namespace in another case',
    'podcastindex.org/namespace',
    'PodcastIndex.org/namespace',
    'namespace',
    ['xmllint'],
  ),
  podcast('a duration with fractions', '<itunes:duration>4<', '<itunes:duration>3.5<', 'itunes-duration', [
    'xmllint',
    'podcast-partytime',
  ]),
  podcast('an enclosure of length 0', 'length="65182"', 'length="0"', 'enclosure-length', [
    ...READERS,
    'podcast-partytime',
  ]),
  podcast('an enclosure without an extension', 'vid_first.mp4"', 'vid_first"', 'enclosure-extension', XML),
  podcast('an enclosure that no app plays', 'type="video/mp4"', 'type="video/webm"', 'podcast-type', XML),
  podcast('a title of 256 characters', '<title>A clip', `<title>A clip${'x'.repeat(250)}`, 'value-size', XML),
  podcast(
    'a description of 4,001 bytes',
    '<description>W',
    `<description>${'x'.repeat(4001)}W`,
    'description-size',
    [],
  ),
  ctv('no JSON', '{', '{,', 'well-formed', ['ajv']),
  ctv('a control character', '"A clip"', '"A \u0085clip"', 'characters', []),
  ctv('an escaped control character', '"A clip"', '"A \\u0085clip"', 'characters', []),
  ctv('an escaped character that JSON alone permits', '"A clip"', '"A \\u0001clip"', 'characters', []),
  ctv('half a character', '"A clip"', '"A \\ud800clip"', 'characters', []),
  ctv('an escaped non-character', '"A clip"', '"A \\ud83f\\udffeclip"', 'characters', []),
  ctv('a control character in a name', '"tags"', '"\\u0085tags"', 'characters', []),
  ctv('a time that does not exist', '"lastUpdated": "2026-01', '"lastUpdated": "2026-13', 'schema:lastUpdated', []),
  ctv('a title of blanks', '"title": "A clip"', '"title": " "', 'schema:title', ['ajv']),
  ctv('no provider', '"providerName"', '"provider"', 'schema:providerName', ['ajv']),
  ctv('a time with fractions and Z', '13:00:00+00:00', '13:00:00.000Z', 'schema:lastUpdated', ['ajv']),
  ctv('a duration with fractions', '"duration": 4', '"duration": 4.04', 'schema:content.duration', ['ajv']),
  ctv('a movie among the short ones', '"duration": 4', '"duration": 901', 'schema:content.duration', ['ajv']),
  ctv('a video without an address', /"url": "[^"]*"/, '"url": ""', 'schema:content.videos.url', ['ajv']),
  ctv('a type that Roku does not know', '"videoType": "MP4"', '"videoType": "MKV"', 'schema:content.videos.videoType', [
    'ajv',
  ]),
  ctv('a long short description', '"What is', `"${'x'.repeat(201)}`, 'schema:shortDescription', ['ajv']),
  ctv('a tag of 21 characters', '"news"', `"${'x'.repeat(21)}"`, 'schema:tags', ['ajv']),
  ctv('the same id twice', '"id": "vid_bare"', '"id": "vid_first"', 'id-unique', []),
  search("the type as Roku's page writes it", '"shortForm"', '"shortform"', 'schema:type', ['ajv']),
  search(
    'a duration with fractions',
    '"durationInSeconds": 4',
    '"durationInSeconds": 4.04',
    'schema:durationInSeconds',
    ['ajv'],
  ),
  search('a quality of the other form', '"quality": "sd"', '"quality": "HD"', 'schema:content.playOptions.quality', [
    'ajv',
  ]),
  search('a title of 201 characters', '"A clip"', `"${'x'.repeat(201)}"`, 'schema:titles.value', ['ajv']),
  search('no image', '"images"', '"pictures"', 'schema:images', ['ajv']),
];

/** The good feed with this one fault. @throws when the good feed has no place for it */
export function withFault({ type, from, to, fault }: Planted): string {
  const good = goodFeeds[type];
  const bad = good.replace(from, to);
  if (bad === good) throw new Error(`${fault}: cannot be planted`);
  return bad;
}

import { ctvDocument, rokuSearchDocument } from '../../../packages/sandbox/src/feeds/ctv.ts';
import { mrssDocument } from '../../../packages/sandbox/src/feeds/mrss.ts';
import { podcastDocument } from '../../../packages/sandbox/src/feeds/podcast.ts';
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

/** A fault: what it is, how it comes into a good feed, and the judges that see it. */
export interface Planted {
  readonly fault: string;
  readonly type: keyof typeof goodFeeds;
  readonly from: string | RegExp;
  readonly to: string;
  readonly seenBy: readonly string[];
}

const mrss = (fault: string, from: Planted['from'], to: string, seenBy: readonly string[]): Planted => ({
  fault,
  type: 'mrss',
  from,
  to,
  seenBy,
});
const podcast = (...[fault, from, to, seenBy]: Parameters<typeof mrss>): Planted => ({
  ...mrss(fault, from, to, seenBy),
  type: 'podcast',
});
const ctv = (...[fault, from, to, seenBy]: Parameters<typeof mrss>): Planted => ({
  ...mrss(fault, from, to, seenBy),
  type: 'ctv',
});
const search = (...[fault, from, to, seenBy]: Parameters<typeof mrss>): Planted => ({
  ...mrss(fault, from, to, seenBy),
  type: 'roku-search',
});

const XML = ['xmllint'];
/** Of the middle one of three pages, which the good feeds are. */
const NEXT =
  '<atom:link href="http://127.0.0.1:8080/feeds/feed_main.xml?page=3" rel="next" type="application/rss+xml"/>';
const READERS = ['xmllint', 'rss-parser', 'feedsmith'];

export const planted: readonly Planted[] = [
  mrss('an unescaped ampersand', 'A &#x26; B', 'A & B', ['xmllint', 'rss-parser']),
  mrss('an element that is not closed', '</channel>', '', ['xmllint', 'rss-parser']),
  mrss('a control character', 'A clip', 'A \u0001clip', ['xmllint']),
  mrss('the Media RSS namespace without its slash', 'com/mrss/"', 'com/mrss"', XML),
  mrss('the Media RSS namespace with https', 'http://search', 'https://search', XML),
  mrss('another version', 'version="2.0"', 'version="0.91"', XML),
  mrss('no link of the channel', /<link>.*?<\/link>/, '', ['xmllint', 'rss-parser']),
  mrss('no self link', 'rel="self"', 'rel="alternate"', ['xmllint', 'feedsmith']),
  mrss('a self link that is not a feed', 'rel="self" type="application/rss+xml"', 'rel="self" type="text/html"', XML),
  mrss('a second next page', NEXT, NEXT + NEXT, XML),
  mrss('a next page that is this one', 'feed_main.xml?page=3" rel="next"', 'feed_main.xml?page=2" rel="next"', [
    'bounds',
  ]),
  mrss('a next page without a last one', /<atom:link [^>]*rel="last"[^>]*>/, '', XML),
  mrss('a previous page without a first one', /<atom:link [^>]*rel="first"[^>]*>/, '', XML),
  mrss('a page in the middle that does not lead back', /<atom:link [^>]*rel="previous"[^>]*>/, '', ['bounds']),
  mrss('a control character that XML permits', 'A clip', 'A \u0085clip', XML),
  mrss('DEL', '<description>What', '<description>\u007fWhat', XML),
  mrss('a character that was lost', 'news, city', 'news, c\ufffdty', XML),
  mrss('a control character in an attribute', 'rel="self"', 'rel="self" title="\u0091"', XML),
  mrss(
    'HTML in the description of the channel',
    '<description>All of it',
    '<description>&#x3C;b>All&#x3C;/b> of it',
    XML,
  ),
  mrss('escaped HTML in the description of the channel', 'All of it', 'All &amp;lt;of&amp;gt; it', ['bounds']),
  mrss('HTML of its own in the description of the channel', 'All of it', '<![CDATA[All<br>of it]]>', ['bounds']),
  mrss('an entity in a title', '<title>A clip', '<title>A &amp;eacute; clip', ['bounds']),
  mrss('HTML in a media:title', /(<media:title[^>]*>)A clip/, '$1&lt;em&gt;A&lt;/em&gt; clip', XML),
  mrss('a date with UTC+0', '12:00:00 GMT', '12:00:00 UTC+0', XML),
  mrss('a date of ISO 8601', 'Fri, 30 Jan 2026 09:05:00 GMT', '2026-01-30T09:05:00Z', XML),
  mrss('the wrong day of the week', 'Fri, 30 Jan', 'Mon, 30 Jan', ['bounds']),
  mrss('a day that does not exist', 'Fri, 30 Jan', 'Tue, 31 Feb', ['bounds']),
  mrss('the hour 25', '09:05:00', '25:05:00', ['rss-parser']),
  mrss('a zone beyond all zones', '09:05:00 GMT', '09:05:00 +9999', ['bounds']),
  mrss('two titles of the channel', '<title>A &#x26;', '<title>B</title><title>A &#x26;', XML),
  mrss('two titles of an item', '<title>A clip', '<title>B</title><title>A clip', XML),
  mrss('two guids', '<guid ', '<guid isPermaLink="false">other</guid><guid ', XML),
  mrss('two channels', '</channel>', '</channel><channel><title>B</title></channel>', XML),
  mrss('a namespace for the elements of RSS', '<rss ', '<rss xmlns="http://backend.userland.com/rss2" ', XML),
  mrss('a link of an item that is none', 'link>http://127.0.0.1:8080/embed/', 'link>embed/', XML),
  mrss('an address with a blank', 'videos/vid_first.mp4"', 'videos/vid first.mp4"', XML),
  mrss('a language by its name', '<language>en', '<language>English (US)', XML),
  mrss('white space around a title', '<title>A clip', '<title>\n        A clip', ['xmllint', 'rss-parser']),
  mrss('no guid', /<guid.*?<\/guid>/, '', READERS),
  mrss('a guid that claims to be an address', 'isPermaLink="false"', 'isPermaLink="true"', ['xmllint', 'feedsmith']),
  mrss('the same guid twice', 'vid_long</guid>', 'vid_first</guid>', ['bounds']),
  mrss('the same enclosure twice', 'vid_long.mp4" length', 'vid_first.mp4" length', ['bounds']),
  mrss(
    'two enclosures',
    '<enclosure ',
    '<enclosure url="http://x/y.mp4" length="1" type="video/mp4"/><enclosure ',
    XML,
  ),
  mrss('an enclosure of length 0', 'length="65182"', 'length="0"', READERS),
  mrss('an enclosure without a type', / type="video\/mp4"\/>/, '/>', READERS),
  mrss('a duration with fractions', 'duration="4"', 'duration="4.04"', XML),
  mrss('a duration of 0', 'duration="4"', 'duration="0"', XML),
  mrss('isDefault as yes', 'isDefault="true"', 'isDefault="yes"', ['xmllint', 'feedsmith']),
  mrss('an unknown expression', 'expression="full"', 'expression="whole"', XML),
  mrss('an unknown medium', 'medium="video"', 'medium="film"', XML),
  mrss('a group of one', /(<media:content[^]*?<\/media:content>)/, '<media:group>$1</media:group>', [
    'xmllint',
    'feedsmith',
  ]),
  mrss('a hash of SHA-256', '<media:player', '<media:hash algo="sha-256">00</media:hash><media:player', XML),
  mrss(
    'a long media:description',
    '<media:description type="plain">W',
    `<media:description type="plain">${'x'.repeat(201)}W`,
    XML,
  ),
  mrss('no thumbnail', /<media:thumbnail.*?\/>/, '', ['xmllint', 'feedsmith']),
  mrss(
    'neither category nor keywords',
    /<media:keywords>.*?<\/media:keywords>([^]*?)<media:category>.*?<\/media:category>/,
    '$1',
    XML,
  ),
  podcast('no language', /<language>.*?<\/language>/, '', XML),
  podcast('no category', /<itunes:category.*?\/>/, '', ['xmllint', 'podcast-partytime']),
  podcast("a category that is not Apple's", 'Society &amp; Culture', 'Videos', ['xmllint', 'podcast-partytime']),
  podcast('no owner', /<itunes:owner>[^]*?<\/itunes:owner>/, '', XML),
  podcast('an owner without an address', /<itunes:email>.*?<\/itunes:email>/, '', XML),
  podcast('an owner whose address is none', 'podcast@example.com', 'podcast', XML),
  podcast('two names of the owner', '<itunes:name>', '<itunes:name>B</itunes:name><itunes:name>', XML),
  podcast('two locks', '<podcast:locked>', '<podcast:locked>no</podcast:locked><podcast:locked>', XML),
  podcast('HTML in the name of the owner', '<itunes:name>A', '<itunes:name>&#x3C;/b>A', XML),
  podcast('QuickTime by another name', 'vid_mov.mov"', 'vid_mov.qt"', XML),
  podcast('explicit as no', '<itunes:explicit>false', '<itunes:explicit>no', XML),
  podcast('no explicit', /<itunes:explicit>.*?<\/itunes:explicit>/, '', ['xmllint']),
  podcast('no artwork', /<itunes:image.*?\/>/, '', ['xmllint', 'podcast-partytime']),
  podcast('artwork without an extension', 'ch_main.jpg"', 'ch_main"', XML),
  podcast('a guid of another version', '-5f69-', '-4f69-', XML),
  podcast('a lock that is false', '<podcast:locked>no', '<podcast:locked>false', XML),
  podcast('the podcast namespace in another case', 'podcastindex.org/namespace', 'PodcastIndex.org/namespace', [
    'xmllint',
  ]),
  podcast('a duration with fractions', '<itunes:duration>4<', '<itunes:duration>3.5<', [
    'xmllint',
    'podcast-partytime',
  ]),
  podcast('an enclosure of length 0', 'length="65182"', 'length="0"', [...READERS, 'podcast-partytime']),
  podcast('an enclosure without an extension', 'vid_first.mp4"', 'vid_first"', XML),
  podcast('an enclosure that no app plays', 'type="video/mp4"', 'type="video/webm"', XML),
  podcast('a title of 256 characters', '<title>A clip', `<title>A clip${'x'.repeat(250)}`, XML),
  podcast('a description of 4,001 bytes', '<description>W', `<description>${'x'.repeat(4001)}W`, ['bounds']),
  ctv('no JSON', '{', '{,', ['ajv']),
  ctv('a control character', '"A clip"', '"A \u0085clip"', ['bounds']),
  ctv('an escaped control character', '"A clip"', '"A \\u0085clip"', ['bounds']),
  ctv('an escaped character that JSON alone permits', '"A clip"', '"A \\u0001clip"', ['bounds']),
  ctv('half a character', '"A clip"', '"A \\ud800clip"', ['bounds']),
  ctv('an escaped non-character', '"A clip"', '"A \\ud83f\\udffeclip"', ['bounds']),
  ctv('a control character in a name', '"tags"', '"\\u0085tags"', ['bounds']),
  ctv('a time that does not exist', '"lastUpdated": "2026-01', '"lastUpdated": "2026-13', ['bounds']),
  ctv('a title of blanks', '"title": "A clip"', '"title": " "', ['ajv']),
  ctv('no provider', '"providerName"', '"provider"', ['ajv']),
  ctv('a time with fractions and Z', '13:00:00+00:00', '13:00:00.000Z', ['ajv']),
  ctv('a duration with fractions', '"duration": 4', '"duration": 4.04', ['ajv']),
  ctv('a movie among the short ones', '"duration": 4', '"duration": 901', ['ajv']),
  ctv('a video without an address', /"url": "[^"]*"/, '"url": ""', ['ajv']),
  ctv('a type that Roku does not know', '"videoType": "MP4"', '"videoType": "MKV"', ['ajv']),
  ctv('a long short description', '"What is', `"${'x'.repeat(201)}`, ['ajv']),
  ctv('a tag of 21 characters', '"news"', `"${'x'.repeat(21)}"`, ['ajv']),
  ctv('the same id twice', '"id": "vid_bare"', '"id": "vid_first"', ['bounds']),
  search("the type as Roku's page writes it", '"shortForm"', '"shortform"', ['ajv']),
  search('a duration with fractions', '"durationInSeconds": 4', '"durationInSeconds": 4.04', ['ajv']),
  search('a quality of the other form', '"quality": "sd"', '"quality": "HD"', ['ajv']),
  search('a title of 201 characters', '"A clip"', `"${'x'.repeat(201)}"`, ['ajv']),
  search('the same id twice', '"id": "vid_bare"', '"id": "vid_first"', ['bounds']),
  search('no image', '"images"', '"pictures"', ['ajv']),
];

/** The good feed with this one fault. @throws when the good feed has no place for it */
export function withFault({ type, from, to, fault }: Planted): string {
  const good = goodFeeds[type];
  const bad = good.replace(from, to);
  if (bad === good) throw new Error(`${fault}: cannot be planted`);
  return bad;
}

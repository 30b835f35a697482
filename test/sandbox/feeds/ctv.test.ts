import { describe, expect, test } from 'vitest';
import { ctvDocument, rokuSearchDocument } from '../../../packages/sandbox/src/feeds/ctv.ts';
import { complaintsAbout } from './judges.ts';
import { hostileTexts, someContent, someItem } from './some-content.ts';
import type { Json } from '../running-sandbox.ts';

type Item = Parameters<typeof someItem>[0];

const feedOf = (...items: Item[]): Json => JSON.parse(ctvDocument(someContent({ items: items.map(someItem) })));
const searchOf = (...items: Item[]): Json =>
  JSON.parse(rokuSearchDocument(someContent({ items: items.map(someItem) })));

describe('a CTV feed', () => {
  test('has provider, date, language, and every video with its playable address', () => {
    expect(feedOf({})).toEqual({
      providerName: 'Main',
      lastUpdated: '2026-01-31T13:00:00+00:00',
      language: 'en',
      shortFormVideos: [
        {
          id: 'vid_1',
          title: 'A clip',
          shortDescription: 'What is to be seen',
          thumbnail: 'http://127.0.0.1:8080/cdn/thumbnails/vid_1.jpg',
          releaseDate: '2026-01-30',
          tags: ['news', 'city'],
          content: {
            dateAdded: '2026-01-30T09:05:00+00:00',
            duration: 4,
            language: 'en',
            videos: [
              { url: 'http://127.0.0.1:8080/cdn/videos/vid_1.mp4', quality: 'HD', videoType: 'MP4', bitrate: 130 },
            ],
          },
        },
      ],
      movies: [],
    });
  });

  test('takes up to 15 minutes for short-form, and a longer video for a movie with a genre', () => {
    const feed = feedOf(
      { videoId: 'vid_s', media: { durationS: 900.4 } },
      { videoId: 'vid_l', media: { durationS: 900.5 } },
    );
    expect(feed.shortFormVideos.map(({ id }: Json) => id)).toEqual(['vid_s']);
    expect(feed.movies).toMatchObject([{ id: 'vid_l', genres: ['special'], content: { duration: 901, captions: [] } }]);
  });

  test.each([
    [320, 180, 'HD', 'sd'],
    [1280, 720, 'HD', 'hd'],
    [1080, 1920, 'FHD', 'fhd'],
    [3840, 2160, 'UHD', 'uhd'],
    [null, null, 'HD', 'sd'],
  ])('a picture of %s x %s is %s, for Roku Search %s', (width, height, quality, searchQuality) => {
    expect(feedOf({ media: { width, height } }).shortFormVideos[0].content.videos[0].quality).toBe(quality);
    expect(searchOf({ media: { width, height } }).assets[0].content.playOptions[0].quality).toBe(searchQuality);
  });

  test('computes a bit rate that the file does not tell: a plain file must have one', () => {
    const [video] = feedOf({ media: { bitRate: null, sizeBytes: 100_000, durationS: 4 } }).shortFormVideos;
    expect(video.content.videos[0].bitrate).toBe(200);
  });

  test('has a long description only if it is longer than the short one', () => {
    const [summary, wordy] = feedOf(
      { description: 'a b' },
      { videoId: 'vid_2', description: '😀'.repeat(600) },
    ).shortFormVideos;
    expect(summary).not.toHaveProperty('longDescription');
    expect(Array.from(wordy.shortDescription)).toHaveLength(200);
    expect(Array.from(wordy.longDescription)).toHaveLength(500);
  });

  test('cuts tags to 20 characters, each once, and leaves out none at all', () => {
    const [first, second] = feedOf(
      { tags: ['😀'.repeat(30), '😀'.repeat(40), ' a ', '\u0001'] },
      { tags: [] },
    ).shortFormVideos;
    expect(first.tags).toEqual(['😀'.repeat(20), 'a']);
    expect(second).not.toHaveProperty('tags');
  });

  test('was never published: valid, and without videos', async () => {
    const empty = someContent({ items: [], publishedAtMs: null });
    expect(await complaintsAbout(ctvDocument(empty), 'ctv')).toEqual([]);
    expect(await complaintsAbout(rokuSearchDocument(empty), 'roku-search')).toEqual([]);
  });

  test.each(hostileTexts)('carries %j', async (text) => {
    const item = someItem({ title: text, description: text, tags: [text] });
    const content = someContent({ title: text, description: text, items: [item] });
    expect(await complaintsAbout(ctvDocument(content), 'ctv')).toEqual([]);
    expect(await complaintsAbout(rokuSearchDocument(content), 'roku-search')).toEqual([]);
  });
});

describe('a Roku Search feed', () => {
  test('follows the schema where the page of Roku differs: shortForm, languages', () => {
    expect(searchOf({}, { videoId: 'vid_l', media: { durationS: 1000 } })).toMatchObject({
      version: '1',
      defaultLanguage: 'en',
      defaultAvailabilityCountries: ['us'],
      assets: [
        {
          id: 'vid_1',
          type: 'shortForm',
          titles: [{ value: 'A clip', languages: ['en'] }],
          longDescriptions: [{ value: 'What is to be seen', languages: ['en'] }],
          durationInSeconds: 4,
          images: [{ type: 'main', url: 'http://127.0.0.1:8080/cdn/thumbnails/vid_1.jpg', languages: ['en'] }],
          content: { playOptions: [{ license: 'free', playId: 'vid_1' }] },
        },
        { id: 'vid_l', type: 'movie' },
      ],
    });
  });
});

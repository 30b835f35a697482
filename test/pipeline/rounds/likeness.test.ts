import { describe, expect, test } from 'vitest';
import type { HostedVideo } from '../../../src/pipeline/file/failure.ts';
import { likenesses, titlesOf } from '../../../src/pipeline/rounds/likeness.ts';
import type { LocalVideo } from '../../../src/pipeline/rounds/likeness.ts';
import { someFacts, somePlan } from '../some-facts.ts';

const file = (id: string, title: string, duration: number | null = 60.4): LocalVideo => ({
  id,
  titles: [title],
  duration,
});
const video = (id: string, title: string, duration: number | null = 60, status = 'ready'): HostedVideo => ({
  id,
  title,
  duration,
  status,
});

test('a file may be called as the rules would call its video, and as it is called itself', () => {
  const facts = someFacts({ path: 'news/The_Show.2025.mp4', plan: { ...somePlan, title: 'Show: The Show 2025' } });
  expect(titlesOf(facts)).toEqual(['show: the show 2025', 'the show 2025', 'the show 2025 mp4']);
  expect(titlesOf({ ...facts, plan: null })).toEqual(['the show 2025', 'the show 2025 mp4']);
});

describe('a file is', () => {
  test.each<[string, readonly LocalVideo[], readonly HostedVideo[], string | null]>([
    ['the one ready video with its title and duration', [file('f', 'clip')], [video('v', 'Clip')], null],
    ['it although the title has other spaces', [file('f', 'my clip')], [video('v', 'My_Clip ')], null],
    ['it when the service rounds up', [file('f', 'clip', 60.4)], [video('v', 'clip', 61)], null],
    [
      'perhaps it when the durations are near',
      [file('f', 'clip', 63)],
      [video('v', 'clip', 60)],
      'the durations differ by 3.0 s',
    ],
    [
      'perhaps it when it does not say how long it is',
      [file('f', 'clip', null)],
      [video('v', 'clip')],
      'only the title matches: the file does not state its duration',
    ],
    [
      'perhaps it when the service does not say',
      [file('f', 'clip')],
      [video('v', 'clip', null)],
      "only the title matches: the service does not state the video's duration",
    ],
    [
      'perhaps one of two',
      [file('f', 'clip')],
      [video('v', 'clip'), video('w', 'clip', 61)],
      '2 videos have this title and about this duration',
    ],
    [
      'perhaps it when another file is as like',
      [file('f', 'clip'), file('g', 'clip')],
      [video('v', 'clip')],
      '2 files have the title and about the duration of this video',
    ],
    [
      'perhaps it while the service processes it',
      [file('f', 'clip')],
      [video('v', 'clip', 60, 'processing')],
      'the status of the video is "processing"',
    ],
  ])('%s', (_, files, videos, doubt) => {
    const found = likenesses(files, videos).get('f');
    expect(found?.videos[0]?.id).toBe('v');
    expect([found?.isSure, found?.doubt]).toEqual([doubt === null, doubt]);
  });

  test.each<[string, LocalVideo, HostedVideo]>([
    ['another title', file('f', 'clip'), video('v', 'clip 2')],
    ['quite another duration', file('f', 'clip', 60), video('v', 'clip', 90)],
    ['a failed video', file('f', 'clip'), video('v', 'clip', 60, 'failed')],
    ['a record without bytes', file('f', 'clip'), video('v', 'clip', null, 'pending')],
  ])('not hosted: %s', (_, one, other) => {
    expect(likenesses([one], [other]).get('f')).toEqual({ videos: [], isSure: false, doubt: null });
  });

  test('told from another of the same title by its duration', () => {
    const found = likenesses(
      [file('f', 'episode', 600), file('g', 'episode', 1_200)],
      [video('v', 'Episode', 600), video('w', 'Episode', 1_200)],
    );
    expect([...found].map(([id, { videos, isSure }]) => [id, videos.map(({ id }) => id), isSure])).toEqual([
      ['f', ['v'], true],
      ['g', ['w'], true],
    ]);
  });

  test('one of ten thousand of its title: they are counted, and only a few are named', () => {
    const numbers = Array.from({ length: 10_000 }, (_, index) => index);
    const found = likenesses(
      numbers.map((n) => file(`f${n}`, 'untitled', n % 2 === 0 ? null : n)),
      numbers.map((n) => video(`v${n}`, 'Untitled', n)),
    );
    expect([found.get('f0')?.videos.length, found.get('f0')?.count]).toEqual([10, 10_000]);
    expect(found.get('f77')?.videos.map(({ id }) => id)).toEqual(
      [72, 73, 74, 75, 76, 77, 78, 79, 80, 81].map((n) => `v${n}`),
    );
    expect(found.get('f77')?.doubt).toBe('11 videos have this title and about this duration');
  });
});

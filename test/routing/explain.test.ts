import fc from 'fast-check';
import { expect, test } from 'vitest';
import { likelyCause } from '../../src/routing/explain.ts';
import { compileMatch } from '../../src/routing/match.ts';

test.each([
  ['*.mp4', 'news/clip.mp4', '`*` does not cross folders: write "**/*.mp4"'],
  ['news/*', 'news/2026/clip.mp4', '`*` does not cross folders: write "news/**"'],
  ['news/{show}/*.mp4', 'news/evening/hd/clip.mp4', '`*` does not cross folders: write "news/{show}/**/*.mp4"'],
  ['news/**', 'News/clip.mp4', 'the case differs: upper and lower case matter in rules'],
  ['News/**', 'NEWS/clip.mp4', 'the case differs: upper and lower case matter in rules'],
  ['*.mp4', 'CLIP.MP4', 'the case differs: upper and lower case matter in rules'],
  ['news/*.mp4', 'news/clip.mp4 ', 'the name "clip.mp4 " has a space at the end'],
  ['news/*.mp4', 'news /clip.mp4', 'the name "news " has a space at the end'],
  ['clip.mp4', ' clip.mp4', 'the name " clip.mp4" has a space at the beginning'],
  [
    'clip.mp4',
    'a/b/clip.mp4',
    'the pattern is for the top of the folder, and the file lies deeper: write "**/clip.mp4"',
  ],
  ['news', 'news/clip.mp4', 'the pattern names a folder, not what is in it: write "news/**"'],
  ['sport/**', 'news/clip.mp4', null],
  ['news/**', 'news/clip.mp4', null],
])('%s does not match %s because: %s', (pattern, path, why) => {
  expect(likelyCause(pattern, path)?.why ?? null).toBe(why);
});

test('what it names is true: with that change the path matches', () => {
  const part = fc.constantFrom('news', 'News', 'clip.mp4', 'CLIP.MP4', 'a ', ' b', 'ä', 'x.mov');
  const piece = fc.constantFrom(
    '*',
    '**',
    '*.mp4',
    '*.{mp4,mov}',
    '{show}',
    'news',
    'News',
    'clip.mp4',
    'a',
    '[ab]',
    'x.*',
  );
  const segments = (one: fc.Arbitrary<string>) =>
    fc.array(one, { minLength: 1, maxLength: 4 }).map((all) => all.join('/'));
  let claims = 0;
  fc.assert(
    fc.property(segments(piece), segments(part), (pattern, path) => {
      const cause = likelyCause(pattern, path);
      if (cause === null) return;
      claims += 1;
      expect(compileMatch(pattern)(path)).toBeNull();
      expect(compileMatch(cause.pattern ?? pattern)(cause.path ?? path)).not.toBeNull();
    }),
    { numRuns: 3_000 },
  );
  expect(claims).toBeGreaterThan(100);
});

import { expect, test } from 'vitest';
import { playerPage, playerSettings } from '../../../packages/sandbox/src/embed/pages.ts';

async function titleOn(title: string): Promise<string> {
  const media = { isAudio: false, mediaUrl: 'http://x/v.mp4', posterUrl: 'http://x/v.jpg' };
  const page = await playerPage({ ...media, title, playsPath: '/p', settings: playerSettings({}), nonce: 'n' });
  return /<title>(.*)<\/title>/s.exec(page)?.[1] ?? '';
}

// The API takes 500 characters; records from elsewhere may have more.
test.each([
  ['letters', 'a'],
  ['characters of two units', '\u{1F600}'],
])('a title of 10,000 %s is cut at 300', async (_what, character) => {
  expect(await titleOn(character.repeat(10_000))).toBe(`${character.repeat(300)}…`);
  expect(await titleOn(character.repeat(301))).toBe(`${character.repeat(300)}…`);
  expect(await titleOn(character.repeat(300))).toBe(character.repeat(300));
});

test('a cut leaves no half of a character', async () => {
  for (const start of ['', 'a', 'aa']) {
    const shown = await titleOn(start + '\u{1F600}'.repeat(5000));
    expect(shown.isWellFormed()).toBe(true);
    expect(Array.from(shown)).toHaveLength(301);
  }
});

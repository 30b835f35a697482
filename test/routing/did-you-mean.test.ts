import { expect, test } from 'vitest';
import { didYouMean } from '../../src/routing/did-you-mean.ts';

const KEYS = ['title', 'tags', 'channel', 'publish', 'x'];

test.each([
  ['chanel', 'channel'],
  ['Title', 'title'],
  ['tag', 'tags'],
  ['tgas', 'tags'],
  ['pubilsh', 'publish'],
  ['wombat', null],
  ['y', null],
  ['', null],
  ['channel'.repeat(100), null],
])('%j was probably meant to be %j', (word, meant) => {
  expect(didYouMean(word, KEYS)).toBe(meant);
});

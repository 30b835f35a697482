import { expect, test } from 'vitest';
import { createFeedLinks, webAddress } from '../../src/host/feed-links.ts';

test.each([
  ['https://player.example.com/vid_1', 'https://player.example.com/vid_1'],
  ['http://player.example.com/"><script>', 'http://player.example.com/%22%3E%3Cscript%3E'],
  ['javascript:alert(1)', null],
  ['JAVASCRIPT:alert(1)', null],
  ['data:text/html,hi', null],
  ['file:///etc/passwd', null],
  ['//player.example.com/x', null],
  ['https://user:secret@player.example.com/', null],
  ['', null],
  [`https://player.example.com/${'x'.repeat(3_000)}`, null],
])('of what the service calls an address, %s is followed as %s', (text, address) => {
  expect(webAddress(text)).toBe(address);
});

test('the last address of a feed counts, and old feeds are forgotten', () => {
  const links = createFeedLinks();
  links.heard('one', 'https://f.example/1');
  links.heard('one', 'https://f.example/2');
  links.heard('one', 'javascript:alert(1)');
  expect([links.find('one'), links.find('two')]).toEqual(['https://f.example/2', null]);
  for (let n = 0; n < 10_000; n += 1) links.heard(`feed_${n}`, 'https://f.example/');
  expect([links.find('one'), links.find('feed_9999')]).toEqual([null, 'https://f.example/']);
});

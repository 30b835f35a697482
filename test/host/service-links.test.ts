import { expect, test } from 'vitest';
import { createServiceLinks, webAddress } from '../../src/host/service-links.ts';

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

test('links are found by video and feed, the last one counts, and old ones are forgotten', () => {
  const links = createServiceLinks();
  links.heard('video', 'one', 'https://a.example/1');
  links.heard('video', 'one', 'https://a.example/2');
  links.heard('video', 'one', undefined);
  links.heard('feed', 'one', 'https://f.example/');
  expect([links.find('video', 'one'), links.find('feed', 'one'), links.find('video', 'two')]).toEqual([
    'https://a.example/2',
    'https://f.example/',
    null,
  ]);
  for (let n = 0; n < 10_000; n += 1) links.heard('video', `vid_${n}`, 'https://a.example/');
  expect([links.find('video', 'one'), links.find('video', 'vid_9999')]).toEqual([null, 'https://a.example/']);
});

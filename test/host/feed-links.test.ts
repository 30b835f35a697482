import { expect, test } from 'vitest';
import { createFeedLinks, readFeedLinks, webAddress } from '../../src/host/feed-links.ts';
import type { FeedLinks } from '../../src/host/feed-links.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';

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

test('the last list of feeds counts, also after a restart, and it has a limit', async () => {
  const notes = new MemoryStore();
  const start = () => createFeedLinks(notes, (err) => expect.unreachable(String(err)));
  const links = await start();
  links.heard([
    { id: 'one', url: 'https://f.example/1' },
    { id: 'gone', url: 'https://f.example/gone' },
  ]);
  links.heard([{ id: 'one', url: 'https://f.example/2' }, { id: 'two', url: 'javascript:alert(1)' }, { id: 'three' }]);
  const found = ({ find }: Pick<FeedLinks, 'find'>) => ['one', 'two', 'three', 'gone'].map(find);
  expect(found(links)).toEqual(['https://f.example/2', null, null, null]);
  await expect.poll(async () => found(await start())).toEqual(found(links));
  expect(found(await readFeedLinks(notes))).toEqual(found(links));
  links.heard(Array.from({ length: 2_001 }, (_, n) => ({ id: `feed_${n}`, url: 'https://f.example/' })));
  expect([links.find('feed_1999'), links.find('feed_2000')]).toEqual(['https://f.example/', null]);
});

test('an address in the ledger is as untrusted as one from the service', async () => {
  const notes = new MemoryStore();
  await notes.saveNote('feed links', { one: 'javascript:alert(1)', two: 7, three: 'https://f.example/3' });
  const { find } = await readFeedLinks(notes);
  expect(['one', 'two', 'three'].map(find)).toEqual([null, null, 'https://f.example/3']);
});

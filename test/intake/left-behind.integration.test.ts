import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { ready, someFacts, someVersion } from '../pipeline/some-facts.ts';
import { openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';

/** As after a crash in the middle of `after_ready`. */
const own = '.dropcast-f_0123456789ab';

function leave(inbox: Inbox, directory: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(inbox.at(directory), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(inbox.at(`${directory}/${name}`), content);
}

async function statesOf(inbox: Inbox): Promise<readonly string[]> {
  return (await inbox.rows()).map((row) => `${row.path} ${stateOf(row)}`).toSorted();
}

test('a file that a former dropcast was putting away gets its name back when no row knows it', async () => {
  await using inbox = await openInbox();
  leave(inbox, own, { 'a.mp4': 'top' });
  leave(inbox, `news/${own}`, { 'b.mp4': 'below', 'b.yaml': 'title: B' });
  await inbox.start();
  await inbox.settled();
  await inbox.settled();
  expect(await statesOf(inbox)).toEqual(['a.mp4 queued', 'news/b.mp4 queued']);
  expect(readFileSync(inbox.at('news/b.mp4'), 'utf8')).toBe('below');
  expect([existsSync(inbox.at(own)), existsSync(inbox.at(`news/${own}`))]).toEqual([false, false]);
  expect(inbox.log.lines).toContainEqual(
    expect.objectContaining({ level: 'warn', fields: { folder: inbox.path, path: 'a.mp4' } }),
  );
});

test('a file that took its name in the meantime is not overwritten', async () => {
  await using inbox = await openInbox();
  leave(inbox, own, { 'a.mp4': 'old' });
  leave(inbox, '', { 'a.mp4': 'new' });
  await inbox.start();
  await inbox.settled();
  await inbox.settled();
  expect(await statesOf(inbox)).toEqual(['a (2).mp4 queued', 'a.mp4 queued']);
  expect([readFileSync(inbox.at('a.mp4'), 'utf8'), readFileSync(inbox.at('a (2).mp4'), 'utf8')]).toEqual([
    'new',
    'old',
  ]);
});

test.each<[Facts['disposal'], boolean]>([
  ['pending', false],
  ['waiting', false],
  ['refused', true],
  ['moved', true],
  ['deleted', true],
  ['kept', true],
])('with a row whose local file is %s, it is given back: %s', async (disposal, isGivenBack) => {
  await using inbox = await openInbox();
  const version = { ...someVersion, dev: String(statSync(inbox.path).dev) };
  await inbox.ledger.insert(
    someFacts({ ...ready, id: 'f_0123456789ab', folder: inbox.path, path: 'a.mp4', version, end: 'done', disposal }),
  );
  leave(inbox, own, { 'a.mp4': 'content' });
  await inbox.start();
  await inbox.settled();
  expect([existsSync(inbox.at('a.mp4')), existsSync(inbox.at(own))]).toEqual([isGivenBack, !isGivenBack]);
});

test('nothing but files of the directory itself is touched', async () => {
  await using inbox = await openInbox();
  leave(inbox, 'elsewhere', { 'secret.mp4': 'x' });
  leave(inbox, `${own}/below`, { 'c.mp4': 'y' });
  symlinkSync(inbox.at('elsewhere/secret.mp4'), inbox.at(`${own}/link.mp4`));
  symlinkSync(inbox.at('elsewhere'), inbox.at('.dropcast-f_ba9876543210'));
  leave(inbox, '.dropcast-other', { 'd.mp4': 'z' });
  await inbox.start();
  await inbox.settled();
  expect(await statesOf(inbox)).toEqual(['elsewhere/secret.mp4 queued']);
  expect(readdirSync(inbox.at(own)).toSorted()).toEqual(['below', 'link.mp4']);
  expect(readdirSync(inbox.at('elsewhere'))).toEqual(['secret.mp4']);
});

import { describe, expect, test } from 'vitest';
import type { FolderConfig } from '../../../src/config/config.ts';
import { somePlan } from '../../pipeline/some-facts.ts';
import { someFolderConfig, someRule } from '../../support/folder-config.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { desk, done, held, minute, noon, settledDesk, target } from './desk.ts';

const news = { ...somePlan, rule: 'news' };
const folders: readonly FolderConfig[] = [
  someFolderConfig('/inbox', {
    notify: { owners: { anna: 'mail-anna' }, others: ['mail-desk'] },
    rules: [someRule({ key: 'news', notify: { owners: {}, others: ['mail-news'] } }), someRule()],
  }),
];
/** Targets that get only what concerns their files, and the operators'. */
const targets = [...['mail-anna', 'mail-desk', 'mail-news'].map((name) => target(name, { on: [] })), target('ops')];

describe('the people who dropped files', () => {
  test('hear of their own files only, by owner, rule and folder; operators hear of all', async () => {
    await using it = await settledDesk(targets);
    it.world.folders = folders;
    await it.becomes('a', { ...done, owner: 'anna' });
    await it.becomes('b', { ...done, owner: 'ben' });
    await it.becomes('c', { ...done, owner: null });
    await it.becomes('d', { ...done, owner: 'anna', plan: news });
    await it.becomes('e', { ...held, plan: null, owner: 'anna' });
    await it.becomes('f', { ...held, plan: null, owner: '__proto__' });
    await it.becomes('g', { ...done, folder: '/elsewhere', owner: 'anna' });
    await it.pass(2 * minute);
    expect(it.titles().toSorted()).toEqual([
      'mail-anna: a.mp4 is live',
      'mail-anna: e.mp4 needs you',
      'mail-desk: 2 files are live',
      'mail-desk: f.mp4 needs you',
      'mail-news: d.mp4 is live',
      'ops: 5 files are live',
      'ops: Needs you: 2 .mp4 files match no rule',
    ]);
  });

  test('read where the video and its feed are, and what they can do without a shell', async () => {
    await using it = await settledDesk(targets);
    it.world.folders = folders;
    await it.becomes('a', { ...done, owner: 'anna', embedUrl: 'https://video.example.com/embed/1' });
    await it.becomes('e', { ...held, owner: 'anna' });
    const why = 'user dropcast may not read this file; run `sudo setfacl -m u:dropcast:r -- /inbox/s.mp4`';
    const unreadable = { kind: 'permanent', code: 'unreadable', message: why } as const;
    await it.becomes('s', { ...held, owner: 'anna', why, lastFailure: unreadable });
    await it.pass(2 * minute);
    const own = it.sent.filter((message) => message.target === 'mail-anna');
    expect(own.map(({ body, page }) => [body, page])).toEqual([
      [
        'No rule matches it. Move it into the right folder, or ask the people who run dropcast for a rule.\n/inbox/e.mp4 (e)',
        'https://dropcast.example.com/files/e',
      ],
      [
        '1 .mp4 file cannot be read by dropcast. You cannot solve this yourself: show this message to the people who run dropcast.\n/inbox/s.mp4 (s)',
        'https://dropcast.example.com/files/s',
      ],
      [
        '/inbox/a.mp4\nhttps://video.example.com/embed/1\nhttps://feeds.example.com/feed_news',
        'https://dropcast.example.com/files/a',
      ],
    ]);
  });

  test('hear that a file which needed them is live, but not what operators must do with the local file', async () => {
    await using it = await settledDesk(targets);
    it.world.folders = folders;
    await it.becomes('a', { ...held, owner: 'anna' });
    await it.pass(2 * minute);
    const stuck = { ...done, disposal: 'waiting', lastFailure: { kind: 'local', code: 'EROFS', message: 'read-only' } };
    await it.becomes('a', stuck as Parameters<typeof it.becomes>[1]);
    await it.pass(2 * minute);
    expect(it.titles().filter((line) => line.startsWith('mail-'))).toEqual([
      'mail-anna: a.mp4 needs you',
      'mail-anna: a.mp4 is live, and needed you before',
    ]);
  });

  // A rule's key is its place: with a rule added in front, the key of an older row is that of another rule.
  test('hear of their files by the rule that takes them, also after a reload that moved the rules', async () => {
    await using it = await settledDesk(targets);
    const match = { news: 'news/**', sport: 'sport/**' };
    const rule = (n: number, of: keyof typeof match, name: string) =>
      someRule({ key: `folders[0].rules[${n}]`, match: match[of], notify: { owners: {}, others: [name] } });
    it.world.folders = [
      someFolderConfig('/inbox', { rules: [rule(0, 'sport', 'mail-anna'), rule(1, 'news', 'mail-news')] }),
    ];
    const taken = { ...somePlan, rule: 'folders[0].rules[0]' };
    await it.becomes('a', { ...done, path: 'news/a.mp4', plan: taken });
    await it.becomes('b', {
      ...done,
      path: 'done/b.mp4',
      plan: { ...taken, rule: 'folders[0].rules[1]' },
      disposal: 'moved',
    });
    await it.pass(2 * minute);
    expect(it.titles().filter((line) => line.startsWith('mail-'))).toEqual(['mail-news: 2 files are live']);
  });

  test('who want the news of all files get no second message about their own', async () => {
    await using it = await settledDesk([target('mail-desk', { on: ['live'] })]);
    it.world.folders = folders;
    await it.becomes('a', done);
    await it.becomes('b', { ...held, plan: null });
    await it.pass(2 * minute);
    expect(it.titles()).toEqual(['mail-desk: a.mp4 is live', 'mail-desk: b.mp4 needs you']);
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7])('hear once, also if dropcast is killed at write %d', async (moment) => {
    await using scratch = await scratchDirectory();
    const heard = new Map<string, string>();
    const live = async (
      at: number,
      diesAt: number,
      work: (here: Awaited<ReturnType<typeof desk>>) => Promise<void>,
    ) => {
      await using here = await desk(scratch.path, targets, at);
      here.world.folders = folders;
      let writes = 0;
      here.world.atLedger = (call, when) => {
        if (['commit', 'markTried'].includes(call) && when === 'after') writes += 1;
        if (writes > diesAt) throw new Error('killed');
      };
      here.world.answer = (name, { id, title }) => {
        if (name === 'mail-anna') heard.set(id, title);
        return { ok: true, answer: 'answered 200' };
      };
      await work(here);
    };
    await live(noon, Infinity, (here) => here.settle());
    await live(noon + minute, moment, async (here) => {
      await here.becomes('a', { ...done, owner: 'anna' });
      await here.pass(2 * minute);
    });
    await live(noon + 10 * minute, Infinity, (here) => here.pass(3 * minute));
    expect([...heard.values()]).toEqual(['a.mp4 is live']);
  });
});

import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { FolderStatus } from '../../src/intake/folder-status.ts';
import { openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `f${n}.mp4`);

async function dropped(inbox: Inbox, count: number): Promise<void> {
  for (const name of names(count)) await writeFile(inbox.at(name), `content of ${name}`);
  await inbox.start();
  await inbox.settled();
  expect(await states(inbox)).toEqual({ queued: count });
}

async function states(inbox: Inbox): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const row of await inbox.rows()) counts[stateOf(row)] = (counts[stateOf(row)] ?? 0) + 1;
  return counts;
}

/** All rows are done, as after an upload: their files stay. */
async function finish(inbox: Inbox): Promise<void> {
  for (const end of await inbox.holdAll('creating')) await end();
  for (const end of await inbox.holdAll('uploading')) await end();
  expect(await states(inbox)).toEqual({ processing: (await inbox.rows()).length });
}

function folder(inbox: Inbox): FolderStatus | undefined {
  return inbox.folders.status()[0];
}

async function removeAll(inbox: Inbox, count: number): Promise<void> {
  for (const name of names(count)) await rm(inbox.at(name));
}

describe('most files of a folder missing at once', () => {
  test.each(['queued', 'sent'] as const)('freezes it, and none of them is given up: %s', async (state) => {
    await using inbox = await openInbox();
    await dropped(inbox, 29);
    if (state === 'sent') await finish(inbox);
    const before = await states(inbox);
    await removeAll(inbox, 29);
    await writeFile(inbox.at('new.mp4'), 'new');
    await inbox.rescan();
    expect(folder(inbox)).toMatchObject({ state: 'frozen', why: expect.stringContaining('29 of 29 known files') });
    expect(folder(inbox)?.why).toContain(`dropcast resume '${inbox.path}'`);
    await inbox.rescan();
    expect(await states(inbox)).toEqual(before);
    expect(await inbox.folders.whyAway(inbox.path, 'f0.mp4')).toContain('29 of 29');
    // A restart is no proof.
    await inbox.restart();
    await inbox.rescan();
    expect(folder(inbox)).toMatchObject({ state: 'frozen', why: expect.stringContaining('missing at once') });
    expect(await states(inbox)).toEqual(before);
  });

  test('they come back: it resumes automatically, and nothing is new', async () => {
    await using inbox = await openInbox();
    await dropped(inbox, 29);
    const before = await inbox.rows();
    await mkdir(inbox.at('../away'));
    for (const name of names(29)) await rename(inbox.at(name), inbox.at(`../away/${name}`));
    await inbox.rescan();
    expect(folder(inbox)?.state).toBe('frozen');
    for (const name of names(27)) await rename(inbox.at(`../away/${name}`), inbox.at(name));
    await inbox.rescan();
    await inbox.settled();
    expect(folder(inbox)).toMatchObject({ state: 'watching', why: null });
    expect(await states(inbox)).toEqual({ queued: 27, vanished: 2 });
    expect((await inbox.rows()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  test('a person says that they are gone: they are, and new files are taken', async () => {
    await using inbox = await openInbox();
    await dropped(inbox, 12);
    await removeAll(inbox, 12);
    await writeFile(inbox.at('new.mp4'), 'new');
    await inbox.rescan();
    expect(await inbox.folders.resume(inbox.path)).toMatchObject({ ok: true });
    await inbox.settled();
    expect(await states(inbox)).toEqual({ queued: 1, vanished: 12 });
    await inbox.restart();
    await inbox.settled();
    expect(folder(inbox)?.state).toBe('watching');
  });

  test('in two halves within a minute counts too', async () => {
    await using inbox = await openInbox();
    await dropped(inbox, 40);
    for (const name of names(20)) await rm(inbox.at(name));
    await inbox.rescan();
    expect(await states(inbox)).toEqual({ queued: 20, vanished: 20 });
    await removeAll2(inbox, 20, 40);
    await inbox.rescan();
    expect(folder(inbox)?.state).toBe('frozen');
    expect(await states(inbox)).toEqual({ queued: 20, vanished: 20 });
  });

  test('a few at a time within a minute counts too', async () => {
    await using inbox = await openInbox();
    await dropped(inbox, 29);
    for (let from = 0; from < 29; from += 5) {
      await removeAll2(inbox, from, Math.min(from + 5, 29));
      await inbox.rescan();
    }
    expect(folder(inbox)?.state).toBe('frozen');
  });

  test.each(['done marker', 'checksum'])('is noticed although the %s of each is still there', async (proof) => {
    const doneMarker = proof === 'checksum' ? null : '{name}.{ext}.done';
    await using inbox = await openInbox({ config: { doneMarker } });
    for (const name of names(20))
      await writeFile(inbox.at(proof === 'checksum' ? `${name}.sha256` : `${name}.done`), '');
    await dropped(inbox, 20);
    await removeAll(inbox, 20);
    await inbox.rescan();
    expect(folder(inbox)?.state).toBe('frozen');
  });

  test('they turn up in another watched folder: both continue, and nothing is new', async () => {
    await using inbox = await openInbox({ beside: ['other'] });
    await dropped(inbox, 29);
    const before = await inbox.rows();
    for (const name of names(29)) await rename(inbox.at(name), inbox.at(`../other/${name}`));
    await inbox.rescan();
    await inbox.settled();
    await inbox.rescan();
    expect(inbox.folders.status().map(({ state }) => state)).toEqual(['watching', 'watching']);
    expect((await inbox.rows()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(await states(inbox)).toEqual({ queued: 29 });
  });

  test('dropcast turns out to have put them away: it continues', async () => {
    await using inbox = await openInbox();
    await dropped(inbox, 20);
    await finish(inbox);
    await removeAll(inbox, 20);
    await inbox.rescan();
    expect(folder(inbox)?.state).toBe('frozen');
    for (const row of await inbox.rows()) await inbox.ledger.save({ ...row, end: 'done', disposal: 'deleted' });
    await inbox.rescan();
    expect(folder(inbox)?.state).toBe('watching');
  });
});

async function removeAll2(inbox: Inbox, from: number, to: number): Promise<void> {
  for (const name of names(to).slice(from)) await rm(inbox.at(name));
}

describe('is no reason to freeze:', () => {
  test.each([
    [9, 9],
    [40, 20],
  ])('of %s files, %s are removed', async (count, removed) => {
    await using inbox = await openInbox();
    await dropped(inbox, count);
    await removeAll(inbox, removed);
    await inbox.rescan();
    expect(folder(inbox)?.state).toBe('watching');
    expect((await states(inbox))['vanished']).toBe(removed);
  });

  test('dropcast itself put them away', async () => {
    await using inbox = await openInbox();
    await dropped(inbox, 20);
    await finish(inbox);
    for (const row of await inbox.rows()) await inbox.ledger.save({ ...row, end: 'done', disposal: 'deleted' });
    await removeAll(inbox, 20);
    await inbox.rescan();
    expect(folder(inbox)?.state).toBe('watching');
  });

  test('a directory with all of them was renamed', async () => {
    await using inbox = await openInbox();
    await mkdir(inbox.at('old'));
    for (const name of names(20)) await writeFile(inbox.at(`old/${name}`), `content of ${name}`);
    await inbox.start();
    await inbox.settled();
    await rename(inbox.at('old'), inbox.at('new'));
    await inbox.settled();
    await inbox.settled();
    expect(folder(inbox)?.state).toBe('watching');
    expect(await states(inbox)).toEqual({ queued: 20 });
  });

  test('a step is busy for long with one that was removed: it is counted once', async () => {
    await using inbox = await openInbox();
    await dropped(inbox, 3);
    const ends = await inbox.holdAll('uploading');
    await rm(inbox.at('f0.mp4'));
    for (let scan = 0; scan < 12; scan += 1) await inbox.rescan();
    expect(inbox.busy()).toBeGreaterThan(9);
    expect(folder(inbox)?.state).toBe('watching');
    for (const end of ends) await end();
  });

  test('they were done, and were removed while dropcast was stopped', async () => {
    await using inbox = await openInbox();
    await dropped(inbox, 20);
    await finish(inbox);
    await inbox.stop();
    await removeAll(inbox, 20);
    await inbox.start();
    await inbox.settled();
    expect(folder(inbox)?.state).toBe('watching');
  });
});

test('files that all come as new ones, with the content of before, are not sent again', async () => {
  await using inbox = await openInbox();
  await dropped(inbox, 12);
  await finish(inbox);
  const before = (await inbox.rows()).map(({ id, sha256 }) => ({ id, sha256 }));
  // As on a share that numbers its files anew at each mount.
  for (const name of names(12)) {
    await cp(inbox.at(name), inbox.at(`.${name}`), { preserveTimestamps: true });
    await rename(inbox.at(`.${name}`), inbox.at(name));
  }
  await inbox.settled();
  await inbox.settled();
  expect((await inbox.rows()).map(({ id, sha256 }) => ({ id, sha256 }))).toEqual(before);
  expect(inbox.hashed.length).toBeGreaterThan(0);
});

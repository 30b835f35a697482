import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, ready } from '../pipeline/some-facts.ts';
import { eventually } from '../support/until.ts';
import { openInbox } from './inbox.ts';
import type { Inbox, InboxOptions } from './inbox.ts';

/** A folder with so many files that were all sent. */
async function withDone(count: number, options: InboxOptions = {}): Promise<Inbox> {
  const inbox = await openInbox(options);
  for (let n = 0; n < count; n += 1) await writeFile(inbox.at(`${n}.mp4`), `content ${n}`);
  await inbox.start();
  await inbox.settled();
  for (const row of await inbox.rows()) {
    const sha256 = createHash('sha256')
      .update(await readFile(inbox.at(row.path)))
      .digest('hex');
    await inbox.ledger.save({ ...row, ...ready, sha256, end: 'done', published: { feed_news: 1 }, disposal: 'kept' });
  }
  return inbox;
}

const statesOf = (rows: readonly Facts[]): readonly string[] => rows.map((row) => `${row.path} ${stateOf(row)}`);

async function chmodAll(inbox: Inbox, mode: number): Promise<void> {
  for (const { path } of await inbox.rows()) await chmod(inbox.at(path), mode);
}

const never = (signal: AbortSignal): Promise<unknown> => delay(3_600_000, undefined, { signal, ref: false });

describe('a chmod of all finished files', () => {
  test('has each of them read once, one at a time, and changes nothing', async () => {
    await using inbox = await withDone(40);
    await chmodAll(inbox, 0o600);
    await inbox.rescan();
    await inbox.settled();
    expect(inbox.hashed.length).toBe(40);
    expect(inbox.mostHashing).toBe(1);
    expect((await inbox.rows()).map(stateOf)).toEqual(Array.from({ length: 40 }, () => 'done'));
    await inbox.restart();
    await inbox.settled();
    expect(inbox.hashed.length).toBe(40);
  });

  test('does not keep new files waiting, however long one takes to read, and shows what is read', async () => {
    await using inbox = await withDone(40, { onHash: (_, signal) => never(signal) });
    await chmodAll(inbox, 0o600);
    await inbox.rescan();
    await eventually('all wait for their turn', () => expect(inbox.folders.settling()).toHaveLength(40));
    await writeFile(inbox.at('new.mp4'), 'new content');
    await inbox.rescan();
    await eventually('the new file is taken in', async () =>
      expect(statesOf(await inbox.rows())).toContain('new.mp4 queued'),
    );
    expect(inbox.folders.isSettling()).toBe(true);
    expect(inbox.folders.settling()).toHaveLength(40);
    expect(inbox.folders.settling()[0]?.why).toContain('compared with what was sent');
  });

  test('is read no further once dropcast stops, and is finished after the next start', async () => {
    let isSlow = true;
    await using inbox = await withDone(3, { onHash: async (_, signal) => isSlow && never(signal) });
    await chmodAll(inbox, 0o600);
    await inbox.rescan();
    await eventually('one is read', () => expect(inbox.hashed).toHaveLength(1));
    await inbox.stop();
    expect(inbox.hashed).toHaveLength(1);
    isSlow = false;
    await inbox.start();
    await inbox.settled();
    expect(inbox.hashed).toHaveLength(4);
    expect((await inbox.rows()).map(stateOf)).toEqual(['done', 'done', 'done']);
  });

  test('while dropcast is stopped is noticed, without another upload', async () => {
    await using inbox = await withDone(2);
    await inbox.stop();
    await chmod(inbox.at('0.mp4'), 0o600);
    await inbox.start();
    await inbox.settled();
    // A start alone reads nothing: each row has the time of the inode.
    expect(inbox.hashed).toEqual(['0.mp4']);
    expect(statesOf(await inbox.rows()).toSorted()).toEqual(['0.mp4 done', '1.mp4 done']);
  });
});

test('a file that cannot be read is compared again later, and the others in the meantime', async () => {
  const broken = new Set(['0.mp4']);
  await using inbox = await withDone(3, {
    onHash: async ({ path }) => {
      if (broken.has(path)) throw Object.assign(new Error('bad spot'), { code: 'EIO', syscall: 'read' });
    },
  });
  await chmodAll(inbox, 0o600);
  await inbox.rescan();
  await eventually('the others are compared', () =>
    expect(inbox.folders.settling()).toMatchObject([{ path: '0.mp4' }]),
  );
  broken.clear();
  await inbox.settled();
  expect((await inbox.rows()).map(stateOf)).toEqual(['done', 'done', 'done']);
});

test('a file that is removed while it waits to be compared is not waited for', async () => {
  await using inbox = await withDone(2);
  await chmodAll(inbox, 0o600);
  await unlink(inbox.at('1.mp4'));
  await inbox.settled();
  expect(statesOf(await inbox.rows()).toSorted()).toEqual(['0.mp4 done', '1.mp4 done']);
});

describe('a row that a step gives up', () => {
  test('makes whatever is at its path come in again at once, even if it looks as it did', async () => {
    await using inbox = await openInbox();
    await writeFile(inbox.at('a.mp4'), 'content');
    await inbox.start();
    await inbox.settled();
    await inbox.giveUp('superseded');
    await eventually('it is taken in again', async () =>
      expect(statesOf(await inbox.rows())).toEqual(['a.mp4 superseded', 'a.mp4 queued']),
    );
    expect(await inbox.folders.add(inbox.at('a.mp4'))).toEqual({ ok: true, as: 'known' });
    await inbox.giveUp('vanished');
    await eventually('it is there again', async () =>
      expect(statesOf(await inbox.rows())).toEqual(['a.mp4 superseded', 'a.mp4 queued']),
    );
  });

  test('while dropcast is stopped comes in at the next start, and by hand', async () => {
    await using inbox = await openInbox();
    await writeFile(inbox.at('a.mp4'), 'content');
    await inbox.start();
    await inbox.settled();
    await inbox.stop();
    const [row] = await inbox.rows();
    if (row !== undefined) await inbox.ledger.save({ ...row, ...created, end: 'superseded', why: 'changed' });
    await inbox.start();
    await inbox.settled();
    expect(statesOf(await inbox.rows())).toEqual(['a.mp4 superseded', 'a.mp4 queued']);
  });
});

test('a file that is removed while a step works on it is missed once the step has ended', async () => {
  await using inbox = await openInbox();
  await writeFile(inbox.at('a.mp4'), 'content');
  await inbox.start();
  await inbox.settled();
  const [end] = await inbox.holdAll('creating');
  await unlink(inbox.at('a.mp4'));
  await mkdir(inbox.at('a.mp4'));
  await inbox.rescan();
  await eventually('the report was put off', () => expect(inbox.busy()).toBe(1));
  await rm(inbox.at('a.mp4'), { recursive: true });
  await end?.();
  await eventually('it is vanished', async () => expect(statesOf(await inbox.rows())).toEqual(['a.mp4 vanished']));
});

test('a link that is touched is not imported again', async () => {
  await using inbox = await openInbox();
  await writeFile(inbox.at('a.url'), '[InternetShortcut]\nURL=https://example.com/a.mp4\n');
  await inbox.start();
  await inbox.settled();
  const [row] = await inbox.rows();
  if (row !== undefined) await inbox.ledger.save({ ...row, ...ready, end: 'done', published: { feed_news: 1 } });
  await utimes(inbox.at('a.url'), 1, 1);
  await inbox.settled();
  expect(statesOf(await inbox.rows())).toEqual(['a.url done']);
});

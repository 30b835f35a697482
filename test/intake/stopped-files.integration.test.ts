import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, failure } from '../pipeline/some-facts.ts';
import { openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';

const sha256 = createHash('sha256').update('content').digest('hex');
const sentWhole = { ...created, uploadStartedAt: 900, sha256 } as const;
const waiting = { notBefore: 9e15, attempts: 1 } as const;

/** How the local disk stops a file. */
const reasons: Readonly<Record<string, Partial<Facts>>> = {
  'waits, because its folder seemed to be away': {
    ...waiting,
    lastFailure: failure('suspended', { code: 'folder_away' }),
  },
  'waits, because it could not be read': { ...waiting, lastFailure: failure('transient', { code: 'EACCES' }) },
  'failed, because it could not be read': { end: 'failed', lastFailure: failure('transient', { code: 'EACCES' }) },
  'waits, sent whole, unconfirmed and gone': {
    ...sentWhole,
    ...waiting,
    lastFailure: failure('transient', { code: 'unconfirmed', because: 'ENOENT' }),
  },
  'failed, sent whole, unconfirmed and gone': {
    ...sentWhole,
    end: 'failed',
    lastFailure: failure('transient', { code: 'unconfirmed', because: 'ENOENT' }),
  },
};

/** How the disk changes back. Resolves when dropcast had time to see it. @returns where the file is then */
const events: Readonly<Record<string, (inbox: Inbox) => Promise<string>>> = {
  'it was at its place all the time': async () => 'dir/a.mp4',
  'it comes back to its place': async (inbox) => {
    await rename(inbox.at('dir'), inbox.at('../away'));
    await inbox.settled();
    await rename(inbox.at('../away'), inbox.at('dir'));
    return 'dir/a.mp4';
  },
  'it comes back while dropcast is stopped': async (inbox) => {
    await rename(inbox.at('dir'), inbox.at('../away'));
    await inbox.settled();
    await inbox.stop();
    await rename(inbox.at('../away'), inbox.at('dir'));
    await inbox.start();
    return 'dir/a.mp4';
  },
  'it got another name': async (inbox) => {
    await rename(inbox.at('dir/a.mp4'), inbox.at('dir/b.mp4'));
    return 'dir/b.mp4';
  },
  'its directory was renamed': async (inbox) => {
    await rename(inbox.at('dir'), inbox.at('new'));
    return 'new/a.mp4';
  },
  'its directory was renamed while dropcast was stopped': async (inbox) => {
    await inbox.stop();
    await rename(inbox.at('dir'), inbox.at('new'));
    await inbox.start();
    return 'new/a.mp4';
  },
};

async function stopped(inbox: Inbox, reason: Partial<Facts>): Promise<void> {
  await mkdir(inbox.at('dir'));
  await writeFile(inbox.at('dir/a.mp4'), 'content');
  await inbox.start();
  await inbox.settled();
  const [row] = await inbox.rows();
  if (row === undefined) expect.unreachable();
  await inbox.ledger.save({ ...row, ...reason });
}

const patient = { timeout: 60_000 };

const statesOf = async (inbox: Inbox) => (await inbox.rows()).map((row) => [row.path, stateOf(row)]);

describe.each(Object.entries(reasons))('a file that %s', (_reason, reason) => {
  test.each(Object.entries(events))('continues: %s', async (_event, happen) => {
    await using inbox = await openInbox();
    await stopped(inbox, reason);
    const path = await happen(inbox);
    await inbox.settled();
    await inbox.rescan();
    await inbox.settled();
    const continued = [[path, 'videoId' in reason ? 'awaiting upload' : 'queued']];
    // A scan that began before the file was stopped does not look for it; the next one does.
    await expect.poll(async () => (await inbox.rescan(), statesOf(inbox)), patient).toEqual(continued);
  });
});

test.each([
  ['has other content than was sent', { ...sentWhole, lastFailure: failure('transient', { code: 'unconfirmed' }) }],
  ['lies on a bad spot of the disk', { lastFailure: failure('suspended', { code: 'EIO' }) }],
  ['was refused by the service', { lastFailure: failure('permanent', { code: 'invalid' }) }],
])('a file that failed stays failed although it can be read: it %s', async (_why, reason) => {
  await using inbox = await openInbox();
  await stopped(inbox, { ...reason, end: 'failed' });
  await inbox.settled();
  await inbox.rescan();
  await inbox.settled();
  expect(await statesOf(inbox)).toEqual([['dir/a.mp4', 'failed']]);
});

test('a file that waits for its folder is left alone while it is not there', async () => {
  await using inbox = await openInbox();
  await stopped(inbox, { ...sentWhole, ...waiting, lastFailure: failure('suspended', { code: 'folder_away' }) });
  await rename(inbox.at('dir'), inbox.at('../away'));
  await inbox.settled();
  expect(await statesOf(inbox)).toEqual([['dir/a.mp4', 'retrying']]);
});

import { createHash } from 'node:crypto';
import {
  appendFile,
  chmod,
  link,
  lstat,
  open,
  readFile,
  readdir,
  rename,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, failure, ready, someFacts, someVersion, uploaded } from '../pipeline/some-facts.ts';
import { eventually } from '../support/until.ts';
import { openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';

/** What may happen to a file that was accepted. */
const changes: Record<string, (path: string) => Promise<unknown>> = {
  append: (path) => appendFile(path, ' and more'),
  truncate: (path) => truncate(path, 5),
  overwrite: (path) => overwrite(path),
  'overwrite and put the time back': async (path) => {
    const { mtime } = await lstat(path);
    await overwrite(path);
    await utimes(path, mtime, mtime);
  },
  'replace by a rename': async (path) => {
    await writeFile(`${path}.part`, 'another file');
    await rename(`${path}.part`, path);
  },
  'remove and write the same again': async (path) => {
    const content = await readFile(path);
    await unlink(path);
    await writeFile(path, content);
  },
  remove: (path) => unlink(path),
  touch: (path) => utimes(path, 1_000_000_000, 1_000_000_000),
  chmod: (path) => chmod(path, 0o600),
  rename: (path) => rename(path, path.replace('.mp4', ' 2.mp4')),
  'hard link': (path) => link(path, path.replace('.mp4', ' link.mp4')),
};

/** As many other bytes, in place. */
async function overwrite(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write('OTHER', 0);
  } finally {
    await file.close();
  }
}

/** How far a file is when it changes. */
const moments: Record<
  string,
  { readonly facts: (sha256: string) => Partial<Facts>; readonly step?: 'creating' | 'uploading' }
> = {
  queued: { facts: () => ({}) },
  creating: { facts: () => ({ intent: 'token' }), step: 'creating' },
  'awaiting upload': { facts: () => created },
  'uploading, before the gate': { facts: () => ({ ...created, uploadStartedAt: 2 }), step: 'uploading' },
  'uploading, after the gate': { facts: (sha256) => ({ ...created, uploadStartedAt: 2, sha256 }), step: 'uploading' },
  'waiting for a retry': { facts: () => ({ ...created, notBefore: 9e15, lastFailure: failure('transient') }) },
  processing: { facts: (sha256) => ({ ...uploaded, sha256 }) },
  'awaiting publish': { facts: (sha256) => ({ ...ready, sha256 }) },
  done: { facts: (sha256) => ({ ...ready, sha256, end: 'done', published: { feed_news: 1 }, disposal: 'kept' }) },
  'failed before anything was sent': {
    facts: () => ({ end: 'failed', why: 'refused', endedAt: 5, lastFailure: failure('permanent') }),
  },
  'failed in processing': {
    facts: (sha256) => ({
      ...uploaded,
      sha256,
      remoteStatus: 'failed',
      end: 'failed',
      why: 'no track',
      endedAt: 5,
      lastFailure: failure('permanent'),
    }),
  },
  held: {
    facts: (sha256) => ({ ...uploaded, sha256, end: 'held', why: 'deleted', endedAt: 5, lastFailure: failure('gone') }),
  },
  skipped: {
    facts: (sha256) => ({
      end: 'skipped',
      why: 'duplicate',
      endedAt: 5,
      lastFailure: failure('duplicate', { twin: `twin ${sha256}` }),
    }),
  },
};

const sha256Of = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

const nameOf = (change: string): string => `${change.replaceAll(/\W/g, '-')}.mp4`;

/** A folder with one file for each change, all of them at the same moment of their lives. */
async function withFiles(moment: string): Promise<Inbox> {
  const inbox = await openInbox();
  for (const change of Object.keys(changes)) {
    await writeFile(inbox.at(nameOf(change)), `content, until ${change}`);
    // A whole number of seconds is what a tool can put back exactly.
    await utimes(inbox.at(nameOf(change)), 1_500_000_000, 1_500_000_000);
  }
  await inbox.start();
  await inbox.settled();
  const { facts } = moments[moment] ?? { facts: () => ({}) };
  for (const row of await inbox.rows()) {
    const sha256 = sha256Of(await readFile(inbox.at(row.path)));
    await inbox.ledger.save({ ...row, ...facts(sha256) });
    if (moment === 'skipped') await inbox.ledger.insert(twinOf(row, sha256));
  }
  return inbox;
}

const twinOf = (row: Facts, sha256: string): Facts =>
  someFacts({
    ...ready,
    id: `twin ${sha256}`,
    path: `earlier ${row.path}`,
    version: { ...someVersion, size: row.version.size },
    sha256,
    end: 'done',
    disposal: 'deleted',
  });

async function changeAll(inbox: Inbox): Promise<void> {
  for (const [change, happen] of Object.entries(changes)) await happen(inbox.at(nameOf(change)));
}

/** What is wrong with what the ledger has of one file on disk, or null. */
function fault(
  here: { readonly path: string; readonly version: Facts['version']; readonly sha256: string },
  all: readonly Facts[],
): string | null {
  const rows = all.filter(({ path }) => path === here.path);
  const shown = rows
    .map((row) => `${stateOf(row)}${row.sha256 === here.sha256 ? ' with this content' : ''}`)
    .join(', ');
  const isOf = (row: Facts): boolean =>
    row.version.ctimeNs === here.version.ctimeNs && row.version.ino === here.version.ino;
  const toSend = rows.filter((row) => row.end === null && row.sha256 === null && isOf(row));
  const sent = rows.filter((row) => row.sha256 === here.sha256 && (row.end === null || row.end === 'done'));
  const skipped = rows.filter((row) => row.end === 'skipped' && row.lastFailure?.twin === `twin ${here.sha256}`);
  const forPerson = rows.filter((row) => (row.end === 'failed' || row.end === 'held') && row.why !== null && isOf(row));
  const ways = toSend.length + sent.length + skipped.length + forPerson.length;
  if (ways === 0) return `${here.path} is lost: ${shown}`;
  if (ways > 1) return `${here.path} is there ${ways} times: ${shown}`;
  return null;
}

async function faults(inbox: Inbox): Promise<readonly string[]> {
  const rows = await inbox.rows();
  const names = (await readdir(inbox.path)).filter((name) => name.endsWith('.mp4'));
  const found = await Promise.all(
    names.map(async (path) => {
      const sha256 = sha256Of(await readFile(inbox.at(path)));
      return fault({ path, sha256, version: versionOf(await lstat(inbox.at(path), { bigint: true })) }, rows);
    }),
  );
  return found.filter((what) => what !== null);
}

/** Changes of the inode alone. They never lead to a second row. */
const ofInode = ['chmod.mp4', 'hard-link.mp4', 'rename 2.mp4'];

async function expectAllAccountedFor(inbox: Inbox, moment: string): Promise<void> {
  await inbox.settled();
  expect(await faults(inbox)).toEqual([]);
  const rows = await inbox.rows();
  const isSent = JSON.stringify(moments[moment]?.facts('sent')).includes('sent');
  // The hash of what was sent tells that a touched file is the same.
  const single = isSent ? [...ofInode, 'touch.mp4'] : ofInode;
  const rowsOf = (name: string): readonly Facts[] => rows.filter(({ path }) => path === name);
  for (const name of single) expect.soft(rowsOf(name), name).toHaveLength(1);
  const isToBeSent = rowsOf('remove.mp4').some((row) => row.end === null && row.sha256 === null);
  expect(isToBeSent, 'a removed file is to be sent').toBe(false);
  // What was decided is durable: another start finds nothing to do.
  const before = JSON.stringify(rows);
  await inbox.restart();
  await inbox.settled();
  expect(JSON.stringify(await inbox.rows())).toBe(before);
}

describe.each(Object.keys(moments))('a file that is %s', (moment) => {
  test('and changes is not lost and not taken twice, whatever the change', async () => {
    await using inbox = await withFiles(moment);
    const step = moments[moment]?.step;
    const ends = step === undefined ? [] : await inbox.holdAll(step);
    await changeAll(inbox);
    await inbox.rescan();
    if (step !== undefined) await eventually('all were offered', () => expect(inbox.busy()).toBeGreaterThan(0));
    for (const end of ends) await end();
    await expectAllAccountedFor(inbox, moment);
  });

  test('and changes while dropcast is not running is not lost and not taken twice, whatever the change', async () => {
    await using inbox = await withFiles(moment);
    await inbox.stop();
    await changeAll(inbox);
    await inbox.start();
    await expectAllAccountedFor(inbox, moment);
  });
});

import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { FolderConfig } from '../../src/config/config.ts';
import { createFirstStart } from '../../src/intake/first-start.ts';
import { someVersion } from '../pipeline/some-facts.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { FirstStartRecord } from '../../src/pipeline/file/ports.ts';
import { eventually, until } from '../support/until.ts';
import { folderConfig, openInbox } from './inbox.ts';
import type { Inbox } from './inbox.ts';

const ignore = { existing: 'ignore' } as const satisfies Partial<FolderConfig>;

const states = async (inbox: Inbox): Promise<Record<string, string>> =>
  Object.fromEntries((await inbox.rows()).map((facts) => [facts.path, stateOf(facts)]));

async function drop(inbox: Inbox, ...names: readonly string[]): Promise<void> {
  for (const name of names) await writeFile(inbox.at(name), `content of ${name}`);
}

/** Long enough for the coarse clock of a file system to go on. */
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** Starts with these files in the folder, and waits until each has its row. */
async function startWith(inbox: Inbox, ...names: readonly string[]): Promise<void> {
  await drop(inbox, ...names);
  await tick();
  await inbox.start();
  await inbox.settled();
}

describe('what lies in a folder when it is watched for the first time', () => {
  test('is uploaded, if nothing else is said', async () => {
    await using inbox = await openInbox();
    await drop(inbox, 'old.mp4');
    await inbox.start();
    await inbox.settled();
    expect(await states(inbox)).toEqual({ 'old.mp4': 'queued' });
  });

  test('is left alone with `existing: ignore`, and what is dropped later is not', async () => {
    await using inbox = await openInbox({ config: ignore });
    await startWith(inbox, 'old.mp4', 'older.mp4');
    await drop(inbox, 'new.mp4');
    await inbox.rescan();
    await inbox.settled();
    expect(await states(inbox)).toEqual({ 'old.mp4': 'skipped', 'older.mp4': 'skipped', 'new.mp4': 'queued' });
    expect((await inbox.rows())[0]).toMatchObject({
      why: 'was in the folder before dropcast watched it (existing: ignore)',
      lastFailure: { code: 'existing' },
    });
  });

  test('was there although its times lie in the future: the clock was set back', async () => {
    await using inbox = await openInbox();
    let record: FirstStartRecord | null = null;
    const first = createFirstStart(
      { path: inbox.at(''), existing: 'upload' },
      { firstStart: async () => record, saveFirstStart: async (_, now) => void (record = now) },
    );
    await first.adopt();
    const aheadMs = (ms: number) => ({ ...someVersion, ctimeNs: String(BigInt(Date.now() + ms) * 1_000_000n) });
    expect(await first.leaving('old.mp4', aheadMs(10 * 86_400_000))).toBe('recorded');
    expect(await first.leaving('old.mp4', aheadMs(3_500_000))).toBe('recorded');
    expect(await first.leaving('new.mp4', aheadMs(60_000))).toBe(null);
  });

  test('is held with `existing: adopt`, and what is dropped later is not', async () => {
    await using inbox = await openInbox({ config: { existing: 'adopt' } });
    await startWith(inbox, 'old.mp4');
    await drop(inbox, 'new.mp4');
    await inbox.rescan();
    await inbox.settled();
    expect(await states(inbox)).toEqual({ 'old.mp4': 'held', 'new.mp4': 'queued' });
    expect((await inbox.rows())[0]?.why).toMatch(/before dropcast watched it.*`dropcast adopt`/);
  });

  test('is not to be adopted when it is empty: no service has it, and it is never uploaded', async () => {
    await using inbox = await openInbox({ config: { existing: 'adopt', settleMs: 3_600_000 } });
    await drop(inbox, 'old.mp4');
    await writeFile(inbox.at('empty.mp4'), '');
    await tick();
    await inbox.start();
    await eventually('both have their rows', async () => expect(await inbox.rows()).toHaveLength(2));
    const codes = (await inbox.rows()).map(({ path, end, lastFailure }) => [path, end, lastFailure?.code]);
    expect(Object.fromEntries(codes.map(([path, ...row]) => [path, row]))).toEqual({
      'old.mp4': ['held', 'existing'],
      'empty.mp4': ['held', 'flawed'],
    });
  });

  test('is decided at once, however long a file would have to settle', async () => {
    await using inbox = await openInbox({ config: { ...ignore, settleMs: 3_600_000 } });
    await drop(inbox, 'old.mp4');
    await tick();
    await inbox.start();
    await eventually('it has its row', async () => expect(await states(inbox)).toEqual({ 'old.mp4': 'skipped' }));
  });

  test('is left alone even if no rule takes it', async () => {
    await using inbox = await openInbox({ config: { ...ignore, rules: [] } });
    await startWith(inbox, 'old.mp4');
    expect(await states(inbox)).toEqual({ 'old.mp4': 'skipped' });
  });

  test('is known permanently: a restart, a chmod and a rename make nothing of it new', async () => {
    await using inbox = await openInbox({ config: ignore });
    await startWith(inbox, 'old.mp4', 'other.mp4');
    await chmod(inbox.at('old.mp4'), 0o600);
    await rename(inbox.at('other.mp4'), inbox.at('renamed.mp4'));
    await inbox.restart();
    await inbox.settled();
    expect(await states(inbox)).toEqual({ 'old.mp4': 'skipped', 'renamed.mp4': 'skipped' });
  });

  test('is new once it has other content', async () => {
    await using inbox = await openInbox({ config: ignore });
    await startWith(inbox, 'old.mp4');
    await writeFile(inbox.at('old.mp4'), 'quite another video');
    await inbox.rescan();
    await inbox.settled();
    expect((await inbox.rows()).map(stateOf)).toEqual(['skipped', 'queued']);
  });

  test('is uploaded when a person adds it', async () => {
    await using inbox = await openInbox({ config: ignore });
    await startWith(inbox, 'old.mp4');
    expect(await inbox.folders.add(inbox.at('old.mp4'))).toEqual({ ok: true, as: 'returned' });
    expect(await states(inbox)).toEqual({ 'old.mp4': 'queued' });
    // A duplicate is still recognised.
    expect((await inbox.rows())[0]?.onDuplicate).toBe('skip');
  });
});

describe('the first start of a folder', () => {
  test('is over only once every file that was there has its row: a restart before that continues it', async () => {
    await using inbox = await openInbox({ config: ignore });
    await drop(inbox, 'old.mp4');
    await tick();
    // As a first start that was killed leaves it.
    const first = await inbox.ledger.firstStart(inbox.path);
    expect(first).toBeNull();
    await inbox.ledger.saveFirstStart(inbox.path, {
      askedNs: 0n,
      beganNs: BigInt(Date.now()) * 1_000_000n,
      isOver: false,
    });
    await tick();
    await drop(inbox, 'dropped in between.mp4');
    await inbox.start();
    await inbox.settled();
    expect(await states(inbox)).toEqual({ 'old.mp4': 'skipped', 'dropped in between.mp4': 'queued' });
    expect(await inbox.ledger.firstStart(inbox.path)).toMatchObject({ isOver: true });
  });

  test('includes no directory that was moved into the folder since it began, however old its files are', async () => {
    await using inbox = await openInbox({ config: ignore });
    await mkdir(`${inbox.path}-elsewhere`);
    await writeFile(`${inbox.path}-elsewhere/moved.mp4`, 'content');
    await drop(inbox, 'old.mp4');
    await tick();
    await inbox.ledger.saveFirstStart(inbox.path, {
      askedNs: 0n,
      beganNs: BigInt(Date.now()) * 1_000_000n,
      isOver: false,
    });
    await tick();
    await rename(`${inbox.path}-elsewhere`, inbox.at('elsewhere'));
    await inbox.start();
    await inbox.settled();
    expect(await states(inbox)).toEqual({ 'old.mp4': 'skipped', 'elsewhere/moved.mp4': 'queued' });
  });

  test('does not come again: a directory of old files that is moved in later is new', async () => {
    await using inbox = await openInbox({ config: ignore });
    await mkdir(`${inbox.path}-elsewhere`);
    await writeFile(`${inbox.path}-elsewhere/moved.mp4`, 'content');
    await tick();
    await inbox.start();
    await inbox.settled();
    await rename(`${inbox.path}-elsewhere`, inbox.at('elsewhere'));
    await inbox.restart();
    await inbox.settled();
    expect(await states(inbox)).toEqual({ 'elsewhere/moved.mp4': 'queued' });
  });

  test('was that of another rule: `ignore` written later takes nothing back', async () => {
    await using inbox = await openInbox();
    await inbox.start();
    await inbox.settled();
    await mkdir(`${inbox.path}-elsewhere`);
    await writeFile(`${inbox.path}-elsewhere/moved.mp4`, 'content');
    await inbox.folders.change({ folders: [folderConfig(inbox.path, ignore)] });
    await rename(`${inbox.path}-elsewhere`, inbox.at('elsewhere'));
    await inbox.settled();
    expect(await states(inbox)).toEqual({ 'elsewhere/moved.mp4': 'queued' });
  });

  test('comes with a reload that adds the folder', async () => {
    await using inbox = await openInbox();
    await mkdir(`${inbox.path}2`);
    await writeFile(`${inbox.path}2/old.mp4`, 'content');
    await inbox.start();
    await tick();
    await inbox.folders.change({ folders: [folderConfig(inbox.path), folderConfig(`${inbox.path}2`, ignore)] });
    await inbox.settled();
    expect(await states(inbox)).toEqual({ 'old.mp4': 'skipped' });
  });

  test('waits for a folder that is away, and takes what it then brings for old', async () => {
    await using inbox = await openInbox({ config: ignore });
    await drop(inbox, 'old.mp4');
    await rename(inbox.path, `${inbox.path}-away`);
    await inbox.start();
    await inbox.settled();
    expect(await states(inbox)).toEqual({});
    await rename(`${inbox.path}-away`, inbox.path);
    await inbox.rescan();
    await eventually('it was seen', async () => expect(await states(inbox)).toEqual({ 'old.mp4': 'skipped' }));
    await inbox.settled();
    expect(await inbox.ledger.firstStart(inbox.path)).toMatchObject({ isOver: true });
  });

  test('continues with a folder that is away for a moment in the middle of it', async () => {
    await using inbox = await openInbox({ config: { existing: 'adopt' } });
    for (let n = 0; n < 200; n += 1) await writeFile(inbox.at(`f${n}.mp4`), `content ${n}`);
    await tick();
    await inbox.start();
    await until('the first files have their rows', async () => (await inbox.rows()).length > 0);
    await rename(inbox.path, `${inbox.path}.away`);
    expect(await inbox.folders.whyAway(inbox.path)).toContain('does not exist');
    await rename(`${inbox.path}.away`, inbox.path);
    await inbox.settled();
    expect(inbox.folders.isArchiveSeen()).toBe(true);
    expect((await inbox.rows()).map(stateOf)).toEqual(Array.from({ length: 200 }, () => 'held'));
  });

  test('finds nothing old in a folder that is created while dropcast waits for it', async () => {
    await using inbox = await openInbox({ config: ignore });
    await rename(inbox.path, `${inbox.path}-away`);
    await inbox.start();
    await inbox.settled();
    await tick();
    await mkdir(inbox.path);
    await drop(inbox, 'new.mp4');
    await inbox.rescan();
    await eventually('it was seen', async () => expect(await states(inbox)).toEqual({ 'new.mp4': 'queued' }));
  });
});

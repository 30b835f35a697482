import { appendFile, copyFile, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openExistingLedger, openLedger } from '../../src/ledger/ledger.ts';
import { explainOpening } from '../../src/ledger/sqlite/recovery.ts';
import { openReceipts } from '../../src/ledger/receipts.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Receipts } from '../../src/pipeline/file/ports.ts';
import { created, someFacts, uploaded } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const named = (id: string, other: Partial<Facts> = {}): Facts =>
  someFacts({ id, path: `${id}.mp4`, ...other, ...(other.videoId !== undefined && { videoId: `vid_${id}` }) });

/** A state directory in which a copy was made and work went on, then the ledger is taken away and the copy put in its place. */
async function restored(
  before: readonly Facts[],
  after: readonly (readonly [Parameters<Receipts['append']>[0], Facts])[],
): Promise<AsyncDisposable & { readonly path: string }> {
  const scratch = await scratchDirectory();
  {
    await using ledger = await openLedger(scratch.path);
    for (const facts of before) await ledger.insert(facts);
    await ledger.backUp();
    await using receipts = await openReceipts(scratch.path);
    for (const [step, facts] of after) await receipts.append(step, facts);
  }
  await rm(join(scratch.path, 'ledger.db'));
  await copyFile(join(scratch.path, 'backups/ledger.1.db'), join(scratch.path, 'ledger.db'));
  return scratch;
}

describe('a missing ledger', () => {
  const withReceipts = async (): Promise<AsyncDisposable & { readonly path: string }> => {
    const scratch = await scratchDirectory();
    await using receipts = await openReceipts(scratch.path);
    await receipts.append('bound', someFacts(created));
    return scratch;
  };

  test.each(['missing', 'empty'])('is not replaced by an empty one while receipts list uploads: %s', async (how) => {
    await using scratch = await withReceipts();
    const path = join(scratch.path, 'ledger.db');
    if (how === 'empty') await writeFile(path, '');
    for (const open of [openLedger, openExistingLedger]) {
      const error = await open(scratch.path).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(LedgerError);
      expect(String(error)).toMatch(new RegExp(`${path} is ${how}, .*receipts\\.jsonl.*backups/`));
    }
  });

  test('the newest copy is named, also after a crash while they were shifted', async () => {
    await using scratch = await restored([named('a')], [['bound', named('a', created)]]);
    await rm(join(scratch.path, 'ledger.db'));
    const copies = join(scratch.path, 'backups');
    await copyFile(join(copies, 'ledger.1.db'), join(copies, 'ledger.2.db'));
    const advice = (age: number): string => join(copies, `ledger.${age}.db`);
    await expect(openLedger(scratch.path)).rejects.toThrow(advice(1));
    const path = join(scratch.path, 'ledger.db');
    await expect(openLedger(scratch.path)).rejects.toThrow(
      `\`cp ${join(copies, 'ledger.1.db')} ${path} && chown --reference=${scratch.path} ${path}\``,
    );
    await rm(join(copies, 'ledger.1.db'));
    await expect(openLedger(scratch.path)).rejects.toThrow(advice(2));
  });

  test('without receipts it is a first start', async () => {
    await using scratch = await withReceipts();
    await writeFile(join(scratch.path, 'receipts.jsonl'), '');
    expect(await openExistingLedger(scratch.path)).toBeNull();
    expect(await readdir(scratch.path)).toEqual(['receipts.jsonl']);
    await using ledger = await openLedger(scratch.path);
    expect(await ledger.totals('by state')).toEqual({});
  });

  test('who only looks makes nothing', async () => {
    await using scratch = await scratchDirectory();
    expect(await openExistingLedger(join(scratch.path, 'state'))).toBeNull();
    expect(await readdir(scratch.path)).toEqual([]);
  });
});

test('what the file system refuses keeps its own reason when the ledger is opened', async () => {
  const refused = (code: string): Error => Object.assign(new Error(`${code}: no`), { code, syscall: 'open' });
  for (const [code, reason] of Object.entries({
    EDQUOT: 'quota',
    EROFS: 'read-only',
    ENOSPC: 'full',
    EIO: 'fails to read or write',
    EMFILE: 'too many files open',
  })) {
    const { message } = await explainOpening(refused(code), '/state/ledger.db');
    expect(message).toContain('/state/ledger.db');
    expect(message).toContain(reason);
    expect(message).toContain(code);
  }
  // As Node says it.
  const quota = Object.assign(refused('Unknown system error -122'), { errno: -122 });
  expect((await explainOpening(quota, '/state/ledger.db')).message).toContain('quota is used up (EDQUOT)');
  const bug = new TypeError('x is not a function');
  await expect(explainOpening(bug, '/state/ledger.db')).rejects.toBe(bug);
});

test('damage is said on one line, with the way back', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'ledger.db');
  {
    await using ledger = await openLedger(scratch.path);
    for (let n = 0; n < 100; n += 1) await ledger.insert(named(`f_${n}`));
    await ledger.backUp();
  }
  {
    await using file = await open(path, 'r+');
    await file.write(Buffer.alloc(4096), 0, 4096, 4096 * 3);
  }
  const error = await openLedger(scratch.path).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(LedgerError);
  expect(String(error).split('\n')).toHaveLength(1);
  for (const fact of ['ledger.db is damaged', 'ledger.db-wal', join(scratch.path, 'backups/ledger.1.db')])
    expect(String(error)).toContain(fact);
  await Promise.all([path, `${path}-wal`].map((left) => rm(left, { force: true })));
  await copyFile(join(scratch.path, 'backups/ledger.1.db'), path);
  await using ledger = await openLedger(scratch.path);
  expect(await ledger.totals('by state')).toEqual({ queued: 100 });
});

describe('a restored copy', () => {
  test('restores what was created and uploaded since, with all that the files need to continue', async () => {
    const withHeaders = { ...uploaded, uploadHeaders: { 'x-upload-signature': 's' } };
    await using scratch = await restored(
      [
        named('unchanged', uploaded),
        named('sent', created),
        named('created'),
        named('older', created),
        named('failed', { end: 'failed', why: 'so' }),
      ],
      [
        ['uploaded', named('sent', uploaded)],
        ['bound', named('created', created)],
        ['uploaded', named('failed', uploaded)],
        ['bound', named('new', created)],
        ['uploaded', named('new', withHeaders)],
        ['ready', named('new', withHeaders)],
        ['bound', named('import', { videoId: 'x', sourceUrl: 'https://elsewhere.example/a.mp4' })],
      ],
    );
    await using ledger = await openLedger(scratch.path);
    const states = Object.fromEntries(
      (await ledger.rows({ group: 'any', limit: 9 })).map((facts) => [facts.id, stateOf(facts)]),
    );
    expect(states).toEqual({
      unchanged: 'processing',
      sent: 'processing',
      created: 'awaiting upload',
      older: 'awaiting upload',
      failed: 'processing',
      new: 'processing',
      import: 'processing',
    });
    const given = named('new', withHeaders);
    expect(await ledger.load('new')).toMatchObject({
      folder: given.folder,
      path: given.path,
      version: given.version,
      plan: given.plan,
      onDuplicate: given.onDuplicate,
      afterReady: given.afterReady,
      videoId: 'vid_new',
      uploadUrl: given.uploadUrl,
      uploadHeaders: given.uploadHeaders,
      sha256: given.sha256,
      end: null,
    });
    // The service is asked before a byte is sent: the upload may have gone on.
    expect((await ledger.load('created'))?.uploadStartedAt).not.toBeNull();
    expect((await ledger.load('older'))?.uploadStartedAt).not.toBeNull();
    expect((await ledger.history('created')).at(-1)?.note).toMatch(/receipts\.jsonl.*vid_created/);
    expect(await ledger.history('unchanged')).toHaveLength(1);
  });

  test('continues with the last video of a file, and with its deletion', async () => {
    const second = { ...uploaded, uploadUrl: 'u:second' };
    await using scratch = await restored(
      [named('replaced', created), named('dying', created)],
      [
        ['dying', named('replaced', { ...created, dying: true })],
        ['bound', { ...named('replaced', second), videoId: 'second', sha256: null }],
        ['uploaded', { ...named('replaced', second), videoId: 'second' }],
        ['dying', named('dying', { ...created, dying: true })],
      ],
    );
    await using ledger = await openLedger(scratch.path);
    expect(await ledger.load('replaced')).toMatchObject({ videoId: 'second', uploadUrl: 'u:second', dying: false });
    expect(await ledger.load('dying')).toMatchObject({ videoId: 'vid_dying', dying: true });
  });

  test('takes over once, and only what is newer', async () => {
    await using scratch = await restored([named('a', created)], [['uploaded', named('a', uploaded)]]);
    {
      await using ledger = await openLedger(scratch.path);
      const facts = await ledger.load('a');
      // Somebody started the file again: older receipts must not undo that.
      if (facts !== null)
        await ledger.save({ ...facts, videoId: null, uploadUrl: null, sha256: null, uploadedAt: null });
    }
    await using ledger = await openLedger(scratch.path);
    expect(await ledger.load('a')).toMatchObject({ videoId: null, uploadedAt: null });
  });

  test('finds them however many there are, and leaves out a line that a crash tore', async () => {
    const ids = Array.from({ length: 400 }, (_, n) => `f_${n}`);
    await using scratch = await restored(
      [named('before')],
      ids.map((id) => ['uploaded', named(id, uploaded)] as const),
    );
    await appendFile(join(scratch.path, 'receipts.jsonl'), '{"v":1,"at":"20');
    await using ledger = await openLedger(scratch.path);
    expect(await ledger.totals('by state')).toEqual({ queued: 1, processing: 400 });
  });
});

describe('lines of receipts.jsonl that are no receipts', () => {
  const strange = ['null', '7', '"text"', '[]', '{}', '{"v":1,"at":"soon","id":"f_1"}', '\0\0\0\0', 'plain text'];

  test.each(strange)('are left out and counted, and do not prevent a start: %j', async (line) => {
    await using scratch = await restored([named('a')], [['bound', named('a', created)]]);
    const path = join(scratch.path, 'receipts.jsonl');
    await appendFile(path, `${line}\n${line}\n`);
    {
      await using receipts = await openReceipts(scratch.path);
      await receipts.append('uploaded', named('a', uploaded));
    }
    const bytes = await readFile(path);
    await using ledger = await openLedger(scratch.path);
    expect(ledger.repairs).toEqual([expect.stringMatching(/receipts\.jsonl: 2 lines are not receipts/)]);
    expect(await ledger.load('a')).toMatchObject({ videoId: 'vid_a', uploadedAt: expect.any(Number) });
    expect(await readFile(path)).toEqual(bytes);
  });

  test('a line that a crash cut short is none of them, also with lines after it', async () => {
    await using scratch = await restored([named('a')], [['bound', named('a', created)]]);
    await appendFile(join(scratch.path, 'receipts.jsonl'), '{"v":1,"at":"2026-01-01T00');
    {
      await using receipts = await openReceipts(scratch.path);
      await receipts.append('uploaded', named('a', uploaded));
    }
    await using ledger = await openLedger(scratch.path);
    expect(ledger.repairs).toEqual([]);
    expect(await ledger.load('a')).toMatchObject({ uploadedAt: expect.any(Number) });
  });
});

test('in a restored copy, a record may have been sent to since: dropcast checks with the service first, and only this once', async () => {
  await using scratch = await restored([named('a', created)], []);
  for (const isFirst of [true, false]) {
    await using ledger = await openLedger(scratch.path);
    const { uploadStartedAt } = (await ledger.load('a')) ?? someFacts();
    expect(uploadStartedAt).not.toBeNull();
    if (isFirst) await ledger.insert(named('b', created));
    else expect((await ledger.load('b'))?.uploadStartedAt).toBeNull();
  }
});

describe('with a clock that was set back by days', () => {
  const days = 86_400_000;

  afterEach(() => {
    vi.useRealTimers();
  });

  /** The clock of the machine from here on; all else goes on as it is. */
  const setClock = (ms: number): void => {
    vi.useFakeTimers({ toFake: ['Date'], now: ms });
  };

  test('a restored copy still takes over what was uploaded after it was made', async () => {
    await using scratch = await scratchDirectory();
    const now = Date.now();
    setClock(now);
    {
      await using ledger = await openLedger(scratch.path);
      for (const id of ['sent', 'created']) await ledger.insert(named(id, { rev: 3 }));
      await ledger.backUp();
    }
    setClock(now - 10 * days);
    {
      await using receipts = await openReceipts(scratch.path);
      for (const id of ['sent', 'created', 'new']) await receipts.append('bound', named(id, { ...created, rev: 4 }));
      for (const id of ['sent', 'new']) await receipts.append('uploaded', named(id, { ...uploaded, rev: 7 }));
    }
    await copyFile(join(scratch.path, 'backups/ledger.1.db'), join(scratch.path, 'ledger.db'));
    await using ledger = await openLedger(scratch.path);
    const states = Object.fromEntries(
      (await ledger.rows({ group: 'any', limit: 9 })).map((facts) => [facts.id, stateOf(facts)]),
    );
    expect(states).toEqual({ sent: 'processing', created: 'awaiting upload', new: 'processing' });
  });

  test('a receipt does not undo what happened to its file afterwards', async () => {
    await using scratch = await scratchDirectory();
    const now = Date.now();
    const ignored = { end: 'skipped', endedAt: 1, why: 'ignored by root', rev: 5 } as const;
    setClock(now);
    {
      await using ledger = await openLedger(scratch.path);
      await using receipts = await openReceipts(scratch.path);
      await receipts.append('bound', named('a', created));
      setClock(now - 10 * days);
      await ledger.insert(named('a', ignored));
    }
    await using ledger = await openLedger(scratch.path);
    expect(await ledger.load('a')).toMatchObject({ ...ignored, videoId: null });
  });

  test('a receipt whose row was not written before a crash is taken over', async () => {
    await using scratch = await scratchDirectory();
    const now = Date.now();
    setClock(now);
    {
      await using ledger = await openLedger(scratch.path);
      await ledger.insert(named('a', { rev: 2 }));
    }
    setClock(now - 10 * days);
    {
      await using receipts = await openReceipts(scratch.path);
      await receipts.append('bound', named('a', { ...created, rev: 2 }));
    }
    await using ledger = await openLedger(scratch.path);
    expect(await ledger.load('a')).toMatchObject({ videoId: 'vid_a' });
  });
});

test('of two copies, an older one and then a newer one is restored: what was uploaded in between is kept', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'ledger.db');
  const copyOf = (age: number): string => join(scratch.path, `backups/ledger.${age}.db`);
  {
    await using ledger = await openLedger(scratch.path);
    await ledger.insert(named('a'));
    await ledger.backUp();
    let facts = await ledger.load('a');
    for (let n = 0; n < 9 && facts !== null; n += 1) facts = await ledger.save({ ...facts, attempts: n + 1 });
    await ledger.backUp();
  }
  await copyFile(copyOf(2), path);
  {
    await using ledger = await openLedger(scratch.path);
    await using receipts = await openReceipts(scratch.path);
    const facts = await ledger.load('a');
    await receipts.append('uploaded', named('a', { ...uploaded, rev: facts?.rev ?? 0 }));
  }
  await copyFile(copyOf(1), path);
  await using ledger = await openLedger(scratch.path);
  expect(await ledger.load('a')).toMatchObject({ videoId: 'vid_a', uploadedAt: expect.any(Number) });
});

import { appendFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openAppendLog } from '../../src/ledger/append-log.ts';
import { openFailureLog } from '../../src/ledger/failure-log.ts';
import { openReceipts } from '../../src/ledger/receipts.ts';
import { LedgerError } from '../../src/ledger/schema.ts';
import { created, failure, someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from './scratch.ts';

/** The lines that are JSON; a torn one is not. */
async function linesOf(path: string): Promise<Record<string, unknown>[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Record<string, unknown>];
    } catch {
      return [];
    }
  });
}

test('receipts say who has which video, and where its bytes go', async () => {
  await using scratch = await scratchDirectory();
  {
    await using receipts = await openReceipts(scratch.path);
    await receipts.append('bound', someFacts(created));
    await receipts.append('uploaded', someFacts({ ...created, sha256: 'aa' }));
  }
  expect(await linesOf(join(scratch.path, 'receipts.jsonl'))).toMatchObject([
    { v: 1, step: 'bound', id: 'f_1', path: 'clip.mp4', video_id: 'vid_1', upload_url: 'u:vid_1', sha256: null },
    { v: 1, step: 'uploaded', id: 'f_1', sha256: 'aa' },
  ]);
});

test('the failure log says what happened, and what happens next', async () => {
  await using scratch = await scratchDirectory();
  {
    await using failures = await openFailureLog(join(scratch.path, 'failures.jsonl'));
    const facts = someFacts({ ...created, attempts: 2, notBefore: 9 });
    await failures.append(facts, failure('transient', { status: 503 }), 'tried again');
  }
  expect(await linesOf(join(scratch.path, 'failures.jsonl'))).toMatchObject([
    {
      v: 1,
      id: 'f_1',
      file: '/inbox/clip.mp4',
      state: 'retrying',
      class: 'transient',
      status: 503,
      attempt: 2,
      next: 'tried again',
    },
  ]);
  // Signed addresses authorise an upload: they are in the receipts, which are private, and nowhere else.
  expect(await readFile(join(scratch.path, 'failures.jsonl'), 'utf8')).not.toContain('u:vid_1');
});

test('the files are private', async () => {
  await using scratch = await scratchDirectory();
  const before = process.umask(0);
  try {
    await using opened = new AsyncDisposableStack();
    opened.use(await openReceipts(scratch.path));
    opened.use(await openFailureLog(join(scratch.path, 'failures.jsonl')));
    for (const name of ['receipts.jsonl', 'failures.jsonl'])
      expect((await stat(join(scratch.path, name))).mode & 0o777).toBe(0o600);
  } finally {
    process.umask(before);
  }
});

test.each([1, 5, 20])('a last line torn by a crash after %i bytes takes no other line with it', async (bytes) => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'receipts.jsonl');
  {
    await using receipts = await openReceipts(scratch.path);
    await receipts.append('bound', someFacts(created));
  }
  await appendFile(path, '{"v":1,"at":"2026-01-01T00:00:00Z"'.slice(0, bytes));
  {
    await using receipts = await openReceipts(scratch.path);
    await receipts.append('uploaded', someFacts(created));
  }
  expect((await linesOf(path)).map(({ step }) => step)).toEqual(['bound', 'uploaded']);
});

test('lines that are appended at the same time stay whole and in order', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'log.jsonl');
  await using log = await openAppendLog(path);
  await Promise.all(Array.from({ length: 200 }, (_, n) => log.append({ n, text: 'x'.repeat(n * 10) })));
  expect((await linesOf(path)).map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
});

test('a failure log that was rotated away goes on in a new file, which is private too', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'failures.jsonl');
  const before = process.umask(0);
  try {
    await using failures = await openFailureLog(path);
    const append = (next: string) => failures.append(someFacts(created), failure('transient'), next);
    await append('before');
    await rename(path, `${path}.1`);
    await Promise.all([append('after'), append('at once')]);
    expect((await linesOf(path)).map(({ next }) => next)).toEqual(['after', 'at once']);
    await rm(path);
    await append('after it was taken away');
  } finally {
    process.umask(before);
  }
  expect((await linesOf(`${path}.1`)).map(({ next }) => next)).toEqual(['before']);
  expect((await linesOf(path)).map(({ next }) => next)).toEqual(['after it was taken away']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a line of the failure log that could not be written is an error of the system, and not the end of the log', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'failures.jsonl');
  await using failures = await openFailureLog(path);
  const append = () => failures.append(someFacts(created), failure('transient'), 'tried again');
  await rm(path);
  await mkdir(path);
  await expect(append()).rejects.toMatchObject({ code: 'EISDIR' });
  await rm(path, { recursive: true });
  await append();
  expect(await linesOf(path)).toHaveLength(1);
});

test('a log that cannot be opened is named', async () => {
  await using scratch = await scratchDirectory();
  await mkdir(join(scratch.path, 'receipts.jsonl'));
  const error = await openReceipts(scratch.path).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(LedgerError);
  expect(String(error)).toMatch(/receipts\.jsonl is a directory, where a regular file belongs$/);
});

test('a line that could not be written is an error, and not the end of the log', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'log.jsonl');
  await writeFile(path, '');
  await using log = await openAppendLog(path);
  await expect(log.append({ n: 1n })).rejects.toThrow('BigInt');
  await log.append({ n: 2 });
  expect((await linesOf(path)).map(({ n }) => n)).toEqual([2]);
});

import { mkdirSync, rmSync } from 'node:fs';
import { appendFile, mkdir, open, symlink, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { openAppendLog, openRotatedLog, openFailureLog } from '../../src/ledger/append-log.ts';
import { openReceipts } from '../../src/ledger/receipts.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import { created, failure, someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

/** For a log whose every line must arrive. */
function unexpected(error: unknown): never {
  throw new Error('a line could not be written', { cause: error });
}

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
    await using failures = await openFailureLog(join(scratch.path, 'failures.jsonl'), unexpected);
    const facts = someFacts({ ...created, attempts: 2, notBefore: 9 });
    failures.append(facts, failure('transient', { status: 503 }), 'tried again');
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
    opened.use(await openFailureLog(join(scratch.path, 'failures.jsonl'), unexpected));
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

test('a line that a full disk cut short takes no later line with it', async () => {
  await using scratch = await scratchDirectory();
  const path = scratch.file('log.jsonl');
  await using log = await openAppendLog(path);
  await log.append({ n: 0 });
  await using other = await open(path);
  const write = vi.spyOn(Object.getPrototypeOf(other) as FileHandle, 'appendFile').mockImplementationOnce(async () => {
    await appendFile(path, '{"n":');
    throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
  });
  try {
    await expect(log.append({ n: 1 })).rejects.toThrow('no room');
    await log.append({ n: 2 });
    await log.append({ n: 3 });
  } finally {
    write.mockRestore();
  }
  expect((await linesOf(path)).map(({ n }) => n)).toEqual([0, 2, 3]);
});

test('lines that are appended at the same time stay whole and in order', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'log.jsonl');
  await using log = await openAppendLog(path);
  await Promise.all(Array.from({ length: 200 }, (_, n) => log.append({ n, text: 'x'.repeat(n * 10) })));
  expect((await linesOf(path)).map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
});

test('lines that come while others are on their way to disk wait for it together', async () => {
  await using scratch = await scratchDirectory();
  const path = scratch.file('log.jsonl');
  await using log = await openAppendLog(path);
  await using other = await open(path);
  const datasync = vi.spyOn(Object.getPrototypeOf(other) as FileHandle, 'datasync');
  try {
    await Promise.all(Array.from({ length: 50 }, (_, n) => log.append({ n })));
    expect(datasync).toHaveBeenCalledTimes(1);
  } finally {
    datasync.mockRestore();
  }
  expect(await linesOf(path)).toHaveLength(50);
});

test('a log that was rotated continues in a new file, which is private too', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'failures.jsonl');
  const before = process.umask(0);
  try {
    await using log = await openRotatedLog(path);
    await log.append({ n: 1 });
    await rename(path, `${path}.1`);
    await Promise.all([log.append({ n: 2 }), log.append({ n: 3 })]);
    expect((await linesOf(path)).map(({ n }) => n)).toEqual([2, 3]);
    await rm(path);
    await log.append({ n: 4 });
  } finally {
    process.umask(before);
  }
  expect((await linesOf(`${path}.1`)).map(({ n }) => n)).toEqual([1]);
  expect((await linesOf(path)).map(({ n }) => n)).toEqual([4]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

describe('the failure log of a listener, which does not wait', () => {
  const open = async (path: string) => {
    const reported: unknown[] = [];
    const failures = await openFailureLog(path, (error) => reported.push(error));
    const append = (next: string): void => failures.append(someFacts(created), failure('transient'), next);
    return { reported, append, [Symbol.asyncDispose]: () => failures[Symbol.asyncDispose]() };
  };

  test('keeps the order of the calls, and has them all on disk once it is closed', async () => {
    await using scratch = await scratchDirectory();
    const path = join(scratch.path, 'failures.jsonl');
    const order = Array.from({ length: 50 }, (_, n) => String(n));
    {
      await using log = await open(path);
      for (const next of order) log.append(next);
    }
    expect((await linesOf(path)).map(({ next }) => next)).toEqual(order);
  });

  test('reports a cause once, not once for each line, throws nothing, and continues when it is gone', async () => {
    await using scratch = await scratchDirectory();
    const path = join(scratch.path, 'failures.jsonl');
    {
      await using log = await open(path);
      rmSync(path);
      mkdirSync(path);
      for (let n = 0; n < 20; n += 1) log.append('lost');
      await until('it is reported', () => log.reported.length > 0);
      await rm(path, { recursive: true });
      log.append('kept');
      await until('it is written', async () => (await linesOf(path).catch(() => [])).length === 1);
      expect(log.reported).toMatchObject([{ code: 'EISDIR' }]);
      // Without a turn in between: the log looks for its file too.
      rmSync(path);
      mkdirSync(path);
      log.append('lost again');
      await until('it is reported again', () => log.reported.length === 2);
      await rm(path, { recursive: true });
      log.append('kept too');
    }
    expect((await linesOf(path)).map(({ next }) => next)).toEqual(['kept too']);
  });
});

test.each([
  ['a file', (path: string) => writeFile(path, 'mine')],
  ['a directory', (path: string) => mkdir(path)],
  ['nothing', async () => undefined],
])('a failure log that is a link to %s is reported once at the start, and stops nothing', async (_, make) => {
  await using scratch = await scratchDirectory();
  const [path, other] = [scratch.file('failures.jsonl'), scratch.file('other')];
  await make(other);
  const before = await stat(other).catch(() => null);
  await symlink(other, path);
  const reported: unknown[] = [];
  {
    await using log = await openFailureLog(path, (error) => reported.push(error));
    expect(reported).toMatchObject([{ message: expect.stringContaining('is a symbolic link') as string }]);
    log.append(someFacts(created), failure('transient'), 'lost');
  }
  expect(reported).toHaveLength(1);
  expect((await stat(other).catch(() => null))?.size).toBe(before?.size);
});

test('a log that cannot be opened is named', async () => {
  await using scratch = await scratchDirectory();
  await mkdir(join(scratch.path, 'receipts.jsonl'));
  const error = await openReceipts(scratch.path).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(LedgerError);
  expect(String(error)).toMatch(/receipts\.jsonl is a directory/);
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

test('a log that is not rotated is moved away when it is full, and no line is lost or written twice', async () => {
  await using scratch = await scratchDirectory();
  const path = scratch.file('failures.jsonl');
  {
    await using log = await openRotatedLog(path, 1_000);
    for (let n = 0; n < 60; n += 1) await log.append({ n, text: 'x'.repeat(20) });
  }
  const [old, current] = [await linesOf(`${path}.old`), await linesOf(path)];
  expect((await stat(`${path}.old`)).size).toBeLessThan(1_100);
  const numbers = [...old, ...current].map(({ n }) => Number(n));
  expect(numbers.at(-1)).toBe(59);
  expect(numbers).toEqual(Array.from(numbers, (_, n) => (numbers[0] ?? 0) + n));
});

test('a rotation in addition to that of logrotate loses nothing', async () => {
  await using scratch = await scratchDirectory();
  const path = scratch.file('failures.jsonl');
  await using log = await openRotatedLog(path, 400);
  const kept = new Set<number>();
  const keep = async (name: string): Promise<void> => {
    for (const { n } of await linesOf(name).catch(() => [])) kept.add(Number(n));
  };
  for (let n = 0; n < 100; n += 1) {
    const written = log.append({ n, text: 'x'.repeat(20) });
    if (n % 7 === 0) await rename(path, `${path}.${n}`).catch(() => undefined);
    await written;
    await keep(`${path}.old`);
    await keep(path);
  }
  for (let n = 0; n < 100; n += 7) await keep(`${path}.${n}`);
  expect(kept.size).toBe(100);
});

test('a symbolic link in the place of the failure log is not followed, also when it comes later', async () => {
  await using scratch = await scratchDirectory();
  const [path, victim] = [scratch.file('failures.jsonl'), scratch.file('victim')];
  await writeFile(victim, 'mine');
  await symlink(victim, path);
  await using log = await openRotatedLog(path);
  await expect(log.append({ n: 0 })).rejects.toThrow(/is a symbolic link, which is not followed: remove it/);
  await rm(path);
  await log.append({ n: 1 });
  await rm(path);
  await symlink(victim, path);
  await expect(log.append({ n: 1 })).rejects.toMatchObject({ name: 'LinkedLogError', code: 'ELOOP' });
  expect(await readFile(victim, 'utf8')).toBe('mine');
  await rm(path);
  await log.append({ n: 2 });
  expect(await linesOf(path)).toEqual([{ n: 2 }]);
});

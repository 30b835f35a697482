import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { AlreadyRunningError, isInstanceRunning, lockInstance } from '../../src/daemon/state/instance-lock.ts';
import { needs } from '../support/needs.ts';
import { OtherProcess } from '../support/other-process.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

const lockModule = JSON.stringify(new URL('../../src/daemon/state/instance-lock.ts', import.meta.url).href);

/** Once it is told to, tries to lock; says how that ended, and keeps the lock. */
const contender = (stateDir: string): string => `
  import { lockInstance } from ${lockModule};
  process.stdout.write('prepared\\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const word = await lockInstance(${JSON.stringify(stateDir)}).then(() => 'locked', (error) => error.name);
  process.stdout.write(word + '\\n');
  setInterval(() => {}, 1000);
`;

/** Reads the files of a directory, which in the process that holds them would free the locks of SQLite. */
const neighbour = (path: string): string => `
  import { readFile, readdir } from 'node:fs/promises';
  for (const name of await readdir(${JSON.stringify(path)})) await readFile(${JSON.stringify(path)} + '/' + name);
  process.stdout.write('read\\n');
`;

/** Takes a name in the abstract namespace, which every local user may. */
const squatter = (name: string): string => `
  import { createServer } from 'node:net';
  createServer().listen(${JSON.stringify(name)}, () => process.stdout.write('taken\\n'));
`;

const nobody = 65_534;

test(
  'another user who takes the abstract name of the state directory does not prevent a start',
  needs('root'),
  async () => {
    await using scratch = await scratchDirectory();
    const name = `\0dropcast-${createHash('sha256').update(scratch.path).digest('hex').slice(0, 32)}`;
    await using other = new OtherProcess(squatter(name), nobody);
    await other.hasWritten(1);
    await using stack = new AsyncDisposableStack();
    stack.use(await lockInstance(scratch.path));
    expect(await isInstanceRunning(scratch.path)).toBe(true);
  },
);

test('of twenty that start at the same moment, exactly one gets the lock', async () => {
  await using scratch = await scratchDirectory();
  await using stack = new AsyncDisposableStack();
  const all = Array.from({ length: 20 }, () => stack.use(new OtherProcess(contender(scratch.path))));
  for (const one of all) await one.hasWritten(1);
  for (const one of all) one.start();
  for (const one of all) await one.hasWritten(2);
  const words = all.map((one) => one.lines()[1]);
  expect(words.filter((word) => word === 'locked')).toHaveLength(1);
  expect(words.filter((word) => word === 'AlreadyRunningError')).toHaveLength(19);
});

test('a holder that was stopped keeps the lock, and one that was killed frees it', needs('/proc'), async () => {
  await using scratch = await scratchDirectory();
  await using other = new OtherProcess(contender(scratch.path));
  other.start();
  await other.hasWritten(2);
  other.signal('SIGSTOP');
  await until('it is stopped', async () => (await readFile(`/proc/${other.pid}/stat`, 'utf8')).includes(') T '));
  await expect(lockInstance(scratch.path)).rejects.toThrow(AlreadyRunningError);
  expect(await isInstanceRunning(scratch.path)).toBe(true);
  await other[Symbol.asyncDispose]();
  expect(await isInstanceRunning(scratch.path)).toBe(false);
  await using stack = new AsyncDisposableStack();
  stack.use(await lockInstance(scratch.path));
});

test('a process that reads every file of the state directory does not free the lock', async () => {
  await using scratch = await scratchDirectory();
  await using stack = new AsyncDisposableStack();
  stack.use(await lockInstance(scratch.path));
  await using other = new OtherProcess(neighbour(scratch.path));
  await other.hasEnded();
  expect(other.text).toBe('read\n');
  await using rival = new OtherProcess(contender(scratch.path));
  rival.start();
  await rival.hasWritten(2);
  expect(rival.lines()[1]).toBe('AlreadyRunningError');
});

test('commands that ask whether it runs neither make the lock nor keep anybody from taking it', async () => {
  await using scratch = await scratchDirectory();
  expect(await isInstanceRunning(scratch.path)).toBe(false);
  expect(await isInstanceRunning(scratch.file('missing'))).toBe(false);
  expect(await readdir(scratch.path)).toEqual([]);
  for (let turn = 0; turn < 20; turn += 1) {
    const asked = isInstanceRunning(scratch.path);
    await using stack = new AsyncDisposableStack();
    stack.use(await lockInstance(scratch.path));
    await asked;
  }
  expect(await isInstanceRunning(scratch.path)).toBe(false);
});

test('no other user can open the lock', async () => {
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('state'), { mode: 0o755 });
  await chmod(scratch.file('state'), 0o755);
  await using stack = new AsyncDisposableStack();
  stack.use(await lockInstance(scratch.file('state')));
  for (const name of await readdir(scratch.file('state')))
    expect((await stat(scratch.file('state', name))).mode & 0o777).toBe(0o600);
});

test('a lock file that is none is named as that, with what to do', async () => {
  await using scratch = await scratchDirectory();
  await writeFile(scratch.file('instance.lock'), 'something else');
  await expect(lockInstance(scratch.path)).rejects.toThrow(/instance\.lock is not the lock .*: remove it/);
});

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, chown, cp, mkdir, open, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { RootClaim } from '../../src/watch/root-claim.ts';
import { replaceMark } from '../../src/watch/root-mark.ts';
import type { FolderOwner } from '../../src/watch/root-mark.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { smallDisk } from '../ledger/small-disk.ts';
import { needs } from '../support/needs.ts';
import { OtherProcess } from '../support/other-process.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

const claimModule = JSON.stringify(new URL('../../src/watch/root-claim.ts', import.meta.url).href);

/** A place with a folder to watch. Neither is a user's private one. */
async function place(): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  await chmod(scratch.path, 0o777);
  await mkdir(scratch.file('inbox'));
  await chmod(scratch.file('inbox'), 0o777);
  return scratch;
}

/** A dropcast with a state directory that has a ledger. */
async function owner(scratch: ScratchDirectory, name: string, other: Partial<FolderOwner> = {}): Promise<FolderOwner> {
  const stateDir = scratch.file(name);
  await mkdir(stateDir, { recursive: true });
  const owner = { ledger: `id-of-${name}`, stateDir, host: 'here', hostName: 'here.example', ...other };
  await writeFile(`${stateDir}/ledger.id`, `${owner.ledger}\n`);
  return owner;
}

const claimOf = (folder: string, us: FolderOwner): RootClaim => new RootClaim(folder, us, silentLogger);

/** Takes the folder, says what became of it, and lets go of its lock: as a dropcast that ran and ended. */
async function runOnce(folder: string, us: FolderOwner): Promise<string> {
  await using claim = claimOf(folder, us);
  const verdict = await claim.hold();
  return verdict.isSound ? 'ours' : verdict.why;
}

/** The same in another process, which keeps what it got. */
const holder = (folder: string, us: FolderOwner): string => `
  import { RootClaim } from ${claimModule};
  const quiet = { error() {}, warn() {}, info() {}, debug() {} };
  process.stdout.write('prepared\\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const verdict = await new RootClaim(${JSON.stringify(folder)}, ${JSON.stringify(us)}, quiet).hold();
  process.stdout.write((verdict.isSound ? 'ours' : verdict.why) + '\\n');
  setInterval(() => {}, 1000);
`;

const nobody = 65_534;

describe('a folder that another dropcast has marked', () => {
  test('is refused with the way to take it over, also while that one does not run; others do not touch its mark', async () => {
    await using scratch = await place();
    const [one, two] = [await owner(scratch, 'one'), await owner(scratch, 'two')];
    const inbox = scratch.file('inbox');
    expect(await runOnce(inbox, one)).toBe('ours');
    const mark = await readFile(`${inbox}/.dropcast`, 'utf8');
    const why = await runOnce(inbox, two);
    expect(why).toContain(`the dropcast with the state directory ${one.stateDir} watches it`);
    expect(why).toContain(`rm '${inbox}/.dropcast'`);
    expect(await readFile(`${inbox}/.dropcast`, 'utf8')).toBe(mark);
    expect(await readdir(inbox)).toEqual(['.dropcast']);
    expect(await runOnce(inbox, one)).toBe('ours');
    await rm(`${inbox}/.dropcast`);
    expect(await runOnce(inbox, two)).toBe('ours');
    expect(await runOnce(inbox, one)).toContain(two.stateDir);
  });

  test('is taken over by the command that it gives, whatever the folder is called', async () => {
    await using scratch = await place();
    const inbox = scratch.file("it's in");
    await mkdir(inbox);
    expect(await runOnce(inbox, await owner(scratch, 'one'))).toBe('ours');
    const why = await runOnce(inbox, await owner(scratch, 'two'));
    const [, command = ''] = /`(rm .*)`/.exec(why) ?? [];
    expect(spawnSync('sh', ['-c', command]).status).toBe(0);
    expect(await readdir(inbox)).toEqual([]);
  });

  test.each([
    ['a named pipe', (path: string) => Promise.resolve(spawnSync('mkfifo', [path]))],
    ['a link to a device without an end', (path: string) => symlink('/dev/zero', path)],
    ['a link to a terminal', (path: string) => symlink('/dev/ptmx', path)],
    ['a huge file', (path: string) => open(path, 'w').then((file) => file.truncate(2 ** 40).then(() => file.close()))],
  ])('is not waited for when the mark leads to a ledger that is %s', async (_, make) => {
    await using scratch = await place();
    const [one, two] = [await owner(scratch, 'one'), await owner(scratch, 'two')];
    expect(await runOnce(scratch.file('inbox'), one)).toBe('ours');
    await rm(`${one.stateDir}/ledger.id`);
    await make(`${one.stateDir}/ledger.id`);
    expect(await runOnce(scratch.file('inbox'), two)).toBe('ours');
  });

  type Change = (scratch: ScratchDirectory, one: FolderOwner) => Promise<unknown>;
  const changes: readonly (readonly [string, Change, Partial<FolderOwner>, RegExp])[] = [
    ['its state directory was removed', (_, one) => rm(one.stateDir, { recursive: true }), {}, /^ours$/],
    [
      'its state directory has another ledger',
      (_, one) => writeFile(`${one.stateDir}/ledger.id`, 'new\n'),
      {},
      /^ours$/,
    ],
    ['its state directory has no ledger', (_, one) => rm(`${one.stateDir}/ledger.id`), {}, /^ours$/],
    [
      'a part of its path is a file now',
      (_, one) => rm(one.stateDir, { recursive: true }).then(() => writeFile(one.stateDir, '')),
      {},
      /^ours$/,
    ],
    [
      'it is of another machine and its directory is not on this one',
      (_, one) => rm(one.stateDir, { recursive: true }),
      { host: 'there' },
      /on here\.example watches it/,
    ],
    [
      'its machine is unknown',
      (_, one) => rm(one.stateDir, { recursive: true }),
      { host: null },
      /on here\.example watches it/,
    ],
  ];
  test.each(changes)('when %s', async (_name, change, other, expected) => {
    await using scratch = await place();
    const one = await owner(scratch, 'one', other);
    expect(await runOnce(scratch.file('inbox'), one)).toBe('ours');
    await change(scratch, one);
    const two = await owner(scratch, 'two', other.host === null ? { host: null } : {});
    expect(await runOnce(scratch.file('inbox'), two)).toMatch(expected);
    if (expected.source === '^ours$')
      expect(await readFile(scratch.file('inbox/.dropcast'), 'utf8')).toContain('id-of-two');
  });

  test.each([
    ['text', (path: string) => writeFile(path, 'mine')],
    ['nothing', (path: string) => writeFile(path, '')],
    ['a directory', (path: string) => mkdir(path)],
    ['a link to a mark', (path: string) => symlink('elsewhere', path)],
    ['a named pipe', (path: string) => Promise.resolve(spawnSync('mkfifo', [path]))],
  ])('is refused where the mark is %s', async (_name, make) => {
    await using scratch = await place();
    await make(scratch.file('inbox/.dropcast'));
    expect(await runOnce(scratch.file('inbox'), await owner(scratch, 'one'))).toContain('not a mark of dropcast');
  });

  test(
    'is refused where the mark cannot be read, or its state directory',
    needs('root', 'readable clone'),
    async () => {
      await using scratch = await place();
      const [one, two] = [await owner(scratch, 'one'), await owner(scratch, 'two')];
      expect(await runOnce(scratch.file('inbox'), one)).toBe('ours');
      await chmod(one.stateDir, 0o700);
      const asNobody = async (): Promise<string | undefined> => {
        await using other = new OtherProcess(holder(scratch.file('inbox'), two), nobody);
        other.start();
        await other.hasWritten(2);
        return other.lines()[1];
      };
      expect(await asNobody()).toContain(one.stateDir);
      await chmod(scratch.file('inbox/.dropcast'), 0o600);
      const unread = await asNobody();
      expect(unread).toContain('it cannot be read (EACCES)');
      // It may well be ours: no advice to remove it.
      expect(unread).not.toContain('rm ');
    },
  );
});

describe('a copy of a state directory', () => {
  test('is refused while the other is there, and takes over once it was only moved', async () => {
    await using scratch = await place();
    const one = await owner(scratch, 'one');
    expect(await runOnce(scratch.file('inbox'), one)).toBe('ours');
    await cp(one.stateDir, scratch.file('copy'), { recursive: true });
    const copy = { ...one, stateDir: scratch.file('copy') };
    expect(await runOnce(scratch.file('inbox'), copy)).toContain('a copy of ours');
    await rm(one.stateDir, { recursive: true });
    expect(await runOnce(scratch.file('inbox'), copy)).toBe('ours');
  });

  test('on another machine is refused, at the same path too', async () => {
    await using scratch = await place();
    const one = await owner(scratch, 'one');
    expect(await runOnce(scratch.file('inbox'), one)).toBe('ours');
    expect(await runOnce(scratch.file('inbox'), { ...one, host: 'there', hostName: 'there.example' })).toContain(
      'on here.example',
    );
  });

  test('that is the same directory by another path is no copy', async () => {
    await using scratch = await place();
    const one = await owner(scratch, 'one');
    expect(await runOnce(scratch.file('inbox'), one)).toBe('ours');
    await symlink('one', scratch.file('link'));
    expect(await runOnce(scratch.file('inbox'), { ...one, stateDir: scratch.file('link') })).toBe('ours');
  });
});

describe('two that run', () => {
  test(
    'by the same user: the second waits until the first is killed, also when that was stopped',
    needs('/proc'),
    async () => {
      await using scratch = await place();
      const one = await owner(scratch, 'one');
      const inbox = scratch.file('inbox');
      await using other = new OtherProcess(holder(inbox, one));
      other.start();
      await other.hasWritten(2);
      expect(other.lines()[1]).toBe('ours');
      // The same ledger: the mark alone would let it pass.
      await using claim = claimOf(inbox, one);
      expect(await claim.hold()).toMatchObject({ why: expect.stringContaining(`process ${other.pid}`) });
      other.signal('SIGSTOP');
      await until('it is stopped', async () => (await readFile(`/proc/${other.pid}/stat`, 'utf8')).includes(') T '));
      expect(await claim.hold()).toMatchObject({ isSound: false });
      await other[Symbol.asyncDispose]();
      expect(await claim.hold()).toEqual({ isSound: true });
    },
  );

  test('and start at the same moment: one of them gets the folder', async () => {
    await using scratch = await place();
    await using stack = new AsyncDisposableStack();
    const names = Array.from({ length: 6 }, (_, n) => `dropcast-${n}`);
    const all = await Promise.all(
      names.map(async (name) => stack.use(new OtherProcess(holder(scratch.file('inbox'), await owner(scratch, name))))),
    );
    for (const one of all) await one.hasWritten(1);
    for (const one of all) one.start();
    for (const one of all) await one.hasWritten(2);
    expect(all.filter((one) => one.lines()[1] === 'ours')).toHaveLength(1);
  });

  test(
    'by two users, over the mark of a third who is gone: one of them gets the folder',
    needs('root', 'readable clone'),
    async () => {
      await using scratch = await place();
      const gone = await owner(scratch, 'gone');
      expect(await runOnce(scratch.file('inbox'), gone)).toBe('ours');
      await rm(gone.stateDir, { recursive: true });
      await using stack = new AsyncDisposableStack();
      const users = [nobody, 54_321, 54_322, 54_323];
      const all = await Promise.all(
        users.map(async (uid) => {
          const us = await owner(scratch, `of-${uid}`);
          await chown(us.stateDir, uid, uid);
          return stack.use(new OtherProcess(holder(scratch.file('inbox'), us), uid));
        }),
      );
      for (const one of all) await one.hasWritten(1);
      for (const one of all) one.start();
      for (const one of all) await one.hasWritten(2);
      expect(all.filter((one) => one.lines()[1] === 'ours')).toHaveLength(1);
    },
  );

  test('one that saw the mark of the one who is gone, and was held up, does not take it from who was faster', async () => {
    await using scratch = await place();
    const [gone, one, two] = [await owner(scratch, 'gone'), await owner(scratch, 'one'), await owner(scratch, 'two')];
    const inbox = scratch.file('inbox');
    await runOnce(inbox, gone);
    const old = await readFile(`${inbox}/.dropcast`, 'utf8');
    const turn = `${inbox}/.dropcast.${createHash('sha256').update(old).digest('hex').slice(0, 12)}`;
    await writeFile(turn, '');
    expect(await replaceMark(inbox, old, one)).toBe('taken');
    expect(await readFile(`${inbox}/.dropcast`, 'utf8')).toBe(old);
    // Of a process that was killed long ago.
    await utimes(turn, 0, 0);
    expect(await replaceMark(inbox, old, one)).toBe('taken');
    expect(await replaceMark(inbox, old, one)).toBe('placed');
    const taken = await readFile(`${inbox}/.dropcast`, 'utf8');
    expect(await replaceMark(inbox, old, two)).toBe('taken');
    expect(await readFile(`${inbox}/.dropcast`, 'utf8')).toBe(taken);
    expect(await readdir(inbox)).toEqual(['.dropcast']);
  });

  test.each([
    ['a named pipe', 'one of two gets the folder', (path: string) => Promise.resolve(spawnSync('mkfifo', [path]))],
    ['a link', 'one of two gets the folder', (path: string) => symlink('/nowhere', path)],
    ['a directory', 'no dropcast gets the folder until a person removes it', (path: string) => mkdir(path)],
  ])('where %s lies at the place of a turn: %s', async (_, expected, make) => {
    await using scratch = await place();
    const inbox = scratch.file('inbox');
    const gone = await owner(scratch, 'gone');
    await runOnce(inbox, gone);
    await rm(gone.stateDir, { recursive: true });
    const old = await readFile(`${inbox}/.dropcast`, 'utf8');
    const turn = `${inbox}/.dropcast.${createHash('sha256').update(old).digest('hex').slice(0, 12)}`;
    await make(turn);
    spawnSync('touch', ['-h', '-d', '1 hour ago', turn]);
    const said = [await runOnce(inbox, await owner(scratch, 'one')), await runOnce(inbox, await owner(scratch, 'two'))];
    expect(said.filter((one) => one === 'ours')).toHaveLength(expected.startsWith('one') ? 1 : 0);
    if (!expected.startsWith('one')) expect(said[0]).toContain(`rm -r '${inbox}'/.dropcast.*`);
  });

  test('by another path to the same directory: a link or a bind mount', needs('mount'), async () => {
    await using scratch = await place();
    const [one, two] = [await owner(scratch, 'one'), await owner(scratch, 'two')];
    await symlink('inbox', scratch.file('link'));
    await mkdir(scratch.file('bound'));
    spawnSync('mount', ['--bind', scratch.file('inbox'), scratch.file('bound')]);
    await using stack = new AsyncDisposableStack();
    stack.defer(() => void spawnSync('umount', [scratch.file('bound')]));
    await using claim = claimOf(scratch.file('inbox'), one);
    expect(await claim.hold()).toEqual({ isSound: true });
    for (const path of ['link', 'bound']) {
      expect(await runOnce(scratch.file(path), one)).toContain(`process ${process.pid}`);
      await claim[Symbol.asyncDispose]();
      expect(await runOnce(scratch.file(path), two)).toContain(one.stateDir);
      expect(await claim.hold()).toEqual({ isSound: true });
    }
  });

  test('and one loses its mark while it runs: it stops', async () => {
    await using scratch = await place();
    const [one, two] = [await owner(scratch, 'one'), await owner(scratch, 'two')];
    const inbox = scratch.file('inbox');
    await using claim = claimOf(inbox, one);
    expect(await claim.hold()).toEqual({ isSound: true });
    await rm(`${inbox}/.dropcast`);
    // As from another machine, where the lock does not reach.
    await writeFile(`${inbox}/.dropcast`, JSON.stringify({ v: 1, ...two, host: 'there' }));
    expect(await claim.hold()).toMatchObject({ isSound: false, why: expect.stringContaining(two.stateDir) });
  });
});

test('a lock name taken by another user does not block the folder', needs('root'), async () => {
  await using scratch = await place();
  const one = await owner(scratch, 'one');
  const { dev, ino } = await import('node:fs/promises').then(({ stat }) =>
    stat(scratch.file('inbox'), { bigint: true }),
  );
  const name = JSON.stringify(`\0dropcast-folder-0-${dev}-${ino}`);
  const script = `import { createServer } from 'node:net'; createServer().listen(${name}, () => process.stdout.write('taken\\n'));`;
  await using other = new OtherProcess(script, nobody);
  await other.hasWritten(1);
  expect(await runOnce(scratch.file('inbox'), one)).toBe('ours');
});

test('the folder can be unmounted while it is ours', needs('mount'), async () => {
  await using scratch = await place();
  await using disk = await smallDisk('1m');
  await using claim = claimOf(disk.path, await owner(scratch, 'one'));
  expect(await claim.hold()).toEqual({ isSound: true });
  expect(spawnSync('umount', [disk.path]).status).toBe(0);
});

describe('a folder that cannot be marked', () => {
  test(
    'is still watched, says what is not protected, and keeps off a second process of the same user',
    needs('mount'),
    async () => {
      await using scratch = await place();
      await using disk = await smallDisk('1m');
      disk.remount('ro');
      const [one, two] = [await owner(scratch, 'one'), await owner(scratch, 'two')];
      const said: string[] = [];
      await using claim = new RootClaim(disk.path, one, {
        ...silentLogger,
        warn: (message) => void said.push(message),
      });
      for (let turn = 0; turn < 3; turn += 1) expect(await claim.hold()).toEqual({ isSound: true });
      expect(said).toEqual([expect.stringMatching(/cannot be marked: another user or machine that runs dropcast/)]);
      expect(await runOnce(disk.path, two)).toContain(`process ${process.pid}`);
      // A mark that is there counts.
      disk.remount('rw');
      await claim[Symbol.asyncDispose]();
      expect(await runOnce(disk.path, one)).toBe('ours');
      disk.remount('ro');
      expect(await runOnce(disk.path, two)).toContain(one.stateDir);
    },
  );

  test('because dropcast only reads it is no reason for a warning', needs('mount'), async () => {
    await using scratch = await place();
    await using disk = await smallDisk('1m');
    disk.remount('ro');
    const said: string[] = [];
    const say = (level: string) => (message: string) => void said.push(`${level}: ${message}`);
    const logger = { ...silentLogger, info: say('info'), warn: say('warn') };
    await using claim = new RootClaim(disk.path, await owner(scratch, 'one'), logger, true);
    for (let turn = 0; turn < 3; turn += 1) expect(await claim.hold()).toEqual({ isSound: true });
    expect(said).toEqual(['info: The folder is read-only for dropcast (after_ready: keep)']);
  });

  test('because its disk is full is watched: sending its files may make room', needs('mount'), async () => {
    await using scratch = await place();
    await using disk = await smallDisk('64k');
    await writeFile(`${disk.path}/video`, Buffer.alloc(100_000)).catch(() => undefined);
    const one = await owner(scratch, 'one');
    const said: string[] = [];
    {
      await using claim = new RootClaim(disk.path, one, {
        ...silentLogger,
        warn: (message) => void said.push(message),
      });
      for (let turn = 0; turn < 3; turn += 1) expect(await claim.hold()).toEqual({ isSound: true });
      expect([said, claim.lacksRoom]).toEqual([[expect.stringContaining(`\`df -h '${disk.path}'\``)], true]);
    }
    await rm(`${disk.path}/video`);
    expect(await runOnce(disk.path, one)).toBe('ours');
    expect(await readdir(disk.path)).toEqual(['.dropcast']);
  });
});

describe('a folder in a folder', () => {
  test('of another dropcast is refused, and says which', async () => {
    await using scratch = await place();
    const [one, two] = [await owner(scratch, 'one'), await owner(scratch, 'two')];
    await mkdir(scratch.file('inbox/deep/er'), { recursive: true });
    expect(await runOnce(scratch.file('inbox'), one)).toBe('ours');
    const why = await runOnce(scratch.file('inbox/deep/er'), two);
    expect(why).toContain(
      `it is inside ${scratch.file('inbox')}, and the dropcast with the state directory ${one.stateDir}`,
    );
    // In one configuration they may be nested.
    expect(await runOnce(scratch.file('inbox/deep/er'), one)).toBe('ours');
  });

  test('keeps its owner when a dropcast starts above it: that one leaves it alone', async () => {
    await using scratch = await place();
    const [one, two] = [await owner(scratch, 'one'), await owner(scratch, 'two')];
    await mkdir(scratch.file('inbox/inner'));
    expect(await runOnce(scratch.file('inbox/inner'), one)).toBe('ours');
    expect(await runOnce(scratch.file('inbox'), two)).toBe('ours');
    expect(await runOnce(scratch.file('inbox/inner'), one)).toBe('ours');
    expect(await claimOf(scratch.file('inbox'), two).foreign(scratch.file('inbox/inner'))).toContain(one.stateDir);
    expect(await claimOf(scratch.file('inbox'), one).foreign(scratch.file('inbox/inner'))).toBeNull();
  });

  test('is its own on another file system', needs('mount'), async () => {
    await using scratch = await place();
    await using disk = await smallDisk('1m');
    const [one, two] = [await owner(scratch, 'one'), await owner(scratch, 'two')];
    await mkdir(scratch.file('inbox/mounted'));
    expect(await runOnce(scratch.file('inbox'), one)).toBe('ours');
    spawnSync('mount', ['--bind', disk.path, scratch.file('inbox/mounted')]);
    await using stack = new AsyncDisposableStack();
    stack.defer(() => void spawnSync('umount', [scratch.file('inbox/mounted')]));
    expect(await runOnce(scratch.file('inbox/mounted'), two)).toBe('ours');
  });
});

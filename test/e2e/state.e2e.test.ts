import { randomBytes } from 'node:crypto';
import { chown, copyFile, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/ledger.ts';
import { smallDisk } from '../ledger/small-disk.ts';
import { alongside } from './alongside.ts';
import { dropcast, makeScratch, startDropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import type { Ended, Scratch } from './dropcast-process.ts';
import { expectUploadedOnce, startStation, stationSettings } from './station.ts';
import { needs } from '../support/needs.ts';
import { configText, writeConfig } from '../support/configuration.ts';

const nowhere = { baseUrl: 'http://127.0.0.1:1/v1', key: 'key-for-a-test' };

/** A configuration whose folders are there and whose state directory is not. */
async function makeIdle(): Promise<Scratch> {
  const scratch = await makeScratch(stationSettings(nowhere));
  await mkdir(scratch.file('inbox'));
  return scratch;
}

/** One line on stderr with these facts, and exit code 1: nothing else was printed, and above all no stack trace. */
function expectRefused(ended: Ended, ...facts: readonly string[]): void {
  expect(ended).toEqual({ code: 1, signal: null, stdout: '', stderr: expect.stringMatching(/^.+\n$/) });
  for (const fact of facts) expect(ended.stderr).toContain(fact);
}

alongside('a ledger that is lost', () => {
  test('is not recreated; with a copy restored nothing is uploaded twice, not even what came after the copy', async () => {
    await using station = await startStation();
    const { scratch } = station;
    const run = (...args: readonly string[]): Promise<Ended> => dropcast([...args, '--config', scratch.config]);
    const ledgerFile = scratch.file('state/ledger.db');
    const copy = scratch.file('state/backups/ledger.1.db');
    await station.drop('before.mpg');
    await station.reaches('before.mpg', 'done');
    await station.daemon().kill('SIGTERM');
    {
      await using ledger = await openLedger(scratch.file('state'));
      await ledger.budget.save(await ledger.budget.load());
      await ledger.backUp();
    }
    await station.start();
    await station.drop('after.mpg');
    await station.drop('news/after.mpg');
    await station.reaches('after.mpg', 'done');
    await station.reaches('news/after.mpg', 'done');
    await station.daemon().kill('SIGKILL');
    for (const file of [ledgerFile, `${ledgerFile}-wal`]) await rm(file);

    const command = `\`cp ${copy} ${ledgerFile} && chown --reference=${scratch.file('state')} ${ledgerFile}\``;
    for (const args of [['run'], ['once'], ['status'], ['ls']])
      expectRefused(await run(...args), `${ledgerFile} is missing`, command, 'receipts.jsonl');
    expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({ v: 1, error: { exit: 1 } });
    const checked = await run('check');
    expect(checked).toMatchObject({ code: 1, stderr: '' });
    expect(checked.stdout).toMatch(/dropcast\.yaml:5:12 state_dir: \S+ledger\.db is missing, /);
    expect(checked.stdout).toContain('1 problem in ');

    await copyFile(copy, ledgerFile);
    expect(await run('check')).toMatchObject({ code: 0 });
    await station.start();
    await station.drop('later.mpg');
    for (const path of ['later.mpg', 'after.mpg', 'news/after.mpg', 'before.mpg']) await station.reaches(path, 'done');
    for (const title of ['before', 'later']) expectUploadedOnce(station, title);
    expect(station.videos('after').map(({ bodies }) => bodies.length)).toEqual([1, 1]);
  });
});

alongside('check looks at the state', () => {
  test('none is fine, and none is left behind; neither is a running daemon or `once` in its way', async () => {
    await using station = await startStation({ isStarted: false, settings: { uploads: { stall_timeout: '60s' } } });
    const { scratch } = station;
    const run = (...args: readonly string[]): Promise<Ended> => dropcast([...args, '--config', scratch.config]);
    const expectFine = async (): Promise<void> => {
      expect(await run('check')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/is fine: 1 folder, 3 rules\n$/),
      });
    };
    await expectFine();
    expect((await readdir(scratch.path)).toSorted()).toEqual(['dropcast.yaml', 'inbox']);

    const { promise, resolve } = Promise.withResolvers<void>();
    station.faults.upload = async () => {
      await promise;
      return false;
    };
    await station.drop('one.mpg', randomBytes(3_000));
    await using once = startDropcast(['once', '--config', scratch.config]);
    await until('the upload is under way', () => station.host.puts.length > 0 || once.child.exitCode !== null);
    await expectFine();
    expectRefused(
      await run('status'),
      'another dropcast is using the ledger (a daemon that is starting, or `dropcast once`): try again later',
    );
    resolve();
    expect(await once.ended).toMatchObject({ code: 0 });

    const left = async (): Promise<readonly string[]> => (await readdir(scratch.file('state'))).toSorted();
    expect(await left()).toEqual([
      'backups',
      'failures.jsonl',
      'instance.lock',
      'ledger.db',
      'ledger.id',
      'receipts.jsonl',
    ]);
    await expectFine();
    await expectFine();
    expect(await left()).toEqual([
      'backups',
      'failures.jsonl',
      'instance.lock',
      'ledger.db',
      'ledger.id',
      'receipts.jsonl',
    ]);
    await station.start();
    await expectFine();
    await rm(scratch.file('state/failures.jsonl'));
    await station.daemon().kill('SIGTERM');
    await mkdir(scratch.file('state/failures.jsonl'));
    const json = await run('check', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      problems: [
        { line: 5, column: 12, key: 'state_dir', message: expect.stringContaining('failures.jsonl is a directory') },
      ],
    });
    const refused = await run('run');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^\S+failures\.jsonl is a directory.*\n$/);
  });

  test('next to a mistake in the configuration itself', async () => {
    await using scratch = await makeIdle();
    await mkdir(scratch.file('state/ledger.db'), { recursive: true });
    await writeFile(scratch.config, configText().replace('channel: ch_main', 'chanel: ch_main'));
    const { code, stdout } = await dropcast(['check', '--config', scratch.config]);
    expect(code).toBe(78);
    expect(stdout).toContain('did you mean "channel"?');
    expect(stdout).toContain('ledger.db is a directory');
  });
});

alongside('a state directory that is not usable', () => {
  test.each([
    ['a file', (path: string) => writeFile(path, ''), 'is a regular file'],
    ['a link that leads nowhere', (path: string) => symlink('gone', path), 'is a symbolic link to gone'],
  ])('is said in one sentence by every command: %s', async (_name, prepare, says) => {
    await using scratch = await makeIdle();
    const state = scratch.file('state');
    await prepare(state);
    const run = (...args: readonly string[]): Promise<Ended> => dropcast([...args, '--config', scratch.config]);
    for (const args of [['status'], ['ls'], ['show', 'f_000000']])
      expectRefused(await run(...args), `the state directory ${state} ${says}`);
    expect(await run('retry', '--all')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^the daemon is not running/),
    });
    for (const args of [['check'], ['run'], ['once']]) {
      const { code, stdout, stderr } = await run(...args);
      expect(code, args[0]).not.toBe(0);
      expect(stdout + stderr, args[0]).toContain(state);
      expect(stdout + stderr, args[0]).not.toMatch(/\n\s+at |dropcast crashed/);
    }
  });
});

alongside('a state directory that cannot be written', () => {
  test('a full disk is a sentence, not a stack trace', needs('mount'), async () => {
    await using disk = await smallDisk('200k');
    await using scratch = await makeIdle();
    const state = join(disk.path, 'state');
    await writeConfig(scratch, { ...stationSettings(nowhere), state_dir: state });
    await expect(writeFile(join(disk.path, 'fill'), Buffer.alloc(300_000))).rejects.toThrow('ENOSPC');
    expectRefused(
      await dropcast(['run', '--config', scratch.config]),
      `${join(state, 'instance.lock')} cannot be used: the disk is full`,
    );
    expect(await dropcast(['check', '--config', scratch.config])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/state_dir: .*disk.* is full/),
    });
  });

  test(
    'a read-only disk at start is no mistake in the configuration: systemd tries again',
    needs('mount'),
    async () => {
      await using disk = await smallDisk('2m');
      await using scratch = await makeIdle();
      const state = join(disk.path, 'state');
      await writeConfig(scratch, { ...stationSettings(nowhere), state_dir: state });
      await mkdir(state);
      disk.remount('ro');
      for (const command of ['run', 'once']) {
        const ended = await dropcast([command, '--config', scratch.config]);
        expect(ended.code, command).toBe(1);
        expect(ended.stderr).toContain('read-only');
      }
      expect(await dropcast(['check', '--config', scratch.config])).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('read-only'),
      });
    },
  );

  const nobody = 65_534;

  test(
    'root starts nothing for another user, and files from such a run are listed with their owner',
    needs('root', 'readable clone'),
    async () => {
      await using scratch = await makeIdle();
      await mkdir(scratch.file('state'));
      for (const path of [scratch.path, scratch.file('inbox'), scratch.file('state'), scratch.config])
        await chown(path, nobody, nobody);
      for (const command of ['run', 'once'])
        expectRefused(
          await dropcast([command, '--config', scratch.config]),
          `the state directory ${scratch.file('state')} belongs to nobody, who cannot open files that root creates there: run it as nobody`,
        );
      expect(await readdir(scratch.file('state'))).toEqual([]);
      const asNobody = async (...args: readonly string[]): Promise<Ended> => {
        await using process = startDropcast([...args, '--config', scratch.config], {}, nobody);
        return await process.ended;
      };
      for (const name of ['ledger.db', 'receipts.jsonl', 'failures.jsonl']) {
        const path = scratch.file('state', name);
        await writeFile(path, name === 'ledger.db' ? 'x' : '', { mode: 0o600 });
        const sentence = `${path} cannot be used: permission denied (EACCES); ${path} belongs to root with mode 0600, and this is user ${nobody}; give it back with \`sudo chown -R nobody: ${scratch.file('state')}\``;
        expectRefused(await asNobody('run'), sentence);
        expect(await asNobody('check')).toMatchObject({
          code: 1,
          stdout: expect.stringContaining(`state_dir: ${sentence}\n`),
        });
        await rm(path);
        await rm(scratch.file('state/ledger.db'), { force: true });
      }
    },
  );
});

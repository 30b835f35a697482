import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  chmod,
  lstat,
  mkdir,
  open,
  rename,
  rm,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { monotonicClock } from '../../src/watch/clock.ts';
import { openEvents } from '../../src/watch/events.ts';
import type { OpenEvents } from '../../src/watch/events.ts';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import type { CompleteFile } from '../../src/watch/ports.ts';
import { eventually } from '../support/until.ts';
import { FakeClock } from './fake-clock.ts';
import { WatchedDirectory, deaf, manualEvents } from './watched-directory.ts';
import { needs } from '../support/needs.ts';

const until = async (condition: () => void | Promise<void>): Promise<void> =>
  eventually('the expectation of this line', condition, { withinMs: 20_000 });

/** For thousands of files, which a busy machine takes minutes for. */
const forMany = async (condition: () => void): Promise<void> =>
  eventually('the expectation of this line', condition, { withinMs: 300_000 });

/** Moves the clock on in small steps until the condition holds, with turns for the disk in between. */
const passUntil = async (clock: FakeClock, condition: () => void): Promise<void> =>
  until(async () => {
    for (let step = 0; step < 20 && !holds(condition); step += 1) {
      clock.advance(25);
      await delay(1);
    }
    condition();
  });

function holds(condition: () => void): boolean {
  try {
    condition();
    return true;
  } catch {
    return false;
  }
}

const version = async (path: string) => versionOf(await lstat(path, { bigint: true }));

function box(type: string, content: number, length = content + 8): Buffer {
  const bytes = Buffer.alloc(8 + content);
  bytes.writeUInt32BE(length, 0);
  bytes.write(type, 4, 'latin1');
  return bytes;
}

describe('a complete file', () => {
  test('is offered once, after its settle time and not before', async () => {
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ clock });
    await inbox.watcher.start();
    await writeFile(inbox.at('clip.mp4'), 'content');
    await until(() => {
      clock.advance(0);
      expect(inbox.watcher.settling()).toMatchObject([{ path: 'clip.mp4' }]);
    });
    clock.advance(299);
    await inbox.watcher.rescan();
    expect(inbox.completed).toEqual([]);
    await passUntil(clock, () => expect(inbox.paths).toEqual(['clip.mp4']));
    await inbox.watcher.rescan();
    expect(inbox.completed).toEqual([
      { folder: inbox.path, path: 'clip.mp4', kind: 'media', version: await version(inbox.at('clip.mp4')), flaw: null },
    ]);
    expect(inbox.watcher.counts()).toEqual({ seen: 1, settling: 0, offered: 1, ignored: 0, refused: 0 });
  });

  test('that was there before waits for its settle time too', async () => {
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ clock, folder: { settleMs: 600 } });
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.watcher.start();
    expect(inbox.watcher.settling()).toMatchObject([{ path: 'clip.mp4', size: 7, why: 'unchanged for 0.0 of 0.6 s' }]);
    clock.advance(599);
    await inbox.watcher.rescan();
    expect(inbox.completed).toEqual([]);
    await passUntil(clock, () => expect(inbox.paths).toEqual(['clip.mp4']));
  });

  test('that is known is not offered again, until it or its inode changes', async () => {
    await using other = await WatchedDirectory.create();
    await writeFile(other.at('clip.mp4'), 'content');
    const known = [{ path: 'clip.mp4', version: await version(other.at('clip.mp4')) }];
    await using inbox = await WatchedDirectory.create({ folder: { path: other.path }, known });
    await inbox.watcher.start();
    expect(inbox.watcher.counts()).toMatchObject({ seen: 1, offered: 1 });
    await chmod(inbox.at('clip.mp4'), 0o600);
    await inbox.watcher.rescan();
    await until(() => expect(inbox.completed).toMatchObject([{ path: 'clip.mp4', version: { size: 7 } }]));
    await inbox.watcher.rescan();
    expect(inbox.watcher.counts()).toMatchObject({ settling: 0, offered: 1 });
    await appendFile(inbox.at('clip.mp4'), ' and more');
    await until(() => expect(inbox.completed.slice(1)).toMatchObject([{ path: 'clip.mp4', version: { size: 16 } }]));
  });

  test('is offered again after the sink rejected it', async () => {
    let calls = 0;
    const onComplete = () => ((calls += 1) === 1 ? Promise.reject(new Error('database is locked')) : Promise.resolve());
    await using inbox = await WatchedDirectory.create({ onComplete });
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.watcher.start();
    await until(() => expect(inbox.paths).toEqual(['clip.mp4']));
    expect(calls).toBe(2);
  });

  test('is offered again with its new version when another file is renamed over it', async () => {
    await using inbox = await WatchedDirectory.create();
    await writeFile(inbox.at('clip.mp4'), 'first');
    await inbox.watcher.start();
    await until(() => expect(inbox.completed).toHaveLength(1));
    await writeFile(inbox.at('.new'), 'other');
    await rename(inbox.at('.new'), inbox.at('clip.mp4'));
    await until(() => expect(inbox.completed).toHaveLength(2));
    expect(inbox.completed[1]?.version).toEqual(await version(inbox.at('clip.mp4')));
    expect(inbox.gone).toEqual([]);
  });

  test('is offered when it changed while the sink was busy with it', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let calls = 0;
    const onComplete = () => ((calls += 1) === 1 ? held : Promise.resolve());
    await using inbox = await WatchedDirectory.create({ onComplete, openEvents: deaf });
    await writeFile(inbox.at('clip.mp4'), 'one');
    await inbox.watcher.start();
    await until(() => expect(calls).toBe(1));
    await appendFile(inbox.at('clip.mp4'), ' two');
    await inbox.watcher.rescan();
    release();
    await until(() => expect(inbox.completed.map((file) => file.version.size)).toEqual([3, 7]));
  });

  test('is one of at most 16 that are offered at the same time', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const onComplete = async () => {
      running += 1;
      most = Math.max(most, running);
      await released;
      running -= 1;
    };
    await using inbox = await WatchedDirectory.create({ onComplete });
    for (let index = 0; index < 60; index += 1) await writeFile(inbox.at(`${index}.mp4`), 'x');
    await inbox.watcher.start();
    await until(() => expect(inbox.watcher.settling().every(({ why }) => why === 'being accepted')).toBe(true));
    expect(running).toBe(16);
    release();
    await until(() => expect(inbox.completed).toHaveLength(60));
    expect(most).toBe(16);
  });

  test('may be a sidecar that comes late', async () => {
    await using inbox = await WatchedDirectory.create();
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.watcher.start();
    await until(() => expect(inbox.completed).toHaveLength(1));
    await writeFile(inbox.at('clip.yaml'), 'title: Clip');
    await until(() => expect(inbox.completed[1]).toMatchObject({ path: 'clip.yaml', kind: 'sidecar', flaw: null }));
  });
});

describe('a file that is not finished', () => {
  test('waits for a writer that pauses, three times as long as its longest pause', async () => {
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ clock, openEvents: deaf });
    await inbox.watcher.start();
    for (let part = 0; part < 4; part += 1) {
      await appendFile(inbox.at('clip.mp4'), 'part');
      await inbox.watcher.rescan();
      if (part < 3) clock.advance(250);
    }
    clock.advance(749);
    await inbox.watcher.rescan();
    expect(inbox.completed).toEqual([]);
    await passUntil(clock, () => expect(inbox.completed).toMatchObject([{ version: { size: 16 } }]));
  });

  test('waits its full time however often it is looked at', async () => {
    const clock = new FakeClock();
    const events = manualEvents();
    await using inbox = await WatchedDirectory.create({ clock, openEvents: events.open, folder: { settleMs: 800 } });
    await inbox.watcher.start();
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.watcher.rescan();
    for (let look = 1; look < 8; look += 1) {
      events.last().onEvent(inbox.at('clip.mp4'));
      clock.advance(100);
      await inbox.watcher.rescan();
      expect(inbox.completed).toEqual([]);
    }
    clock.advance(99);
    await inbox.watcher.rescan();
    expect(inbox.completed).toEqual([]);
    await passUntil(clock, () => expect(inbox.completed).toHaveLength(1));
  });

  test('waits although its size is final from the beginning (preallocated)', async () => {
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ clock, openEvents: deaf });
    await inbox.watcher.start();
    await using file = await open(inbox.at('clip.mp4'), 'w');
    await file.truncate(8192);
    for (let block = 0; block < 8; block += 1) {
      await file.write(Buffer.alloc(1024, 1), 0, 1024, block * 1024);
      await inbox.watcher.rescan();
      clock.advance(120);
      expect(inbox.completed).toEqual([]);
    }
    await passUntil(clock, () => expect(inbox.completed).toMatchObject([{ version: { size: 8192 } }]));
  });

  test('waits when the program starts in the middle of the copy', async () => {
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ clock, openEvents: deaf });
    await writeFile(inbox.at('clip.mp4'), '12345678');
    await inbox.watcher.start();
    for (let part = 2; part <= 8; part += 1) {
      clock.advance(150);
      await appendFile(inbox.at('clip.mp4'), '12345678');
      await inbox.watcher.rescan();
      expect(inbox.completed).toEqual([]);
    }
    await passUntil(clock, () => expect(inbox.completed).toMatchObject([{ version: { size: 64 } }]));
  });

  test('waits while another process has it open for writing', needs('/proc'), async () => {
    // The clock of the looks at /proc, which all watchers of a process share.
    await using inbox = await WatchedDirectory.create({ clock: monotonicClock });
    await inbox.watcher.start();
    // A whole video: half a minute of grace for a file that looks unfinished would outlast the patience of this test.
    const clip = new URL('../media/clip.mp4', import.meta.url).pathname;
    const held = spawn('sh', ['-c', `exec 3>>held.mp4; cat '${clip}' >&3; read line`], { cwd: inbox.path });
    await until(() =>
      expect(inbox.watcher.settling()).toMatchObject([{ why: expect.stringContaining(`${held.pid} (sh)`) }]),
    );
    expect(inbox.completed).toEqual([]);
    held.stdin.end();
    await until(() => expect(inbox.paths).toEqual(['held.mp4']));
  });

  test('waits again after a touch or chmod, and is offered once', async () => {
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ clock, openEvents: deaf, folder: { settleMs: 500 } });
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.watcher.start();
    clock.advance(100);
    await utimes(inbox.at('clip.mp4'), 1000, 1000);
    await inbox.watcher.rescan();
    clock.advance(400);
    await chmod(inbox.at('clip.mp4'), 0o600);
    await inbox.watcher.rescan();
    clock.advance(499);
    await inbox.watcher.rescan();
    expect(inbox.completed).toEqual([]);
    await passUntil(clock, () => expect(inbox.completed).toHaveLength(1));
    await inbox.watcher.rescan();
    expect(inbox.completed).toHaveLength(1);
  });

  test('is forgotten silently when it vanishes', async () => {
    await using inbox = await WatchedDirectory.create();
    await inbox.watcher.start();
    await writeFile(inbox.at('clip.mp4'), 'content');
    await until(() => expect(inbox.watcher.settling()).toHaveLength(1));
    await unlink(inbox.at('clip.mp4'));
    await until(() => expect(inbox.watcher.counts().seen).toBe(0));
    await inbox.watcher.rescan();
    expect([inbox.completed, inbox.gone]).toEqual([[], []]);
  });

  test('is offered with its flaw when its container or size says for half a minute that bytes are missing', async () => {
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ clock, openEvents: deaf, folder: { settleMs: 2000 } });
    await writeFile(inbox.at('cut.mp4'), Buffer.concat([box('ftyp', 16), box('moov', 10), box('mdat', 10, 1252)]));
    await writeFile(inbox.at('empty.mp4'), '');
    await writeFile(inbox.at('fine.mp4'), 'no container that we know');
    await inbox.watcher.start();
    await passUntil(clock, () => expect(inbox.paths).toEqual(['fine.mp4']));
    const reasons = ['the container says 1,234 bytes are missing', 'the file is empty'];
    const why = () =>
      inbox.watcher
        .settling()
        .map((file) => file.why)
        .toSorted();
    await passUntil(clock, () => expect(why()).toEqual(reasons));
    clock.advance(29_990 - clock.elapsed());
    await inbox.watcher.rescan();
    expect(inbox.completed).toHaveLength(1);
    await passUntil(clock, () => expect(inbox.completed).toHaveLength(3));
    expect(Object.fromEntries(inbox.completed.map((file) => [file.path, file.flaw]))).toEqual({
      'fine.mp4': null,
      'cut.mp4': reasons[0],
      'empty.mp4': reasons[1],
    });
  });

  test('is sound as soon as its missing bytes arrive', async () => {
    await using inbox = await WatchedDirectory.create();
    await writeFile(inbox.at('clip.mp4'), Buffer.concat([box('ftyp', 16), box('mdat', 10)]));
    await inbox.watcher.start();
    await until(() => expect(inbox.watcher.settling()[0]?.why).toContain('moov'));
    await appendFile(inbox.at('clip.mp4'), box('moov', 0));
    await until(() => expect(inbox.completed).toMatchObject([{ flaw: null }]));
  });

  test('waits while it cannot be read', needs('not root'), async () => {
    await using inbox = await WatchedDirectory.create();
    await writeFile(inbox.at('clip.mp4'), 'content', { mode: 0o000 });
    await inbox.watcher.start();
    await until(() => expect(inbox.watcher.settling()[0]?.why).toContain('EACCES'));
    await chmod(inbox.at('clip.mp4'), 0o600);
    await until(() => expect(inbox.paths).toEqual(['clip.mp4']));
  });
});

describe('a file that leaves', () => {
  test('is reported gone', async () => {
    await using inbox = await WatchedDirectory.create();
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.watcher.start();
    await until(() => expect(inbox.completed).toHaveLength(1));
    await unlink(inbox.at('clip.mp4'));
    await until(() => expect(inbox.gone).toEqual(['clip.mp4']));
    expect(inbox.watcher.counts().seen).toBe(0);
  });

  test.each<[string, (path: string) => Promise<unknown>]>([
    ['a directory', (path) => mkdir(path)],
    ['a symbolic link', (path) => symlink('/etc/passwd', path)],
  ])('and is replaced by %s of the same name is reported gone', async (_what, replace) => {
    await using inbox = await WatchedDirectory.create({ openEvents: deaf });
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.watcher.start();
    await until(() => expect(inbox.completed).toHaveLength(1));
    await unlink(inbox.at('clip.mp4'));
    await replace(inbox.at('clip.mp4'));
    await inbox.watcher.rescan();
    expect(inbox.gone).toEqual(['clip.mp4']);
    expect(inbox.watcher.counts()).toMatchObject({ offered: 0, settling: 0 });
    await inbox.watcher.rescan();
    expect(inbox.gone).toHaveLength(1);
  });

  test('by a rename is offered under its new path before it is gone from the old one', async () => {
    const clock = new FakeClock();
    const order: string[] = [];
    const onComplete = (file: CompleteFile) => Promise.resolve(void order.push(file.path));
    await using inbox = await WatchedDirectory.create({ clock, onComplete, openEvents: deaf });
    await writeFile(inbox.at('a.mp4'), 'content');
    await inbox.watcher.start();
    await passUntil(clock, () => expect(inbox.completed).toHaveLength(1));
    await rename(inbox.at('a.mp4'), inbox.at('b.mp4'));
    await inbox.watcher.rescan();
    expect(inbox.watcher.settling()).toMatchObject([{ path: 'b.mp4' }]);
    await inbox.watcher.rescan();
    expect(inbox.gone).toEqual([]);
    await passUntil(clock, () => expect(order).toEqual(['a.mp4', 'b.mp4']));
    await inbox.watcher.rescan();
    expect(inbox.gone).toEqual(['a.mp4']);
    const [before, after] = inbox.completed;
    expect({ ...after?.version, ctimeNs: '' }).toEqual({ ...before?.version, ctimeNs: '' });
  });

  test('while the program was down is reported gone by the first scan', async () => {
    await using other = await WatchedDirectory.create();
    await writeFile(other.at('clip.mp4'), 'content');
    const known = [{ path: 'clip.mp4', version: await version(other.at('clip.mp4')) }];
    await unlink(other.at('clip.mp4'));
    await using inbox = await WatchedDirectory.create({ folder: { path: other.path }, known });
    await inbox.watcher.start();
    expect(inbox.gone).toEqual(['clip.mp4']);
  });
});

describe('nothing is lost', () => {
  test('in 2,000 new nested directories with a file renamed in at once', async () => {
    await using inbox = await WatchedDirectory.create();
    await inbox.watcher.start();
    const drop =
      "const fs=require('fs');for(let d=0;d<2000;d++){const at=`d${d}/a/b/`;fs.mkdirSync(at,{recursive:true});fs.writeFileSync(at+'x.part','x');fs.renameSync(at+'x.part',at+'x.mp4')}";
    await once(spawn(process.execPath, ['-e', drop], { cwd: inbox.path, stdio: 'ignore' }), 'exit');
    await forMany(() => expect(inbox.completed.length).toBe(2_000));
    expect(new Set(inbox.paths).size).toBe(2_000);
  });

  test('of more files than the kernel queues events of, while the event loop is blocked, after one rescan', async () => {
    await using inbox = await WatchedDirectory.create();
    for (let d = 0; d < 10; d += 1) await mkdir(inbox.at(`d${d}`));
    await inbox.watcher.start();
    // Two events each, of which it keeps 16,384 and drops the others without a word.
    const drop = "const fs=require('fs');for(let f=0;f<9000;f++)fs.writeFileSync(`d${f%10}/${f}.mp4`,'x')";
    spawnSync(process.execPath, ['-e', drop], { cwd: inbox.path });
    await inbox.watcher.rescan();
    expect(inbox.watcher.counts()).toMatchObject({ seen: 9_000, ignored: 0, refused: 0 });
    await forMany(() => expect(inbox.watcher.counts()).toMatchObject({ settling: 0, offered: 9_000 }));
    expect(new Set(inbox.paths).size).toBe(9_000);
  });

  test('of what is moved in as a whole directory', async () => {
    await using outside = await WatchedDirectory.create();
    await mkdir(outside.at('show/one'), { recursive: true });
    await writeFile(outside.at('show/one/clip.mp4'), 'content');
    await using inbox = await WatchedDirectory.create();
    await inbox.watcher.start();
    await rename(outside.at('show'), inbox.at('show'));
    await until(() => expect(inbox.paths).toEqual(['show/one/clip.mp4']));
  });

  test('with polling alone', async () => {
    await using inbox = await WatchedDirectory.create({ folder: { watch: 'polling', rescanMs: 200 } });
    await inbox.watcher.start();
    await mkdir(inbox.at('a'));
    await writeFile(inbox.at('a/clip.mp4'), 'content');
    await until(() => expect(inbox.paths).toEqual(['a/clip.mp4']));
    await unlink(inbox.at('a/clip.mp4'));
    await until(() => expect(inbox.gone).toEqual(['a/clip.mp4']));
  });

  test('at the watch limit it warns once and scans more often', async () => {
    const events = manualEvents();
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ openEvents: events.open, clock });
    await inbox.watcher.start();
    for (let count = 0; count < 62; count += 1) events.last().onError('ENOSPC');
    expect(inbox.states.map((state) => state.state)).toEqual(['watching', 'scanning']);
    await inbox.watcher.rescan();
    await writeFile(inbox.at('clip.mp4'), 'content');
    // 15 s with jitter, not the 600 s of the folder.
    clock.advance(20_000);
    await until(() => expect(inbox.watcher.settling()).toMatchObject([{ path: 'clip.mp4' }]));
  });
});

describe('watches that are incomplete', () => {
  test('because a directory may not be watched: it is named, and they are reopened once it can be read', async () => {
    const { opened, open } = manualEvents();
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({ openEvents: open, clock, folder: { rescanMs: 4000 } });
    await mkdir(inbox.at('closed'));
    await inbox.watcher.start();
    opened[0]?.onError('EACCES', inbox.at('closed'));
    opened[0]?.onError('EACCES', inbox.at('another'));
    opened[0]?.onCaughtUp();
    const why = expect.stringMatching(/"closed".*EACCES/u);
    expect(inbox.states).toEqual([{ state: 'watching' }, { state: 'scanning', why }]);
    await passUntil(clock, () => expect(opened).toHaveLength(2));
    // It counts as closed until its watch is there.
    expect(inbox.states).toHaveLength(2);
    opened[1]?.onCaughtUp();
    expect(inbox.states.at(-1)).toEqual({ state: 'watching' });
    expect(inbox.states).toHaveLength(3);
    await inbox.watcher.rescan();
    expect(opened).toHaveLength(2);
  });

  test('again and again: that is said once', async () => {
    const { opened, open } = manualEvents();
    const clock = new FakeClock();
    await using inbox = await WatchedDirectory.create({
      openEvents: (given) => {
        queueMicrotask(() => {
          given.onError('ENOSPC');
          given.onCaughtUp();
        });
        return open(given);
      },
      clock,
      folder: { rescanMs: 500 },
    });
    await inbox.watcher.start();
    await passUntil(clock, () => expect(opened).toHaveLength(3));
    expect(inbox.states.map(({ state }) => state)).toEqual(['watching', 'scanning']);
  });
});

describe('what is never offered', () => {
  test('links, pipes, sockets and directories with a media name, nor anything behind a link', async () => {
    await using outside = await WatchedDirectory.create();
    await writeFile(outside.at('secret.mp4'), 'content');
    await using inbox = await WatchedDirectory.create();
    await writeFile(inbox.at('real.mp4'), 'content');
    await symlink(outside.at('secret.mp4'), inbox.at('link.mp4'));
    await symlink(outside.path, inbox.at('linked'));
    await symlink('nowhere', inbox.at('dangling.mp4'));
    await symlink('.', inbox.at('loop'));
    await symlink('self.mp4', inbox.at('self.mp4'));
    await mkdir(inbox.at('directory.mp4'));
    spawnSync('mkfifo', [inbox.at('pipe.mp4')]);
    const server = createServer().listen(inbox.at('socket.mp4'));
    await once(server, 'listening');
    await inbox.watcher.start();
    await symlink(outside.at('secret.mp4'), inbox.at('late.mp4'));
    await until(() => expect(inbox.watcher.counts()).toMatchObject({ settling: 0, offered: 1, refused: 8 }));
    await inbox.watcher.rescan();
    server.close();
    expect(inbox.paths).toEqual(['real.mp4']);
    expect(inbox.watcher.counts()).toEqual({ seen: 9, settling: 0, offered: 1, ignored: 0, refused: 8 });
    const refusals = inbox.log.filter((line) => line.message === 'Ignoring path').map((line) => line.fields);
    expect(refusals).toHaveLength(8);
    expect(refusals).toContainEqual({ folder: inbox.path, path: 'pipe.mp4', why: expect.stringContaining('pipe') });
  });

  test('temporary names, foreign files and nested watched folders', async () => {
    await using real = await WatchedDirectory.create();
    await using watched = await WatchedDirectory.create({ folder: { path: real.path, nested: [real.at('nested')] } });
    for (const directory of ['nested', '.cache', '_UNPACK_x']) {
      await mkdir(real.at(directory));
      await writeFile(real.at(`${directory}/clip.mp4`), 'content');
    }
    await writeFile(real.at('notes.txt'), 'content');
    await writeFile(real.at('clip.mp4.part'), 'content');
    await watched.watcher.start();
    expect(watched.watcher.counts()).toEqual({ seen: 4, settling: 0, offered: 0, ignored: 4, refused: 0 });
    expect(watched.watcher.activity().leftOut).toMatchObject({ files: 1, media: 0, paths: ['notes.txt'] });
    await writeFile(real.at('nested/late.mp4'), 'content');
    await writeFile(real.at('.cache/late.mp4'), 'content');
    await writeFile(real.at('clip.mp4'), 'content');
    await until(() => expect(watched.paths).toEqual(['clip.mp4']));
  });

  test('a name that is not UTF-8: it is refused, once, with an escaped name', async () => {
    await using inbox = await WatchedDirectory.create();
    await writeFile(Buffer.concat([Buffer.from(`${inbox.path}/caf`), Buffer.from([0xe9]), Buffer.from('.mp4')]), 'x');
    await inbox.watcher.start();
    await inbox.watcher.rescan();
    expect(inbox.watcher.counts()).toMatchObject({ seen: 1, refused: 1 });
    expect(inbox.log.filter((line) => line.message === 'Ignoring path')).toEqual([
      {
        level: 'warn',
        message: 'Ignoring path',
        fields: { folder: inbox.path, path: 'caf\\xe9.mp4', why: expect.stringContaining('UTF-8') },
      },
    ]);
  });

  test('paths that are longer than the system takes: each is refused with what helps', async () => {
    await using inbox = await WatchedDirectory.create({ openEvents: deaf });
    const name = 'd'.repeat(200);
    // In steps: no single path may be that long.
    const deep = `mkdir top; cd top; while [ \${#PWD} -lt 4000 ]; do mkdir ${name} 2>/dev/null && cd ${name} || break; done
      touch ${'f'.repeat(250)}.mp4; mkdir ${'e'.repeat(250)}; touch ${'e'.repeat(250)}/clip.mp4`;
    expect(spawnSync('bash', ['-c', deep], { cwd: inbox.path }).status).toBe(0);
    await inbox.watcher.start();
    const refused = inbox.watcher.refused(9);
    spawnSync('rm', ['-rf', inbox.at('top')]);
    expect(refused.map(({ why }) => why)).toEqual(Array(2).fill(expect.stringContaining('4,095 bytes')));
  });

  test('nor does it hide a name next to it that only looks damaged', async () => {
    await using inbox = await WatchedDirectory.create({ openEvents: deaf });
    await writeFile(Buffer.concat([Buffer.from(`${inbox.path}/caf`), Buffer.from([0xe9]), Buffer.from('.mp4')]), 'x');
    await writeFile(inbox.at('caf\u{fffd}.mp4'), 'content');
    await inbox.watcher.start();
    await eventually('it is taken', () => expect(inbox.paths).toEqual(['caf\u{fffd}.mp4']));
    expect(inbox.watcher.counts()).toMatchObject({ seen: 2, refused: 1 });
  });

  test('but strange names are', async () => {
    await using inbox = await WatchedDirectory.create();
    const names = [
      'new\nline.mp4',
      `it's "quoted".mp4`,
      '🎬.mp4',
      `${'x'.repeat(251)}.mp4`,
      ' .mp4',
      '$(x);`y`.mp4',
      'a\\b.mp4',
    ];
    await inbox.watcher.start();
    for (const name of names) await writeFile(inbox.at(name), 'content');
    await until(() => expect(inbox.paths).toEqual(names.toSorted()));
  });
});

describe('a folder that goes missing', () => {
  test('freezes: nothing is gone; what comes back unchanged is not offered again', async () => {
    await using base = await WatchedDirectory.create();
    const root = base.at('inbox');
    await mkdir(root);
    await writeFile(join(root, 'a.mp4'), 'content');
    await using inbox = await WatchedDirectory.create({ folder: { path: root, rescanMs: 1000 } });
    await inbox.watcher.start();
    await until(() => expect(inbox.paths).toEqual(['a.mp4']));
    await rename(root, base.at('away'));
    await inbox.watcher.rescan();
    expect(inbox.states.at(-1)).toEqual({ state: 'frozen', why: expect.stringContaining('not exist') });
    expect(inbox.gone).toEqual([]);
    await rename(base.at('away'), root);
    await until(() => expect(inbox.states.at(-1)).toEqual({ state: 'watching' }));
    await writeFile(join(root, 'b.mp4'), 'content');
    await until(() => expect(inbox.paths).toEqual(['a.mp4', 'b.mp4']));
    expect(inbox.gone).toEqual([]);
  });

  test('and is recreated is a healthy empty folder: its files are gone, new ones are found', async () => {
    await using base = await WatchedDirectory.create();
    const root = base.at('inbox');
    await mkdir(root);
    await writeFile(join(root, 'a.mp4'), 'content');
    await using inbox = await WatchedDirectory.create({ folder: { path: root } });
    await inbox.watcher.start();
    await until(() => expect(inbox.paths).toEqual(['a.mp4']));
    await rm(root, { recursive: true });
    await inbox.watcher.rescan();
    expect(inbox.states.at(-1)?.state).toBe('frozen');
    await mkdir(root);
    await until(() => expect(inbox.gone).toEqual(['a.mp4']));
    await writeFile(join(root, 'b.mp4'), 'content');
    await until(() => expect(inbox.paths).toEqual(['a.mp4', 'b.mp4']));
  });

  test('in the middle of every scan is not scanned more often for it', async () => {
    const events = manualEvents();
    const failing: OpenEvents = (given) => {
      queueMicrotask(() => {
        given.onError('EACCES', given.root);
        given.onCaughtUp();
      });
      return events.open(given);
    };
    let scans = 0;
    const accepts = () => {
      scans += 1;
      throw new Error('the disk is broken');
    };
    await using inbox = await WatchedDirectory.create({ openEvents: failing, folder: { accepts } });
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.watcher.start();
    // The scans that the watches asked for are over.
    await inbox.watcher.rescan();
    await inbox.watcher.rescan();
    expect(events.opened).toHaveLength(1);
    expect(scans).toBeLessThan(6);
    expect(inbox.states.at(-1)?.state).toBe('frozen');
  });

  test('before the start is found when it comes', async () => {
    await using base = await WatchedDirectory.create();
    const root = base.at('later');
    await using inbox = await WatchedDirectory.create({ folder: { path: root, rescanMs: 300 } });
    await inbox.watcher.start();
    expect(inbox.states).toEqual([{ state: 'frozen', why: expect.stringContaining('not exist') }]);
    await mkdir(root);
    await writeFile(join(root, 'clip.mp4'), 'content');
    await until(() => expect(inbox.paths).toEqual(['clip.mp4']));
  });

  test('is checked on the disk at once, and freezes', async () => {
    await using base = await WatchedDirectory.create();
    const root = base.at('inbox');
    await mkdir(root);
    await writeFile(join(root, 'a.mp4'), 'content');
    await using inbox = await WatchedDirectory.create({ folder: { path: root }, openEvents: deaf });
    await inbox.watcher.start();
    await until(() => expect(inbox.paths).toEqual(['a.mp4']));
    expect(await inbox.watcher.whyAway('gone.mp4')).toBeNull();
    await rename(root, base.at('away'));
    expect(await inbox.watcher.whyAway('a.mp4')).toContain('not exist');
    expect(inbox.states.at(-1)).toEqual({ state: 'frozen', why: expect.stringContaining('not exist') });
    // The scan that this set going is over, and the next by itself is far away.
    await inbox.watcher.rescan();
    await rename(base.at('away'), root);
    // What was not found while it was away is not believed to be gone the moment it is back.
    expect(await inbox.watcher.whyAway('a.mp4')).toContain('not exist');
    await until(() => expect(inbox.states.at(-1)).toEqual({ state: 'watching' }));
    expect(await inbox.watcher.whyAway()).toBeNull();
    expect([inbox.paths, inbox.gone]).toEqual([['a.mp4'], []]);
  });

  test('for an unnoticed moment, with a file counted as vanished in it: that one is offered again', async () => {
    await using inbox = await WatchedDirectory.create({ openEvents: deaf });
    await writeFile(inbox.at('a.mp4'), 'content');
    await writeFile(inbox.at('b.mp4'), 'content');
    await inbox.watcher.start();
    await until(() => expect(inbox.paths).toEqual(['a.mp4', 'b.mp4']));
    expect(await inbox.watcher.whyAway('a.mp4')).toBeNull();
    await until(() => expect(inbox.paths).toEqual(['a.mp4', 'a.mp4', 'b.mp4']));
    const [first, again] = inbox.completed.filter(({ path }) => path === 'a.mp4');
    expect(again).toEqual(first);
    expect(inbox.gone).toEqual([]);
  });

  test('is no longer probed once it is not watched', async () => {
    await using inbox = await WatchedDirectory.create({ openEvents: deaf });
    await inbox.watcher.start();
    await inbox.watcher[Symbol.asyncDispose]();
    expect(await inbox.watcher.whyAway('a.mp4')).toContain('not being watched');
  });

  test('because it is a file now freezes', async () => {
    await using base = await WatchedDirectory.create();
    await writeFile(base.at('inbox'), '');
    await using inbox = await WatchedDirectory.create({ folder: { path: base.at('inbox') } });
    await inbox.watcher.start();
    expect(inbox.states).toEqual([{ state: 'frozen', why: expect.stringContaining('directory') }]);
  });

  test('by a mount over it freezes; without the mount everything is as before', needs('mount'), async () => {
    await using inbox = await WatchedDirectory.create();
    await writeFile(inbox.at('a.mp4'), 'content');
    await inbox.watcher.start();
    await until(() => expect(inbox.paths).toEqual(['a.mp4']));
    spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', inbox.path]);
    try {
      await writeFile(inbox.at('stray.mp4'), 'content');
      await inbox.watcher.rescan();
      expect(inbox.states.at(-1)).toMatchObject({ state: 'frozen', why: expect.stringContaining('not mounted') });
      expect(inbox.gone).toEqual([]);
    } finally {
      // Busy while the watcher looks at something in it.
      await until(() => expect(spawnSync('umount', [inbox.path]).status).toBe(0));
    }
    await inbox.watcher.rescan();
    // What chokidar heard of the mount may have begun another scan.
    await until(() => expect(inbox.states.at(-1)).toEqual({ state: 'watching' }));
    expect([inbox.paths, inbox.gone]).toEqual([['a.mp4'], []]);
  });

  test(
    'bound to its path and made again since is watched, although nothing of before is in it',
    needs('mount'),
    async () => {
      await using base = await WatchedDirectory.create();
      const [source, home, root] = [base.at('source'), base.at('home'), base.at('home/inbox')];
      await Promise.all([mkdir(source), mkdir(home)]);
      // As systemd hides what else is in /home.
      expect(spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', home]).status).toBe(0);
      await mkdir(root);
      const bind = (): unknown => expect(spawnSync('mount', ['--bind', source, root]).status).toBe(0);
      bind();
      try {
        await writeFile(join(source, 'a.mp4'), 'content');
        await using inbox = await WatchedDirectory.create({ folder: { path: root } });
        await inbox.watcher.start();
        await until(() => expect(inbox.paths).toEqual(['a.mp4']));
        await rename(source, base.at('old'));
        await mkdir(source);
        await until(() => expect(spawnSync('umount', [root]).status).toBe(0));
        bind();
        await inbox.watcher.rescan();
        expect(inbox.states.at(-1)).toEqual({ state: 'watching' });
      } finally {
        for (const each of [root, home]) await until(() => expect(spawnSync('umount', [each]).status).toBe(0));
      }
    },
  );

  test('by an unmount is watched again after the next mount, by events too', needs('mount'), async () => {
    await using base = await WatchedDirectory.create();
    const [disk, root] = [base.at('disk'), base.at('inbox')];
    await Promise.all([mkdir(disk), mkdir(root)]);
    spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', disk]);
    try {
      await mkdir(join(disk, 'inbox'));
      await writeFile(join(disk, 'inbox/a.mp4'), 'content');
      const mount = () => spawnSync('mount', ['--bind', join(disk, 'inbox'), root]);
      mount();
      await using inbox = await WatchedDirectory.create({ folder: { path: root } });
      await inbox.watcher.start();
      await until(() => expect(inbox.paths).toEqual(['a.mp4']));
      await until(() => expect(spawnSync('umount', [root]).status).toBe(0));
      await inbox.watcher.rescan();
      expect(inbox.states.at(-1)?.state).toBe('frozen');
      mount();
      await inbox.watcher.rescan();
      expect(inbox.states.at(-1)).toEqual({ state: 'watching' });
      await writeFile(join(root, 'b.mp4'), 'content');
      await until(() => expect(inbox.paths).toEqual(['a.mp4', 'b.mp4']));
      expect(inbox.gone).toEqual([]);
    } finally {
      spawnSync('umount', [root]);
      spawnSync('umount', [disk]);
    }
  });

  test('before it had any file is accepted when it is mounted, by events too', needs('mount'), async () => {
    let opened = 0;
    const counting: OpenEvents = (options) => {
      const onCaughtUp = (): void => {
        opened += 1;
        options.onCaughtUp();
      };
      return openEvents({ ...options, onCaughtUp });
    };
    await using inbox = await WatchedDirectory.create({ openEvents: counting });
    await inbox.watcher.start();
    // The watches have to be on the directory below the mount.
    await until(() => expect(opened).toBe(1));
    spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', inbox.path]);
    try {
      await inbox.watcher.rescan();
      await until(() => expect(opened).toBe(2));
      await inbox.watcher.rescan();
      await writeFile(inbox.at('clip.mp4'), 'content');
      await until(() => expect(inbox.paths).toEqual(['clip.mp4']));
      expect(inbox.states).toEqual([{ state: 'watching' }]);
    } finally {
      spawnSync('umount', [inbox.path]);
    }
  });

  test('before the start, with known files on another device, freezes; with one of them in it, it is the folder', async () => {
    await using base = await WatchedDirectory.create();
    await writeFile(base.at('kept.mp4'), 'content');
    const kept = await version(base.at('kept.mp4'));
    const elsewhere = { ...kept, dev: '999999', ino: '424242' };
    await using inbox = await WatchedDirectory.create({
      folder: { path: base.path },
      known: [{ path: 'lost.mp4', version: elsewhere }],
    });
    await inbox.watcher.start();
    expect(inbox.states).toMatchObject([{ state: 'frozen' }]);
    expect(await inbox.watcher.whyAway('lost.mp4')).toContain('none of the known files in it');
    expect([inbox.paths, inbox.gone]).toEqual([[], []]);

    await using renumbered = await WatchedDirectory.create({
      folder: { path: base.path },
      known: [
        { path: 'kept.mp4', version: { ...kept, dev: '999999' } },
        { path: 'lost.mp4', version: elsewhere },
      ],
    });
    await renumbered.watcher.start();
    expect(renumbered.gone).toEqual(['lost.mp4']);
    expect(renumbered.watcher.counts()).toMatchObject({ settling: 0, offered: 1 });
  });
});

test('a watcher that is closed offers nothing more and leaves no work behind', async () => {
  const clock = new FakeClock();
  await using inbox = await WatchedDirectory.create({ clock });
  await writeFile(inbox.at('clip.mp4'), 'content');
  await inbox.watcher.start();
  expect(inbox.watcher.settling()).toHaveLength(1);
  await inbox.watcher[Symbol.asyncDispose]();
  await inbox.watcher.rescan();
  expect(clock.timers).toBe(0);
  expect(inbox.completed).toEqual([]);
});

test('closed in the middle of checking many files, it stops', async () => {
  const clock = new FakeClock();
  const closing = Promise.withResolvers<void>();
  const onComplete = (): Promise<void> => closing.promise;
  await using inbox = await WatchedDirectory.create({ clock, folder: { settleMs: 100 }, onComplete });
  await Promise.all(Array.from({ length: 500 }, (_, n) => writeFile(inbox.at(`${n}.mp4`), 'content')));
  await inbox.watcher.start();
  await passUntil(clock, () => expect(inbox.watcher.settling().map(({ why }) => why)).toContain('being accepted'));
  const closed = inbox.watcher[Symbol.asyncDispose]();
  closing.resolve();
  await closed;
  // Those that were being accepted.
  expect(inbox.completed.length).toBeLessThanOrEqual(16);
  expect(clock.timers).toBe(0);
});

/** A namespace of its own is not needed: root may mount, others skip the test. */

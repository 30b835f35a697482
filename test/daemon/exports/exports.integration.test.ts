import { appendFile, mkdir, readdir, readFile, rename, symlink, truncate, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ExportConfig } from '../../../src/config/config.ts';
import { startExports } from '../../../src/daemon/exports.ts';
import { prepareExport } from '../../../src/ledger/exports/export-file.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { DropcastEvent } from '../../../src/pipeline/events.ts';
import { unbound } from '../../../src/pipeline/file/facts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { recordingLogger } from '../../pipeline/silent-logger.ts';
import { created, ready, someFacts, uploaded } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

type ExportedLedger = Parameters<typeof startExports>[0]['ledger'];

afterEach(() => void vi.useRealTimers());

/** A ledger and the exports of a daemon, as often as one starts. */
async function desk({ to = 'links.csv' }: { readonly to?: string } = {}) {
  await using own = new AsyncDisposableStack();
  const scratch = own.use(await scratchDirectory());
  const ledger = own.use(await openLedger(scratch.file('state')));
  const logger = recordingLogger();
  const path = scratch.file(to);
  const exports: readonly ExportConfig[] = [{ path, format: to.endsWith('.csv') ? 'csv' : 'ndjson' }];
  const listeners = new Set<(event: DropcastEvent) => void>();
  /** Set by a test: the daemon dies where it would note how far the file is, this many notes later. */
  const dies = { afterNotes: Infinity };
  const start = (from: ExportedLedger = ledger) =>
    startExports({
      ledger: {
        ...from,
        saveNote: async (name, record) => {
          if ((dies.afterNotes -= 1) < 0) throw new Error('killed');
          await from.saveNote(name, record);
        },
      },
      events: { listen: (listener) => (listeners.add(listener), () => listeners.delete(listener)) },
      logger,
      exports: () => exports,
      linkFiles: { run: async () => undefined },
      feedLinks: { find: (feed) => (feed === 'feed_news' ? 'https://feeds.example.com/news' : null) },
      hostName: null,
    });
  const finish = async (id: string, other: Partial<Facts> = {}, into: Ledger = ledger): Promise<Facts> => {
    const found = await into.load(id);
    const first = found ?? (await into.insert(someFacts({ id, path: `${id}.mp4` })).then(() => into.load(id)));
    if (first === null) throw new Error('there is no row');
    const sent = await into.save({ ...first, ...created, videoId: `vid_${id}`, ...other });
    const processed = await into.save({ ...sent, ...uploaded, videoId: sent.videoId });
    const embedUrl = `https://video.example.com/embed/${sent.videoId ?? ''}`;
    const plan = processed.plan && { ...processed.plan, publish: ['feed_news', 'feed_other'] };
    const published = { feed_news: 5, feed_other: 5 };
    return into.save({
      ...processed,
      ...ready,
      videoId: sent.videoId,
      embedUrl,
      plan,
      published,
      end: 'done',
      endedAt: 60_000,
    });
  };
  const moved = own.move();
  return {
    ledger,
    logger,
    path,
    scratch,
    dies,
    start,
    finish,
    /** The file gets another video. */
    again: async (id: string) => {
      const done = await ledger.load(id);
      if (done === null) throw new Error('there is no row');
      await ledger.save({ ...done, ...unbound, end: null, endedAt: null });
      return finish(id, { videoId: 'vid_again' });
    },
    /** Starts, writes what is missing, and stops. */
    once: async () => {
      await using exports = start();
      await exports.run();
    },
    happens: (event: DropcastEvent) => listeners.forEach((listener) => listener(event)),
    text: () => readFile(path, 'utf8'),
    ids: async () =>
      [...(await readFile(path, 'utf8')).matchAll(/(?<!\/)vid_\w+(?=,http|","embed)/g)].map(([id]) => id),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

describe('exports', () => {
  test('one line for each finished video, in CSV', async () => {
    await using it = await desk();
    await it.finish('one');
    await it.once();
    expect(await it.text()).toBe(
      [
        'path,title,channel,video_id,embed_url,feed_urls,discovered_at,uploaded_at,ready_at,done_at\r\n',
        '/inbox/one.mp4,Clip,ch_main,vid_one,https://video.example.com/embed/vid_one,https://feeds.example.com/news,',
        '1970-01-01T00:00:00.000Z,1970-01-01T00:00:00.003Z,1970-01-01T00:00:00.004Z,1970-01-01T00:01:00.000Z\r\n',
      ].join(''),
    );
  });

  test('and in NDJSON', async () => {
    await using it = await desk({ to: 'links.ndjson' });
    await it.finish('one');
    await it.once();
    expect(JSON.parse(await it.text())).toMatchObject({
      v: 1,
      video_id: 'vid_one',
      embed_url: 'https://video.example.com/embed/vid_one',
      done_at: '1970-01-01T00:01:00.000Z',
    });
  });

  test('a video that finished is written at once, and never twice', async () => {
    await using it = await desk();
    await using exports = it.start();
    await exports.run();
    const done = await it.finish('one');
    it.happens({ type: 'file', before: null, facts: done, note: null });
    await exports.run();
    // Later lines of the history concern the local file.
    await it.ledger.save({ ...done, disposal: 'moved' }, 'moved');
    await exports.run();
    await it.finish('two');
    await exports.run();
    await it.once();
    expect(await it.ids()).toEqual(['vid_one', 'vid_two']);
  });

  test('a file that got another video has a line for each', async () => {
    await using it = await desk();
    await it.finish('one');
    await it.once();
    await it.again('one');
    await it.once();
    expect(await it.ids()).toEqual(['vid_one', 'vid_again']);
  });

  test('a row that was rebuilt from a receipt has the same video, and no second line', async () => {
    await using it = await desk();
    await it.finish('one');
    await it.once();
    await it.finish('one', { end: null, endedAt: null, readyAt: null });
    await it.once();
    expect(await it.ids()).toEqual(['vid_one']);
  });

  test('of a file that got another video before its first line was written, only the last is known', async () => {
    await using it = await desk();
    await it.finish('one');
    await it.again('one');
    await it.once();
    expect(await it.ids()).toEqual(['vid_again']);
  });

  test.each([0, 1, 2, 3, 4])('killed at note %d, the next start writes each video once', async (notes) => {
    await using it = await desk();
    await it.finish('one');
    it.dies.afterNotes = notes;
    await it.once();
    await it.finish('two');
    await it.once();
    it.dies.afterNotes = Infinity;
    await it.once();
    expect(await it.ids()).toEqual(['vid_one', 'vid_two']);
  });

  test('a line that was cut in the middle is written again', async () => {
    await using it = await desk();
    await it.finish('one');
    await it.once();
    await appendFile(it.path, '/srv/in/two.mp4,cl');
    await it.finish('two');
    await it.once();
    expect(await it.ids()).toEqual(['vid_one', 'vid_two']);
    expect((await it.text()).split('\r\n')).toHaveLength(4);
  });

  test('a file that was moved away or shortened is continued', async () => {
    await using it = await desk();
    await it.finish('one');
    await it.once();
    await rename(it.path, `${it.path}.taken`);
    await it.finish('two');
    await it.once();
    expect(await it.ids()).toEqual(['vid_two']);
    await truncate(it.path, 0);
    await it.finish('three');
    await it.once();
    expect(await it.text()).toMatch(/^path,.*\r\n.*vid_three.*\r\n$/);
  });

  test('a new ledger, which writes all videos again, starts a new file', async () => {
    await using it = await desk();
    await it.finish('one');
    await it.once();
    await using ledger = await openLedger(it.scratch.file('other'));
    await using again = it.start(ledger);
    await it.finish('two', {}, ledger);
    await again.run();
    expect(await it.ids()).toEqual(['vid_two']);
    expect(await readFile(it.scratch.file('links.1.csv'), 'utf8')).toContain('vid_one');
  });

  test.each(['mine', 'mine\n', 'path,title\r\n'])('a file of another program, %j, is put aside whole', async (text) => {
    await using it = await desk();
    await writeFile(it.path, text);
    await it.finish('one');
    await it.once();
    expect(await readFile(it.scratch.file('links.1.csv'), 'utf8')).toBe(text);
    expect(await it.text()).toMatch(/^path,.*\r\n.*vid_one.*\r\n$/);
  });

  test('a file that replaced the known one keeps its text', async () => {
    await using it = await desk();
    await it.finish('one');
    await it.once();
    await writeFile(`${it.path}.other`, 'mine');
    await rename(`${it.path}.other`, it.path);
    await it.finish('two');
    await it.once();
    expect(await it.text()).toMatch(/^mine\n.*vid_two.*\r\n$/);
  });

  test('a call that hangs does not keep the daemon from stopping', async () => {
    await using it = await desk();
    await it.finish('one');
    const hung = Promise.withResolvers<void>();
    const saving = vi.fn(() => hung.promise);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const exports = it.start({ ...it.ledger, saveNote: saving });
    void exports.run();
    await vi.waitUntil(() => saving.mock.calls.length === 1);
    const stopped = exports[Symbol.asyncDispose]();
    await vi.advanceTimersByTimeAsync(5_000);
    await stopped;
    // A stopped export writes no further line.
    hung.resolve();
    await exports.run();
    expect(await it.ids()).toEqual([]);
  });

  test.each([
    ['a symbolic link', (path: string) => symlink('/etc/passwd', path)],
    ['a directory', (path: string) => mkdir(path)],
  ])('%s in its place is refused with a warning, once, and nothing is lost', async (_, put) => {
    await using it = await desk();
    await put(it.path);
    await it.finish('one');
    await it.once();
    expect(it.logger.lines.filter(({ message }) => /Cannot write an export/.test(message))).toHaveLength(1);
    await rename(it.path, `${it.path}.other`);
    await it.once();
    expect(await it.ids()).toEqual(['vid_one']);
  });

  test('more videos than one write takes', async () => {
    await using it = await desk();
    for (let n = 0; n < 520; n += 1) await it.finish(`n${n}`);
    await it.once();
    expect(new Set(await it.ids()).size).toBe(520);
    expect(await it.ids()).toHaveLength(520);
  });

  test('a cell that a spreadsheet would run starts with an apostrophe, and no name breaks a line', async () => {
    await using it = await desk();
    const title = '=cmd|"/C calc"!A0';
    const row = someFacts({ id: 'one', path: 'a,\r\nb.mp4' });
    await it.ledger.insert({ ...row, plan: row.plan && { ...row.plan, title } });
    await it.finish('one');
    await it.once();
    const [, line = ''] = (await it.text()).split('\r\n');
    expect(line).toContain(`"'=cmd|""/C calc""!A0"`);
    expect(line).toContain('"/inbox/a,\\r\\nb.mp4",');
  });
});

test('a full file is rotated to the next free name', async () => {
  await using scratch = await scratchDirectory();
  const path = scratch.file('links.csv');
  await writeFile(path, 'x'.repeat(100));
  await writeFile(scratch.file('links.1.csv'), 'older');
  const { size } = await prepareExport(path, null, 'header\n', 100);
  expect(size).toBe(7);
  expect((await readdir(scratch.path)).toSorted()).toEqual(['links.1.csv', 'links.2.csv', 'links.csv']);
});

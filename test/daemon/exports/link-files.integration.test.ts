import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { createLinkFiles } from '../../../src/daemon/link-files.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { createRows } from '../../../src/pipeline/file/rows.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { recordingLogger } from '../../pipeline/silent-logger.ts';
import { ready, someFacts } from '../../pipeline/some-facts.ts';
import { someFolderConfig } from '../../support/folder-config.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

/** A ledger and a folder with link files, as often as a daemon starts. */
async function desk() {
  await using own = new AsyncDisposableStack();
  const scratch = own.use(await scratchDirectory());
  const ledger = own.use(await openLedger(scratch.file('state')));
  const logger = recordingLogger();
  const folder = scratch.file('inbox');
  await mkdir(folder);
  const world = { away: null as string | null, isStopped: false };
  /** Set by a test: the process dies at this write of the ledger, counted from 0. */
  const dies = { at: Infinity };
  const unlessDead =
    <A extends unknown[], T>(write: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      if ((dies.at -= 1) < 0) throw new Error('killed');
      return write(...args);
    };
  const start = () =>
    createLinkFiles({
      ledger: { ...ledger, saveNote: unlessDead(ledger.saveNote) },
      rows: createRows({ store: { ...ledger, save: unlessDead(ledger.save) }, events: { emit: () => undefined } }),
      feedLinks: { find: (feed) => `https://feeds.example.com/${feed}` },
      logger,
      folders: () => [someFolderConfig(folder, { beside: true })],
      whyOffLimits: () => world.away,
      hostName: null,
    });
  const moved = own.move();
  return {
    ledger,
    logger,
    folder,
    world,
    dies,
    start,
    finish: async (id: string, other: Partial<Facts> = {}) => {
      await ledger.insert(someFacts({ id, folder, path: `${id}.mp4` }));
      const facts = await ledger.load(id);
      if (facts === null) throw new Error('there is no row');
      const published = { feed_news: 5 };
      return ledger.save({
        ...facts,
        ...ready,
        videoId: `vid_${id}`,
        published,
        end: 'done',
        endedAt: 60_000,
        ...other,
      });
    },
    /** Starts, writes what is missing, and stops. */
    once: async () => (await start()).run(() => world.isStopped),
    names: async () => (await readdir(folder)).toSorted(),
    linkFile: async (id: string) => (await ledger.load(id))?.linkFile,
    notes: async (id: string) =>
      (await ledger.history(id)).flatMap(({ note }) => (note?.includes('link file') === true ? [note] : [])),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

describe('link files', () => {
  test('are written for videos that finish since they are wanted, with all addresses', async () => {
    await using it = await desk();
    await it.finish('before');
    const files = await it.start();
    await it.finish('one', { embedUrl: 'https://video.example.com/embed/1' });
    await files.run(() => false);
    expect(await it.names()).toEqual(['one.mp4.dropcast.json']);
    expect(JSON.parse(await readFile(`${it.folder}/one.mp4.dropcast.json`, 'utf8'))).toEqual({
      v: 1,
      written_by: 'dropcast',
      file: 'one',
      path: `${it.folder}/one.mp4`,
      title: 'Clip',
      channel: 'ch_main',
      video_id: 'vid_one',
      embed_url: 'https://video.example.com/embed/1',
      feeds: [
        { feed: 'feed_news', url: 'https://feeds.example.com/feed_news', published_at: '1970-01-01T00:00:00.005Z' },
      ],
      discovered_at: '1970-01-01T00:00:00.000Z',
      uploaded_at: '1970-01-01T00:00:00.003Z',
      ready_at: '1970-01-01T00:00:00.004Z',
      done_at: '1970-01-01T00:01:00.000Z',
    });
    expect(await it.linkFile('one')).toEqual({ path: 'one.mp4.dropcast.json' });
  });

  test('wait until a file that is moved or deleted is gone, and go where it went', async () => {
    await using it = await desk();
    await it.once();
    await mkdir(`${it.folder}/done`);
    const moved = await it.finish('moved', { disposal: 'pending' });
    const deleted = await it.finish('deleted', { disposal: 'pending' });
    await it.once();
    expect(await it.names()).toEqual(['done']);
    await it.ledger.save({ ...moved, path: 'done/moved.mp4', disposal: 'moved' }, 'moved');
    await it.ledger.save({ ...deleted, disposal: 'deleted' }, 'deleted');
    await it.once();
    expect(await it.names()).toEqual(['deleted.mp4.dropcast.json', 'done']);
    expect(await readdir(`${it.folder}/done`)).toEqual(['moved.mp4.dropcast.json']);
  });

  test('that a person deleted are not written again', async () => {
    await using it = await desk();
    await it.once();
    const facts = await it.finish('one');
    await it.once();
    await rm(`${it.folder}/one.mp4.dropcast.json`);
    const now = await it.ledger.load('one');
    await it.ledger.save({ ...facts, ...now, disposal: 'kept' }, 'kept');
    await it.once();
    expect(await it.names()).toEqual([]);
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'are there once for each video, also if the daemon is killed at write %d',
    async (at) => {
      await using it = await desk();
      await it.once();
      await it.finish('one');
      await it.finish('two');
      it.dies.at = at;
      await it.once().catch(() => undefined);
      it.dies.at = Infinity;
      await it.once();
      await it.once();
      expect(await it.names()).toEqual(['one.mp4.dropcast.json', 'two.mp4.dropcast.json']);
      expect(await it.notes('one')).toEqual(['link file written: one.mp4.dropcast.json']);
      expect(await it.linkFile('two')).toEqual({ path: 'two.mp4.dropcast.json' });
    },
  );

  test('of a read-only folder are one warning and a reason, and are written once the folder can be written', async () => {
    await using it = await desk();
    await it.once();
    await it.finish('one');
    await it.finish('two');
    it.world.away = 'it is not mounted';
    const files = await it.start();
    await files.run(() => false);
    await files.run(() => false);
    expect(it.logger.lines.map(({ message }) => message)).toEqual([
      'Cannot write link files; dropcast tries again every minute',
    ]);
    expect(await it.linkFile('one')).toEqual({ why: 'it is not mounted' });
    expect(await it.notes('one')).toEqual(['no link file: it is not mounted']);
    it.world.away = null;
    await it.once();
    expect(await it.names()).toEqual(['one.mp4.dropcast.json', 'two.mp4.dropcast.json']);
    expect(await it.linkFile('one')).toEqual({ path: 'one.mp4.dropcast.json' });
  });

  // Each video that finished after it logged the same warning again.
  test('of a name that is too long are one warning in words, while those of other videos are written', async () => {
    await using it = await desk();
    const files = await it.start();
    await it.finish('x'.repeat(246));
    for (const id of ['one', 'two', 'three']) {
      await it.finish(id);
      await files.run(() => false);
    }
    expect(it.logger.lines.map(({ message, fields }) => [message, fields['why']])).toEqual([
      ['Cannot write link files; dropcast tries again every minute', 'the name is too long (ENAMETOOLONG)'],
    ]);
    expect(await it.linkFile('three')).toEqual({ path: 'three.mp4.dropcast.json' });
  });

  test('never take the place of another file, and do not keep those of other videos back', async () => {
    await using it = await desk();
    await it.once();
    await writeFile(`${it.folder}/one.mp4.dropcast.json`, 'mine');
    await it.finish('one');
    await it.finish('two');
    await it.once();
    expect(await readFile(`${it.folder}/one.mp4.dropcast.json`, 'utf8')).toBe('mine');
    expect(await it.linkFile('one')).toEqual({ why: '"one.mp4.dropcast.json" is not a link file of dropcast' });
    expect(await it.names()).toContain('two.mp4.dropcast.json');
  });
});

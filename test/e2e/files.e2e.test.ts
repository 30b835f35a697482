import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFile,
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { alongside } from './alongside.ts';
import { dropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import { expectUploadedOnce, isCreate, startStation } from './station.ts';
import type { Station } from './station.ts';
import type { Settings } from '../support/configuration.ts';
import { answer } from './answers.ts';

const truncatedSample = new URL('../media/truncated.mp4', import.meta.url);

/** More than the kernel's socket buffers hold. */
const beyondBuffers = 48 * 1024 * 1024;

const folders: Settings['folders'] = [
  {
    rules: [
      { match: 'unruled/{x}/**', channel: 'ch_main' },
      { match: '{top}/**', channel: 'ch_main', tags: ['{top}'] },
      { match: '*', channel: 'ch_main', title: '{title}' },
    ],
  },
  { path: 'inbox/special', rules: [{ match: '**', channel: 'ch_news' }] },
  { path: 'deleting', after_ready: 'delete' as const },
  { path: 'moving', after_ready: { move: 'done/{dir}' } },
  { path: 'mounted' },
  { path: 'steady', on_change: 'ignore' as const, on_duplicate: 'upload' as const },
].map((folder) => ({ rescan: '1s', ...folder }));

/** A daemon for the tests of a group, and what they do with it. */
interface World {
  readonly station: Station;
  /** Absolute path of something in the scratch directory. */
  at(path: string): string;
  /** The paths of all files that dropcast has taken, or waits for. */
  known(): Promise<readonly string[]>;
  /** Whether an upload request of a title has arrived. */
  hasBegun(title: string): boolean;
  /** Upload requests of a title wait until the returned function is called. */
  holdUploads(title: string): () => void;
  /** Both slots for create requests are taken until the returned function is called: whatever comes now waits for its turn. */
  holdTurns(name: string): Promise<() => void>;
  /** Everything that was dropped before this has been looked at when a file dropped now is through. */
  everythingWasSeen(name: string): Promise<void>;
}

/** Starts the daemon of the surrounding group. */
function inWorld(): () => World {
  let world: World | null = null;
  beforeAll(async () => {
    world = makeWorld(await startStation({ folders, isStarted: false }));
    for (const folder of ['inbox/special', 'deleting', 'moving', 'mounted', 'steady']) await mkdir(world.at(folder));
    await world.station.start();
  });
  afterEach(() => Object.assign(world?.station.faults ?? {}, { api: null, upload: null }));
  afterAll(() => world?.station[Symbol.asyncDispose]());
  return () => {
    if (world === null) throw new Error('the daemon did not start');
    return world;
  };
}

function makeWorld(station: Station): World {
  return {
    station,
    at: (path) => station.scratch.file(path),
    known: async () => {
      const { files, settling } = await station.files();
      return [...files, ...settling].map(({ path }) => path);
    },
    hasBegun: (title) => station.host.puts.some((id) => station.host.videos.get(id)?.title === title),
    holdUploads: (title) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      station.faults.upload = async (_, __, id) => {
        if (station.host.videos.get(id)?.title === title) await promise;
        return false;
      };
      return resolve;
    },
    holdTurns: async (name) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      station.faults.api = async (request, _, body) => {
        if (isCreate(request) && body.includes(`"${name}-`)) await promise;
        return false;
      };
      for (const n of [1, 2]) await station.drop(`${name}-${n}.mpg`);
      for (const n of [1, 2]) await station.reaches(`${name}-${n}.mpg`, 'creating');
      return resolve;
    },
    everythingWasSeen: async (name) => {
      await station.drop(`${name}.mpg`);
      await station.reaches(`${name}.mpg`, 'done');
    },
  };
}

alongside('names', () => {
  const world = inWorld();

  const names = [
    'line\nbreak.mp4',
    `quotes ' " \` $(reboot).mp4`,
    'emoji 🎬 ü.mp4',
    '-rf.mp4',
    'back\\slash.mp4',
    '{title} %s <b>.mp4',
    '\u001b[31mred.mp4',
    `${'n'.repeat(251)}.mp4`,
  ];
  test('odd names are uploaded like all others, and forge no line of the log', async () => {
    const { station } = world();
    for (const name of names) await station.drop(`odd/${name}`);
    for (const name of names) {
      const file = await station.reaches(`odd/${name}`, 'done');
      expect(file.tags).toEqual(['odd']);
      expect(station.videos(file.title ?? '')).toHaveLength(1);
    }
    const lines = station.daemon().output().split('\n').filter(Boolean);
    const isWarningOfTheConfig = (line: string): boolean => line.includes('folders[1].path: warning: ');
    expect(lines.filter((line) => !line.startsWith('{') && !isWarningOfTheConfig(line))).toEqual([]);
    const { stdout } = await dropcast(['ls', '--config', station.scratch.config]);
    expect(stdout).not.toContain('\u001b[31m');
    expect(stdout.split('\n').filter((line) => line.startsWith('break'))).toEqual([]);
  });

  test('hidden, temporary and partial names, and what nothing includes, are left alone', async () => {
    const { station, known, everythingWasSeen } = world();
    for (const name of ['.hidden.mp4', 'a.mp4.part', 'b.mp4.crdownload', '~$c.mp4', '.sync/d.mp4', 'notes.txt'])
      await station.drop(name);
    await everythingWasSeen('after-hidden');
    const leftAlone = /\.hidden|\/a\.mp4|\/b\.mp4|~\$c|\.sync|notes/;
    expect((await known()).filter((path) => leftAlone.test(path))).toEqual([]);
  });
});

alongside('what is not a regular file', () => {
  const world = inWorld();

  test('links in, out and into nowhere, FIFO, socket, a directory named like a video: none of it is sent', async () => {
    const { station, at, known, everythingWasSeen } = world();
    const secret = at('outside.mp4');
    await writeFile(secret, randomBytes(500));
    await mkdir(at('elsewhere'));
    await writeFile(at('elsewhere/inner.mp4'), randomBytes(500));
    await mkdir(at('inbox/directory.mp4'));
    await symlink(secret, at('inbox/link-out.mp4'));
    await symlink(at('inbox/after-links.mpg'), at('inbox/link-in.mp4'));
    await symlink('/nowhere/at/all.mp4', at('inbox/dangling.mp4'));
    await symlink(at('elsewhere'), at('inbox/linked-directory'));
    execFileSync('mkfifo', [at('inbox/fifo.mp4')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at('inbox/socket.mp4'), resolve));
    try {
      await everythingWasSeen('after-links');
      const strange = /link-out|link-in|dangling|fifo\.mp4|socket\.mp4|directory/;
      expect((await known()).filter((path) => strange.test(path))).toEqual([]);
      for (const name of ['link-out.mp4', 'dangling.mp4', 'fifo.mp4', 'socket.mp4', 'linked-directory']) {
        const ignored = new RegExp(`Ignoring path.*${name}`);
        await until(`it logs that it ignores ${name}`, () => ignored.test(station.daemon().output()));
      }
      const explained = await dropcast(['explain', at('inbox/fifo.mp4'), '--config', station.scratch.config]);
      expect(explained.stdout).toMatch(/Ignored: .*regular file/);
    } finally {
      server.close();
    }
  });
});

alongside('content', () => {
  const world = inWorld();

  test('the same content again is skipped with the name of the first; `retry` uploads it anyway', async () => {
    const { station } = world();
    const body = randomBytes(5_000);
    await station.drop('first.mpg', body);
    const first = await station.reaches('first.mpg', 'done');
    await station.drop('second.mpg', body);
    const skipped = await station.reaches('second.mpg', 'skipped');
    expect(skipped.why).toContain(`duplicate of first.mpg (${first.id}, video ${first.video_id})`);
    expect(station.videos('second')).toHaveLength(0);
    await station.retry('second.mpg');
    await station.reaches('second.mpg', 'done');
    expectUploadedOnce(station, 'second');
  });

  test('the same content in two files at once: one was uploaded, one was skipped', async () => {
    const { station } = world();
    const twins = randomBytes(3_000_000);
    await Promise.all([station.drop('twin-a.mpg', twins), station.drop('twin-b.mpg', twins)]);
    await until('one is done and one skipped', async () => {
      const states = new Set([(await station.file('twin-a.mpg'))?.state, (await station.file('twin-b.mpg'))?.state]);
      return states.has('done') && states.has('skipped');
    });
    expect([...station.videos('twin-a'), ...station.videos('twin-b')]).toHaveLength(1);
  });

  test('on_duplicate: upload makes a video of each', async () => {
    const { station, at } = world();
    const body = randomBytes(5_000);
    await station.drop(at('steady/same-1.mpg'), body);
    await station.drop(at('steady/same-2.mpg'), body);
    await station.reaches(at('steady/same-1.mpg'), 'done');
    await station.reaches(at('steady/same-2.mpg'), 'done');
    for (const title of ['same-1', 'same-2']) {
      expect(station.videos(title)).toHaveLength(1);
      expectUploadedOnce(station, title);
    }
  });

  test('new content at the same path is a new video; a touch changes nothing', async () => {
    const { station, at, everythingWasSeen } = world();
    await station.drop('news.mpg');
    const before = await station.reaches('news.mpg', 'done');
    const later = new Date(Date.now() + 5_000);
    await utimes(at('inbox/news.mpg'), later, later);
    await everythingWasSeen('after-touch');
    expect((await station.file('news.mpg'))?.id).toBe(before.id);
    expect(station.videos('news')).toHaveLength(1);
    await station.drop('news.mpg', randomBytes(2_500));
    await until(
      'a second video is there',
      () => station.videos('news').filter(({ bodies }) => bodies.length === 1).length === 2,
    );
    const after = await station.reaches('news.mpg', 'done');
    expect(after.id).not.toBe(before.id);
  });

  test('on_change: ignore leaves the first video as it is', async () => {
    const { station, at } = world();
    await station.drop(at('steady/kept.mpg'));
    await station.reaches(at('steady/kept.mpg'), 'done');
    await station.drop(at('steady/kept.mpg'), randomBytes(777));
    await until('the change was noted', async () =>
      (await station.show(at('steady/kept.mpg'))).history.some(({ note }) => note?.includes('ignored') === true),
    );
    expect(station.videos('kept')).toHaveLength(1);
  });

  test('a growing file is not taken before it stops growing', async () => {
    const { station } = world();
    const path = await station.drop('growing.mpg', randomBytes(1_000));
    const writer = await open(path, 'a');
    for (let n = 0; n < 8; n += 1) {
      await writer.write(randomBytes(1_000));
      // A moment in which it is not to be taken.
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await station.file('growing.mpg')).toBeNull();
    }
    await writer.close();
    const done = await station.reaches('growing.mpg', 'done');
    expect(done.size).toBe(9_000);
    expectUploadedOnce(station, 'growing');
  });
});

alongside('changes on the way', () => {
  const world = inWorld();

  test('a file that vanishes while it settles leaves no trace', async () => {
    const { station, at, everythingWasSeen } = world();
    await station.drop('fleeting.mpg');
    await rm(at('inbox/fleeting.mpg'));
    await everythingWasSeen('after-fleeting');
    expect(await station.file('fleeting.mpg')).toBeNull();
  });

  test('a file that vanishes while it waits for its turn is vanished, and comes back when it is restored', async () => {
    const { station, at, holdTurns, everythingWasSeen } = world();
    const release = await holdTurns('in-front');
    await station.drop('waiting.mpg');
    await station.reaches('waiting.mpg', 'queued');
    await rename(at('inbox/waiting.mpg'), at('waiting.aside'));
    await station.reaches('waiting.mpg', 'vanished');
    release();
    await everythingWasSeen('after-vanished');
    expect(station.videos('waiting')).toHaveLength(0);
    await rename(at('waiting.aside'), at('inbox/waiting.mpg'));
    await station.reaches('waiting.mpg', 'done');
    expectUploadedOnce(station, 'waiting');
  });

  test('a file deleted in the middle of its upload is still sent whole from the open descriptor, or not at all', async () => {
    const { station, at, holdUploads } = world();
    const release = holdUploads('deleted-midway');
    await station.drop('deleted-midway.mpg', randomBytes(beyondBuffers));
    await station.reaches('deleted-midway.mpg', 'uploading');
    await rm(at('inbox/deleted-midway.mpg'));
    release();
    await until('it ended', async () =>
      ['done', 'vanished'].includes((await station.file('deleted-midway.mpg'))?.state ?? ''),
    );
    const { state } = (await station.file('deleted-midway.mpg')) ?? {};
    const bodies = station.videos('deleted-midway').flatMap((video) => video.bodies);
    expect(bodies).toHaveLength(state === 'done' ? 1 : 0);
  });

  test('a file written to in the middle of its upload: the old bytes never become a video, the new ones once', async () => {
    const { station, holdUploads } = world();
    const release = holdUploads('rewritten');
    const path = await station.drop('rewritten.mpg', randomBytes(beyondBuffers));
    const old = await station.reaches('rewritten.mpg', 'uploading');
    await appendFile(path, randomBytes(1_000));
    release();
    await until(
      'the new version is known',
      async () => ((await station.file('rewritten.mpg'))?.id ?? old.id) !== old.id,
    );
    const done = await station.reaches('rewritten.mpg', 'done');
    expect(done.size).toBe(beyondBuffers + 1_000);
    expectUploadedOnce(station, 'rewritten');
    const failures = await station.failures('rewritten.mpg');
    expect(failures.map((line) => line.class)).toEqual(['changed']);
  });

  test('a file renamed while it waits for its turn is sent once, under its new name', async () => {
    const { station, at, holdTurns } = world();
    const release = await holdTurns('ahead');
    await station.drop('early-name.mpg');
    const { id } = await station.reaches('early-name.mpg', 'queued');
    await rename(at('inbox/early-name.mpg'), at('inbox/late-name.mpg'));
    await until('it is known by its new name', async () => (await station.file('late-name.mpg'))?.id === id);
    release();
    await station.reaches('late-name.mpg', 'done');
    expectUploadedOnce(station, 'late-name');
    expect(station.videos('early-name')).toHaveLength(0);
  });

  test('a rename during and after the upload stays one file with one video', async () => {
    const { station, at, hasBegun, holdUploads } = world();
    const release = holdUploads('renamed');
    await station.drop('renamed.mpg', randomBytes(beyondBuffers));
    const { id } = await station.reaches('renamed.mpg', 'uploading');
    // Before the file is open a rename takes it back to its judgement, and its video gets the new title.
    await until('its bytes are on their way', () => hasBegun('renamed'));
    await rename(at('inbox/renamed.mpg'), at('inbox/renamed once.mpg'));
    release();
    await until(
      'it is done',
      async () => (await station.files()).files.find((file) => file.id === id)?.state === 'done',
    );
    await mkdir(at('inbox/attic'), { recursive: true });
    await rename(at('inbox/renamed once.mpg'), at('inbox/attic/renamed twice.mpg'));
    await until('it is known by its new name', async () => (await station.file('attic/renamed twice.mpg'))?.id === id);
    expectUploadedOnce(station, 'renamed');
    for (const title of ['renamed once', 'renamed twice']) expect(station.videos(title)).toHaveLength(0);
  });
});

alongside('links and sidecars', () => {
  const world = inWorld();

  test('.url and .webloc files are imported by the service, with no upload and no query string shown', async () => {
    const { station } = world();
    await station.drop('talk.url', '[InternetShortcut]\r\nURL=https://media.example.com/talk.mp4?token=abc\r\n');
    await station.drop(
      'show.webloc',
      '<?xml version="1.0"?><plist version="1.0"><dict><key>URL</key><string>https://media.example.com/show.mp4</string></dict></plist>',
    );
    const talk = await station.reaches('talk.url', 'done');
    await station.reaches('show.webloc', 'done');
    expect(station.videos('talk')).toMatchObject([
      { sourceUrl: 'https://media.example.com/talk.mp4?token=abc', bodies: [] },
    ]);
    expect(station.videos('show')).toMatchObject([{ sourceUrl: 'https://media.example.com/show.mp4', bodies: [] }]);
    expect(talk.source_url).toBe('https://media.example.com/talk.mp4?…');
    const imported = [...station.videos('talk'), ...station.videos('show')];
    expect(imported.filter(({ id }) => station.host.puts.includes(id))).toEqual([]);
  });

  test('a link file without an address is held with the reason', async () => {
    const { station } = world();
    await station.drop('empty-link.url', '[InternetShortcut]\r\n');
    expect((await station.reaches('empty-link.url', 'held')).why).toContain('no address');
  });

  test('a sidecar next to the file sets title and channel and adds tags', async () => {
    const { station } = world();
    await station.drop('shows/beside.yaml', 'title: From the sidecar\ntags: [extra]\nchannel: ch_news\n');
    await station.drop('shows/beside.mpg');
    await station.reaches('shows/beside.mpg', 'done');
    expect(station.videos('From the sidecar')).toMatchObject([{ channelId: 'ch_news', tags: ['shows', 'extra'] }]);
  });

  test('one that comes late is sent as a change, and nothing is uploaded again', async () => {
    const { station } = world();
    await station.drop('late.mpg');
    const { video_id: videoId } = await station.reaches('late.mpg', 'done');
    await station.drop('late.yml', 'title: Better late\ntags: [late]\n');
    await until('the title was changed', () => station.videos('Better late').length === 1);
    expect(station.videos('Better late')).toMatchObject([
      { id: videoId, tags: ['late'], bodies: [expect.any(String)] },
    ]);
    expect(
      station.host.requests.filter(({ method, path }) => method === 'PATCH' && path.includes(videoId ?? '')),
    ).toHaveLength(1);
  });

  test('a broken one holds its file with line and column; once fixed, the file continues', async () => {
    const { station } = world();
    await station.drop('mended.yaml', 'title: [oops\n');
    await station.drop('mended.mpg');
    expect((await station.reaches('mended.mpg', 'held')).why).toMatch(/sidecar "mended\.yaml", line \d+, column \d+/);
    await station.drop('mended.yaml', 'title: Mended\n');
    await station.reaches('mended.mpg', 'done');
    expectUploadedOnce(station, 'Mended');
  });

  test('a checksum that does not match holds its file with both digests; once it is corrected, the file continues', async () => {
    const { station } = world();
    const content = randomBytes(3 * 1024 * 1024);
    const md5 = createHash('md5').update(content).digest('hex');
    await station.drop('proven.mpg.md5', `${'0'.repeat(32)}  proven.mpg\n`);
    await station.drop('proven.mpg', content);
    const { why } = await station.reaches('proven.mpg', 'held');
    expect(why).toContain(`its MD5 is ${md5}, but proven.mpg.md5 says ${'0'.repeat(32)}`);
    expect(station.videos('proven')).toMatchObject([{ bodies: [] }]);
    await station.drop('proven.mpg.md5', `${md5}  proven.mpg\n`);
    await station.reaches('proven.mpg', 'done');
    expectUploadedOnce(station, 'proven');
  });

  test('a broken one that is removed before it has settled releases its file', async () => {
    const { station, at } = world();
    await station.drop('fleeting-sidecar.mpg');
    await station.drop('fleeting-sidecar.yaml', 'titel: typo\n');
    const keepUnsettled = setInterval(
      () => void station.drop('fleeting-sidecar.yaml', `titel: ${Math.random()}\n`),
      100,
    );
    await station.reaches('fleeting-sidecar.mpg', 'held').finally(() => clearInterval(keepUnsettled));
    await rm(at('inbox/fleeting-sidecar.yaml'));
    await station.reaches('fleeting-sidecar.mpg', 'done');
    expectUploadedOnce(station, 'fleeting-sidecar');
  });

  test('two at once hold the file with both names; with one removed it continues', async () => {
    const { station, at } = world();
    await station.drop('two.yaml', 'title: One\n');
    await station.drop('two.json', '{"title":"Two"}');
    await station.drop('two.mpg');
    expect((await station.reaches('two.mpg', 'held')).why).toContain(
      'two sidecars, "two.json" and "two.yaml": keep one',
    );
    await rm(at('inbox/two.json'));
    await station.reaches('two.mpg', 'done');
    expectUploadedOnce(station, 'One');
  });
});

alongside('folders', () => {
  const world = inWorld();

  test('a file that no rule takes is held, and continues once a rule takes it', async () => {
    const { station } = world();
    await station.drop('a/deep/file.mpg');
    await station.reaches('a/deep/file.mpg', 'done');
    const good = await readFile(station.scratch.config, 'utf8');
    await writeFile(
      station.scratch.config,
      good.replace('match: "{top}/**"', 'match: "only/**"').replaceAll('"{top}"', '"x"'),
    );
    station.daemon().child.kill('SIGHUP');
    await until('it is reloaded', () => station.daemon().output().split('"Reloaded"').length === 2);
    await station.drop('unmatched/file.mpg');
    expect((await station.reaches('unmatched/file.mpg', 'held')).why).toContain('no rule');
    const told = /"Arrived and is held".*unmatched\/file\.mpg|unmatched\/file\.mpg.*"Arrived and is held"/;
    await until('it says so', () => told.test(station.daemon().output()));
    await writeFile(station.scratch.config, good);
    station.daemon().child.kill('SIGHUP');
    expect((await station.reaches('unmatched/file.mpg', 'done')).tags).toEqual(['unmatched']);
  });

  test('a folder inside a folder: the inner one alone takes its files', async () => {
    const { station } = world();
    await station.drop('special/inner.mpg');
    expect(await station.reaches('special/inner.mpg', 'done')).toMatchObject({
      channel: 'ch_news',
      rule: expect.stringContaining('folders[1]'),
    });
    expect((await station.files()).files.filter(({ path }) => path.endsWith('special/inner.mpg'))).toHaveLength(1);
    expect(station.videos('inner')).toHaveLength(1);
  });

  test('a folder that goes missing freezes with the reason; once it is back, nothing is uploaded twice', async () => {
    const { station, at } = world();
    for (const n of [1, 2, 3]) await station.drop(at(`mounted/m-${n}.mpg`));
    for (const n of [1, 2, 3]) await station.reaches(at(`mounted/m-${n}.mpg`), 'done');
    await rename(at('mounted'), at('unmounted'));
    const state = async () => (await station.status()).folders.find(({ path }) => path === at('mounted'));
    await until('it is frozen', async () => (await state())?.state === 'frozen');
    expect((await state())?.why).toContain('does not exist');
    const counts = (await station.status()).counts;
    expect((await station.file(at('mounted/m-1.mpg')))?.state).toBe('done');
    await rename(at('unmounted'), at('mounted'));
    await until('it is watched again', async () => (await state())?.state === 'watching');
    await station.drop(at('mounted/m-4.mpg'));
    await station.reaches(at('mounted/m-4.mpg'), 'done');
    for (const n of [1, 2, 3]) expectUploadedOnce(station, `m-${n}`);
    expect((await station.status()).counts['vanished']).toBe(counts['vanished']);
  });
});

alongside('after it is ready', () => {
  const world = inWorld();

  test('delete removes what was sent', async () => {
    const { station, at } = world();
    await station.drop(at('deleting/gone.mpg'));
    await station.reaches(at('deleting/gone.mpg'), 'done');
    await until('it is deleted', async () => !(await readdir(at('deleting'))).includes('gone.mpg'));
    await until('it is noted', async () => (await station.file(at('deleting/gone.mpg')))?.local === 'deleted');
    await station.drop(at('deleting/gone.mpg'));
    await until('the same name is a new file', () => station.videos('gone').length === 2);
  });

  test('delete is refused when the content changed in the meantime: the new content is kept', async () => {
    const { station, at, everythingWasSeen } = world();
    // Held in processing until the file was overwritten.
    station.faults.api = (request, response) => {
      const [video] = station.videos('precious');
      if (request.method !== 'GET' || video === undefined || !(request.url ?? '').includes('/videos')) return false;
      const isAbout = (request.url ?? '').includes(video.id);
      return answer(response, 200, isAbout ? { id: video.id, status: 'processing' } : { data: [] });
    };
    await station.drop(at('deleting/precious.mpg'), randomBytes(4_000));
    await station.reaches(at('deleting/precious.mpg'), 'processing');
    station.faults.upload = (_, __, id) =>
      station.host.videos.get(id)?.title === 'precious' && new Promise(() => undefined);
    const second = randomBytes(4_000);
    await writeFile(at('deleting/precious.mpg'), second);
    station.faults.api = null;
    await until('the first one is ready', async () =>
      (await station.files()).files.some(({ path, times }) => path.endsWith('precious.mpg') && times.ready !== null),
    );
    await everythingWasSeen('after-precious');
    expect(await readFile(at('deleting/precious.mpg'))).toEqual(second);
  });

  test('move takes a free name and never overwrites; the moved file is not taken for a new one', async () => {
    const { station, at, everythingWasSeen } = world();
    await mkdir(at('moving/done/show'), { recursive: true });
    await writeFile(at('moving/done/show/.keep'), '');
    const first = randomBytes(1_000);
    const second = randomBytes(1_001);
    await station.drop(at('moving/show/episode.mpg'), first);
    await until('it is moved', async () => (await readdir(at('moving/done/show'))).includes('episode.mpg'));
    await station.drop(at('moving/show/episode.mpg'), second);
    await until('the second is moved beside it', async () =>
      (await readdir(at('moving/done/show'))).includes('episode (2).mpg'),
    );
    // Its old name goes after it has the new one, and the private directory last.
    await until('nothing is left behind', async () => (await readdir(at('moving/show'))).length === 0);
    expect(await readFile(at('moving/done/show/episode.mpg'))).toEqual(first);
    expect(await readFile(at('moving/done/show/episode (2).mpg'))).toEqual(second);
    await everythingWasSeen('after-move');
    expect(station.videos('episode')).toHaveLength(2);
    expect(station.videos('episode (2)')).toHaveLength(0);
  });
});

alongside('a file that looks unfinished', () => {
  const world = inWorld();

  test('an empty and a cut-off file are held with the reason after half a minute', async () => {
    const { station, at } = world();
    await station.drop('empty.mp4', '');
    await copyFile(truncatedSample, at('inbox/truncated.mp4'));
    expect((await station.reaches('empty.mp4', 'held')).why).toContain('empty');
    const { why } = await station.reaches('truncated.mp4', 'held');
    expect(why).toMatch(/bytes|missing|incomplete|short/);
    expect(station.videos('empty')).toHaveLength(0);
    expect(station.videos('truncated')).toHaveLength(0);
  });
});

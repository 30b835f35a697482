import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once as eventOf } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { alongside } from './alongside.ts';
import { dropcast, makeScratch, startDropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import { stationSettings, expectUploadedOnce, isCreate, refusal, startStation } from './station.ts';
import type { Station } from './station.ts';
import { needs } from '../support/needs.ts';
import { writeConfig } from '../support/configuration.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** More than the kernel's socket buffers hold. */
const beyondBuffers = 48 * 1024 * 1024;

/** Says when the process leaves, and gives Node so much to tear down that a signal can come in the meantime. */
const slowExit = `
  import { writeSync } from 'node:fs';
  globalThis.ballast = Array.from({ length: 2_000_000 }, (_, i) => ({ i }));
  process.on('exit', () => writeSync(1, 'leaving\\n'));
`;

/** The first upload waits until it is released, so that a signal comes in its middle. */
function holdFirstUpload(station: Station): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isFirst = true;
  station.faults.upload = async () => {
    if (isFirst) {
      isFirst = false;
      await promise;
    }
    return false;
  };
  return resolve;
}

alongside('signals', () => {
  test('SIGTERM lets a running upload finish, takes nothing new, and ends with 0', async () => {
    await using station = await startStation({ settings: { uploads: { stall_timeout: '30s' } } });
    const release = holdFirstUpload(station);
    await station.drop('running.mpg', randomBytes(beyondBuffers));
    await station.reaches('running.mpg', 'uploading');
    const { child, ended, output } = station.daemon();
    child.kill('SIGTERM');
    await until('it says so', () => output().includes('Stopping'));
    await station.drop('too-late.mpg');
    // A moment in which it could end, or take the new file, and must not.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(child.exitCode).toBeNull();
    release();
    const { code } = await ended;
    expect(code).toBe(0);
    expectUploadedOnce(station, 'running');
    expect(station.videos('too-late')).toHaveLength(0);
    await station.start();
    await station.reaches('running.mpg', 'done');
    await station.reaches('too-late.mpg', 'done');
    expectUploadedOnce(station, 'running');
    expect(station.videos('running')).toHaveLength(1);
  });

  test('a second SIGTERM cuts the upload at once; the next start finishes it with the same record', async () => {
    // Without a cut it would wait for the hour.
    await using station = await startStation({ settings: { uploads: { stall_timeout: '1h' } } });
    holdFirstUpload(station);
    await station.drop('cut.mpg', randomBytes(beyondBuffers));
    await until('bytes leave', async () => ((await station.file('cut.mpg'))?.sent ?? 0) > 0);
    const { child, ended, output } = station.daemon();
    child.kill('SIGTERM');
    await until('it says so', () => output().includes('Stopping'));
    child.kill('SIGTERM');
    const { code, signal } = await ended;
    // A process that is not through within a second is ended, as on a machine that has no time for it.
    if (signal === null) {
      expect(code).toBe(0);
      expect(output()).toMatch(/Stopped: .*","uploads":1/);
    } else expect(signal).toBe('SIGTERM');
    await station.start();
    await station.reaches('cut.mpg', 'done');
    expectUploadedOnce(station, 'cut');
    expect(station.videos('cut')).toHaveLength(1);
    expect(await station.failures('cut.mpg', 0)).toEqual([]);
  });

  test('a second SIGTERM after the last line still ends with 0', async () => {
    const preload = `--import=data:text/javascript,${encodeURIComponent(slowExit)}`;
    await using station = await startStation({ env: { NODE_OPTIONS: preload } });
    const { child, ended, output } = station.daemon();
    child.stdout?.on('data', () => output().includes('leaving') && child.kill('SIGTERM'));
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Stopped') });
  });

  test('SIGHUP takes a good configuration over and refuses a bad one with the reason; the old one stays', async () => {
    await using station = await startStation({ host: { channels: () => ['ch_main', 'ch_news', 'ch_second'] } });
    const good = await readFile(station.scratch.config, 'utf8');
    const hangUp = async (text: string, said: string): Promise<void> => {
      const count = station.daemon().output().split(said).length;
      await writeFile(station.scratch.config, text);
      station.daemon().child.kill('SIGHUP');
      await until(`it says: ${said}`, () => station.daemon().output().split(said).length > count);
    };
    await hangUp(good.replace('ch_main', '[oops'), 'the old one stays');
    expect(station.daemon().output()).toMatch(/dropcast\.yaml:\d+:\d+ /);
    await station.drop('old-rules.mpg');
    expect((await station.reaches('old-rules.mpg', 'done')).channel).toBe('ch_main');
    await hangUp(good.replace('state_dir: state', 'state_dir: elsewhere'), 'restart to change state_dir');
    await hangUp(good.replace('ch_main', 'ch_secnod'), 'did you mean');
    expect(station.daemon().output()).toMatch(
      /dropcast\.yaml:\d+:\d+ folders\[0\]\.rules\[2\]\.channel: the service has/u,
    );
    await hangUp(good.replace('ch_main', 'ch_second'), '"Reloaded"');
    await station.drop('new-rules.mpg');
    expect((await station.reaches('new-rules.mpg', 'done')).channel).toBe('ch_second');
    expect((await station.daemon().kill('SIGTERM')).code).toBe(0);
  });

  test('files wait for the upload window, say so, and continue after a reload', async () => {
    const hour = new Date().getHours();
    const [from, to] = [2, 3].map((more) => `${String((hour + more) % 24).padStart(2, '0')}:00`);
    const closed = { uploads: { window: `${from}-${to}`, bandwidth: '20MB/s' } };
    await using station = await startStation({ settings: closed });
    await station.drop('night.mpg');
    const waiting = await station.reaches('night.mpg', 'queued');
    expect(waiting.why).toMatch(
      new RegExp(`^outside \`uploads\\.window\`; resumes at (\\d{4}-\\d\\d-\\d\\d )?${from}$`),
    );
    const told = await dropcast(['status', '--config', station.scratch.config]);
    expect(told.stdout).toMatch(
      new RegExp(`^Uploads wait: outside \`uploads\\.window\`; resumes at (\\d{4}-\\d\\d-\\d\\d )?${from}\\.$`, 'mu'),
    );
    expect(told.stdout).toContain('Combined upload limit: 20 MB/s');
    expect(station.host.videos.size).toBe(0);
    await writeConfig(station.scratch, stationSettings(station.host));
    station.daemon().child.kill('SIGHUP');
    await station.reaches('night.mpg', 'done');
  });

  test('a question that is not answered ends at the first SIGINT', async () => {
    await using scratch = await makeScratch();
    await mkdir(scratch.file('state'));
    const deaf = createServer();
    await new Promise<void>((resolve) => deaf.listen(scratch.file('state', 'dropcast.sock'), resolve));
    await using status = startDropcast(['status', '--config', scratch.config]);
    await eventOf(deaf, 'connection');
    expect(await status.kill('SIGINT')).toMatchObject({ signal: 'SIGINT', stdout: '', stderr: '' });
    deaf.close();
  });

  test('a socket file left by a killed daemon does no harm', async () => {
    await using station = await startStation();
    await station.daemon().kill('SIGKILL');
    await station.start();
    await station.drop('after.mpg');
    await station.reaches('after.mpg', 'done');
  });
});

alongside('once', () => {
  const start = () =>
    startStation({ isStarted: false, settings: { retry: { attempts: 2, first: '100ms', max: '200ms' } } });

  test('nothing to do, then all fine, then nothing new again: exit code 0', async () => {
    await using station = await start();
    const once = (...args: readonly string[]) => dropcast(['once', '--config', station.scratch.config, ...args]);
    expect(await once()).toMatchObject({ code: 0, stdout: 'Nothing new in the folders.\n' });
    await station.drop('one.mpg');
    await station.drop('news/two.mpg');
    const fine = await once('--json');
    expect(fine.code, fine.stderr).toBe(0);
    const document = JSON.parse(fine.stdout) as { v: number; finished: boolean; files: { state: string }[] };
    expect(document).toMatchObject({ v: 1, finished: true, files: [{ state: 'done' }, { state: 'done' }] });
    expect(fine.stderr).toMatch(/one\.mpg/);
    expect(station.host.publishes).toHaveLength(1);
    expect(await once('--json')).toMatchObject({ code: 0, stdout: expect.stringContaining('"files":[]') });
    for (const title of ['one', 'two']) expectUploadedOnce(station, title);
  });

  test('a file that fails: exit code 1, and the table says why; the next run says it again, until the file is gone', async () => {
    await using station = await start();
    station.faults.api = (request, response, body) =>
      isCreate(request) && body.includes('"bad"') && refusal(response, 422, 'title_taken');
    await station.drop('bad.mpg');
    await station.drop('good.mpg');
    const ended = await dropcast(['once', '--config', station.scratch.config]);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/failed .*bad\.mpg.*422 title_taken/);
    expect(ended.stdout).toMatch(/done .*good\.mpg/);
    const again = await dropcast(['once', '--json', '--config', station.scratch.config]);
    expect(again.code).toBe(1);
    expect(JSON.parse(again.stdout)).toMatchObject({
      files: [{ path: station.scratch.file('inbox/bad.mpg'), state: 'failed', code: 'title_taken' }],
    });
    await rm(station.scratch.file('inbox/bad.mpg'));
    const gone = await dropcast(['once', '--config', station.scratch.config]);
    expect(gone).toMatchObject({ code: 0, stdout: 'Nothing new in the folders.\n' });
  });

  test('an archive to adopt: it creates nothing before a person confirms, and then only what the service does not have', async () => {
    await using station = await startStation({
      isStarted: false,
      folders: [{ existing: 'adopt' }],
    });
    await station.drop('camera.mov', await readFile(resolve(import.meta.dirname, '../media/camera.mov')));
    await station.drop('elsewhere.mpg');
    const video = {
      id: 'vid_old',
      title: 'Camera',
      description: null,
      channelId: 'ch_main',
      tags: [],
      sourceUrl: null,
    };
    station.host.videos.set('vid_old', { ...video, status: 'ready', createdAt: 0, bodies: [], size: 1 });
    const at = ['--config', station.scratch.config];
    const first = await dropcast(['once', ...at]);
    expect(first.code, first.stderr).toBe(1);
    expect(first.stderr).toContain('dropcast adopt --confirm');
    expect(station.host.requests.every(({ method }) => method === 'GET')).toBe(true);
    expect((await dropcast(['adopt', ...at])).stdout).toMatch(
      /adopted[^]*camera\.mov.*vid_old[^]*uploaded[^]*elsewhere\.mpg/,
    );
    const confirmed = await dropcast(['adopt', '--confirm', ...at]);
    expect(confirmed, confirmed.stderr).toMatchObject({
      code: 0,
      stdout: 'Adopted 1 file; 1 file will be uploaded.\n',
    });
    const second = await dropcast(['once', ...at]);
    expect(second.code, second.stderr).toBe(0);
    expect([...station.host.videos.values()].map(({ title }) => title)).toEqual(['Camera', 'elsewhere']);
  });

  test('a key that is refused: it ends with 1 and the reason instead of waiting for ever', async () => {
    await using station = await start();
    await writeConfig(station.scratch, stationSettings({ ...station.host, key: 'revoked-key' }));
    await station.drop('waits.mpg');
    await using process = startDropcast(['once', '--config', station.scratch.config]);
    const { code, stderr } = await process.ended;
    expect(code, stderr).toBe(1);
    expect(stderr).toContain('401 unauthorized');
    expect(stderr).not.toContain('revoked-key');
  });

  test('a service that stays unreachable: exit code 1 and the reason once --wait is over', async () => {
    await using station = await startStation({ isStarted: false });
    const away = { baseUrl: 'http://127.0.0.1:1/v1', key: 'k' };
    await writeConfig(station.scratch, stationSettings(away));
    await station.drop('patient.mpg');
    const { code, stdout, stderr } = await dropcast(['once', '--wait', '1s', '--config', station.scratch.config]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/ECONNREFUSED[^]*Fix this/);
    expect(stdout).toMatch(/queued.*patient\.mpg/);
  });

  test('stopped before anything came in, it says what settles, and not that there was nothing', async () => {
    await using station = await startStation({
      isStarted: false,
      folders: [{ settle: '1m' }],
    });
    await station.drop('settles.mpg');
    await using once = startDropcast(['once', '--config', station.scratch.config]);
    await until('it waits for the file', () => once.output().includes('settling'));
    expect(await once.kill('SIGINT')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^STATE.*\nsettling .*settles\.mpg.*\n$/),
      stderr: expect.stringContaining('stopped'),
    });
  });

  test('an unreachable service: it reports the wait, and a signal ends it with 1', async () => {
    await using station = await start();
    await writeConfig(station.scratch, stationSettings({ ...station.host, baseUrl: 'http://127.0.0.1:1/v1' }));
    await station.drop('waits.mpg');
    await using process = startDropcast(['once', '--config', station.scratch.config]);
    const why = 'Waiting: http://127.0.0.1:1 cannot be reached: nothing listens there (ECONNREFUSED)';
    await until('it says why', () => process.output().includes(why));
    const ended = await process.kill('SIGTERM');
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('stopped before');
  });
});

test.concurrent('a closed terminal ends the demo, and leaves nothing behind', async () => {
  await using scratch = await scratchDirectory();
  await using demo = startDropcast(['demo'], { TMPDIR: scratch.path });
  await until('it works', () => demo.output().includes('uploading'));
  expect(await demo.kill('SIGHUP')).toMatchObject({ code: 1 });
  expect(await readdir(scratch.path)).toEqual([]);
});

test('an answer that cannot be written is a failure', needs('/dev/full'), async () => {
  const full = openSync('/dev/full', 'w');
  const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const child = spawn(node, [main, '--version'], { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  const said = child.stderr === null ? null : text(child.stderr);
  expect(await eventOf(child, 'close')).toEqual([1, null]);
  expect(await said).toMatch(/^cannot write the output: .*ENOSPC.*\n$/);
});

test('in a directory that was removed it reports that', needs('/proc'), async () => {
  await using scratch = await scratchDirectory();
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const line = `mkdir gone && cd gone && rmdir ../gone && '${root}/node_modules/.bin/node' '${root}/src/main.ts' --version`;
  const child = spawn('bash', ['--norc', '-c', line], { cwd: scratch.path, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = text(child.stderr);
  expect(await eventOf(child, 'close')).toEqual([1, null]);
  expect(await said).toMatch(/^the current directory .*\n$/);
});

alongside('limits and surroundings', () => {
  test('the bandwidth limit holds over all uploads together', async () => {
    await using station = await startStation({ settings: { uploads: { concurrency: 4, bandwidth: '2MB/s' } } });
    for (const n of [1, 2, 3, 4]) await station.drop(`limited-${n}.mpg`, randomBytes(2_000_000));
    for (const n of [1, 2, 3, 4]) await station.reaches(`limited-${n}.mpg`, 'done');
    const { files } = await station.files();
    const began = Math.min(...files.map(({ times }) => times.upload_started ?? Infinity));
    const ended = Math.max(...files.map(({ times }) => times.uploaded ?? 0));
    const rate = 8_000_000 / ((ended - began) / 1_000);
    expect(rate).toBeLessThan(2_600_000);
  });

  test('a state directory that cannot be written is a sentence, not a stack trace', async () => {
    await using station = await startStation({ isStarted: false });
    await writeFile(station.scratch.file('state'), 'a file where a directory belongs');
    const ended = await dropcast(['run', '--config', station.scratch.config]);
    expect(ended.code).toBe(78);
    expect(ended.stderr).toContain('state_dir');
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });

  test('a ledger that is not a database is refused with advice', async () => {
    await using station = await startStation({ isStarted: false });
    await mkdir(station.scratch.file('state'));
    await writeFile(station.scratch.file('state', 'ledger.db'), randomBytes(8_192));
    const ended = await dropcast(['run', '--config', station.scratch.config]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('ledger.db');
    expect(ended.stderr).not.toMatch(/\n\s+at |dropcast crashed/);
  });

  test('a key in a configuration that others can read is refused before anything starts', async () => {
    await using station = await startStation({ isStarted: false });
    await chmod(station.scratch.config, 0o644);
    const ended = await dropcast(['run', '--config', station.scratch.config]);
    expect(ended.code).toBe(78);
    expect(ended.stderr).toContain('service.api_key');
    expect(ended.stderr).not.toContain(station.host.key);
  });

  test('an operator can control the service without its key and environment', async () => {
    await using station = await startStation({ isStarted: false });
    const runtime = station.scratch.file('runtime');
    await mkdir(runtime, { mode: 0o700 });
    const text = await readFile(station.scratch.config, 'utf8');
    await writeFile(station.scratch.config, text.replace(station.host.key, '!env KEY_OF_THE_SERVICE'));
    const env = { KEY_OF_THE_SERVICE: station.host.key, RUNTIME_DIRECTORY: runtime };
    await using daemon = startDropcast(['run', '--config', station.scratch.config], env);
    await until('it is ready', () => daemon.output().includes('Ready'));
    const path = await station.drop('steered.mpg');
    await station.reaches('steered.mpg', 'done');
    for (const args of [['status'], ['ls'], ['show', path], ['explain', path]]) {
      const ended = await dropcast([...args, '--config', station.scratch.config]);
      expect(ended, args.join(' ')).toMatchObject({ code: 0, stderr: '' });
    }
    await daemon.kill('SIGKILL');
    const down = await dropcast(['status', '--config', station.scratch.config]);
    expect(down.stdout).toContain('dropcast is not running');
  });

  test('the log follows a file to its end', async () => {
    await using station = await startStation();
    await station.drop('news/told.mpg');
    await station.reaches('news/told.mpg', 'done');
    const states = (): string[] =>
      station
        .daemon()
        .output()
        .split('\n')
        .filter((line) => line.includes('"state":') && line.includes('"file":') && line.endsWith('}'))
        .map((line) => (JSON.parse(line) as { state: string }).state);
    await until('the end is told', () => states().includes('done'));
    expect(states()).toEqual(['awaiting upload', 'processing', 'awaiting publish', 'done']);
  });

  test('`dropcast open` prints a link that opens the status page once', async () => {
    await using station = await startStation({ page: '127.0.0.1:0' });
    const { code, stdout } = await dropcast(['open', '--config', station.scratch.config]);
    expect(code).toBe(0);
    const link = stdout.trim();
    expect((await fetch(new URL('/', link))).status).toBe(401);
    const [cookie = ''] = ((await fetch(link)).headers.get('set-cookie') ?? '').split(';');
    const page = await fetch(new URL('/', link), { headers: { cookie } });
    expect(await page.text()).toContain(station.scratch.file('inbox'));
    expect((await fetch(link)).status).toBe(401);
  });

  test('a status port that is taken is a pity, not the end', async () => {
    await using station = await startStation({ isStarted: false });
    const port = new URL(station.host.baseUrl).port;
    await writeConfig(station.scratch, stationSettings(station.host, { page: `127.0.0.1:${port}` }));
    await station.start();
    expect(station.daemon().output()).toContain('No status page');
    await station.drop('all-the-same.mpg');
    await station.reaches('all-the-same.mpg', 'done');
  });
});

test.concurrent('a daemon whose stdout is closed keeps running', async () => {
  await using station = await startStation({ isStarted: false });
  const daemon = startDropcast(['run', '--config', station.scratch.config]);
  await using _ = daemon;
  await until('it is ready', () => daemon.output().includes('Ready'));
  daemon.child.stdout?.destroy();
  await station.drop('unlogged.mpg');
  await station.reaches('unlogged.mpg', 'done');
  const closed = eventOf(daemon.child, 'exit');
  daemon.child.kill('SIGTERM');
  expect((await closed)[0]).toBe(0);
});

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alongside } from './alongside.ts';
import { dropcast, makeScratch, startDropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import type { Ended } from './dropcast-process.ts';
import { stationSettings, isCreate, refusal, startStation } from './station.ts';
import type { Station } from './station.ts';
import { startVideoHost } from './video-host.ts';
import { configText, writeConfig } from '../support/configuration.ts';

/** The one JSON document that a command printed. */
function jsonOf({ stdout, stderr }: Ended): Record<string, unknown> {
  const lines = stdout.trimEnd().split('\n');
  expect(lines, stderr).toHaveLength(1);
  const document = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  expect(document['v']).toBe(1);
  return document;
}

/** No user's mistake may end in one of our own lines of code. */
function expectNoStackTrace({ stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toMatch(/\n\s+at |node:internal|dropcast crashed/);
}

/** A daemon with a file that is done, one that the service refused, and one that no rule takes. */
async function startBusyStation(): Promise<Station> {
  const station = await startStation({
    settings: { retry: { attempts: 4, first: '100ms', max: '400ms' } },
    folders: [
      {
        rescan: '2s',
        exclude: ['private/**'],
        rules: [
          {
            match: 'news/{show}/**',
            channel: 'ch_news',
            title: '{show}: {title}',
            tags: ['news', '{show}'],
            publish: ['feed_news'],
          },
          { match: '*.mpg', channel: 'ch_main' },
          { match: 'long/**', channel: 'ch_main' },
        ],
      },
      { path: 'slow', settle: '1h' },
    ],
    isStarted: false,
  });
  await mkdir(station.scratch.file('slow'));
  await station.start();
  station.faults.api = (request, response, body) =>
    isCreate(request) && body.includes('"refused"') && refusal(response, 422, 'title_taken');
  await station.drop('news/morning/clip.mpg');
  await station.drop('refused.mpg');
  await station.drop('nobody/takes-this.mpg');
  await station.reaches('news/morning/clip.mpg', 'done');
  await station.reaches('refused.mpg', 'failed');
  await station.reaches('nobody/takes-this.mpg', 'held');
  return station;
}

alongside('commands with a running daemon', () => {
  let station: Station;
  beforeAll(async () => {
    station = await startBusyStation();
  });
  afterAll(() => station[Symbol.asyncDispose]());
  const run = (...args: readonly string[]): Promise<Ended> => dropcast([...args, '--config', station.scratch.config]);
  const inbox = (path: string): string => station.scratch.file('inbox', path);

  test('every command prints one JSON document of version 1 with --json, and nothing else on stdout', async () => {
    const { counts } = await station.status(); // other tests add files that end as done
    expect(counts).toMatchObject({ failed: 1, held: 1 });
    const ended = await Promise.all([
      run('status', '--json'),
      run('ls', '--json'),
      run('ls', '--json', '--state', 'failed,held'),
      run('show', '--json', inbox('refused.mpg')),
      run('explain', '--json', inbox('news/morning/clip.mpg')),
      run('check', '--json'),
    ]);
    expect(ended.map(({ code }) => code)).toEqual([1, 0, 0, 0, 0, 0]);
    const [status, all, some, show, explained, check] = ended.map(jsonOf);
    expect(status).toMatchObject({ daemon: { running: true }, counts, waiting: null });
    expect(all?.['files']).toHaveLength(2 + (counts['done'] ?? 0));
    expect(some?.['files']).toHaveLength(2);
    expect(show).toMatchObject({ file: { state: 'failed', code: 'title_taken' }, history: expect.any(Array) });
    expect(explained).toMatchObject({ stands: { file: { state: 'done' } }, explanation: { route: { kind: 'take' } } });
    expect(check).toMatchObject({ ok: true, problems: [] });
  });

  test('names: id, beginning of an id, video id, absolute and relative path; ambiguous and unknown ones are distinguished', async () => {
    const file = await station.reaches('news/morning/clip.mpg', 'done');
    for (const name of [file.id, file.id.slice(0, 8), file.video_id ?? '', inbox('news/morning/clip.mpg')])
      expect(jsonOf(await run('show', '--json', name))).toMatchObject({ file: { id: file.id } });
    const unknown = await run('show', 'f_000000');
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toMatch(/^no file .* f_000000/);
  });

  test('explain tells what is taken, held, ignored, a sidecar, and outside', async () => {
    await writeFile(inbox('news/morning/clip.yaml'), 'title: By hand\n');
    const [taken, held, ignored, hidden, sidecar, outside] = await Promise.all([
      run('explain', inbox('news/morning/clip.mpg')),
      run('explain', inbox('nobody/takes-this.mpg')),
      run('explain', inbox('private/clip.mpg')),
      run('explain', inbox('.hidden.mpg')),
      run('explain', inbox('news/morning/clip.yaml')),
      run('explain', '/etc/passwd'),
    ]);
    expect(taken?.stdout).toMatch(/→ folders\[0\]\.rules\[0\] \(line \d+\).*matches \(show=morning\)/);
    expect(taken?.stdout).toMatch(/title +By hand +\(sidecar\)/);
    expect(taken?.stdout).toMatch(/State: done/);
    expect(held?.stdout).toContain('It would be held: no rule matches');
    expect(ignored?.stdout).toMatch(/Ignored: .*exclude/);
    expect(ignored?.stdout).toContain('it would be');
    expect(hidden?.stdout).toMatch(/Ignored: .*hidden/);
    expect(sidecar?.stdout).toMatch(/Ignored: .*sidecar/);
    expect(outside).toMatchObject({ code: 1, stdout: '' });
    expect(outside?.stderr).toMatch(/^\/etc\/passwd is outside of every watched folder/);
  });

  test('files that no pattern of include selects are listed, and those that look like video are counted', async () => {
    await writeFile(inbox('camera.braw'), 'content');
    await until('a scan left it out', async () => (await run('ls', '--left-out')).stdout.includes('camera.braw'));
    const listed = await run('ls', '--left-out');
    expect(listed.stdout).toContain(`${inbox('camera.braw')}\n`);
    expect(listed.stderr).toContain('1 looks like video: .braw');
    expect((await run('status')).stdout).toContain('1 looks like video: .braw');
    expect((await run('doctor')).stdout).toContain('1 looks like video: .braw');
  });

  test('add takes a file without its settle time, and says why it does not take others', async () => {
    const path = station.scratch.file('slow/now.mpg');
    await station.drop(path);
    const added = await run('add', path);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(added.stdout).toMatch(/now\.mpg: new, (queued|uploading|processing) \(f_[0-9a-f]+\)\n$/);
    await station.reaches(path, 'done');
    const refused = await run('add', '/etc/passwd', inbox('none.mpg'), inbox('news'));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('/etc/passwd: it is not in a watched folder');
    expect(refused.stderr).toContain('none.mpg: there is no such file');
    expect(refused.stderr).toContain('news: it is not a regular file');
    const asJson = await run('add', '--json', path);
    expect(jsonOf(asJson)).toMatchObject({ ok: true, as: 'known', file: { state: 'done' } });
  });

  test('wrong usage is exit code 2 with a sentence, and never a stack trace', async () => {
    const ended = await Promise.all([
      run('nonsense'),
      run('ls', '--state', 'dreaming'),
      run('ls', '--limit', 'many'),
      run('retry'),
      run('show'),
      run('status', '--nonsense'),
    ]);
    for (const one of ended) {
      expect(one.code, one.stderr).toBe(2);
      expect(one.stdout).toBe('');
      expect(one.stderr.trim()).not.toBe('');
      expectNoStackTrace(one);
    }
    expect(ended[1]?.stderr).toContain('unknown state "dreaming"; the states are: settling, ');
  });

  test('the control socket is for the user of the daemon alone', async () => {
    const { mode } = await stat(station.scratch.file('state/dropcast.sock'));
    expect(mode & 0o777).toBe(0o600);
  });

  test('a second instance is refused with a message, and the first keeps running', async () => {
    const second = await run('run');
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(
      `another dropcast already uses the state directory ${station.scratch.file('state')}`,
    );
    expectNoStackTrace(second);
    expect((await run('once')).code).toBe(1);
    expect((await station.status()).daemon.running).toBe(true);
  });

  test('a reader that closes early breaks nothing', async () => {
    const child = spawn(
      'bash',
      [
        '-c',
        'set -o pipefail; "$0" "$1" ls --json --config "$2" | head -c 10 >/dev/null; echo "${PIPESTATUS[0]}"',
        ...nodeAndMain(),
        station.scratch.config,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let output = '';
    child.stdout.on('data', (part) => (output += String(part)));
    child.stderr.on('data', (part) => (output += String(part)));
    await new Promise((resolve) => child.on('close', resolve));
    expect(output).toBe('0\n');
  });
});

test.concurrent('retry says what it did and what it could not', async () => {
  await using station = await startBusyStation();
  const run = (...args: readonly string[]): Promise<Ended> => dropcast([...args, '--config', station.scratch.config]);
  const inbox = (path: string): string => station.scratch.file('inbox', path);
  station.faults.api = null;
  const done = await run('retry', inbox('news/morning/clip.mpg'), 'f_000000');
  expect(done.code).toBe(1);
  expect(done.stderr).toMatch(/clip\.mpg: .*nothing to retry/);
  expect(done.stderr).toMatch(/f_000000: no such file/);
  const held = await run('retry', '--json', inbox('nobody/takes-this.mpg'));
  expect(held.code).toBe(1);
  expect(jsonOf(held)).toMatchObject({
    retried: [],
    refused: [{ why: expect.stringContaining('change the rules') }],
  });
  expect((await run('retry', '--state', 'dreaming')).code).toBe(2);
  const failed = await run('retry', '--state', 'failed', '--json');
  expect(failed.code).toBe(0);
  expect(jsonOf(failed)['retried']).toHaveLength(1);
  await station.reaches('refused.mpg', 'done');
  expect(jsonOf(await run('retry', '--all', '--json'))['retried']).toHaveLength(0);
});

test.concurrent('with the daemon down, reading commands answer from the ledger and say so; status and the others end with 3', async () => {
  await using station = await startBusyStation();
  const run = (...args: readonly string[]): Promise<Ended> => dropcast([...args, '--config', station.scratch.config]);
  const inbox = (path: string): string => station.scratch.file('inbox', path);
  await station.daemon().kill('SIGTERM');
  const [status, ls, show, explained, asJson, retried, added] = await Promise.all([
    run('status'),
    run('ls'),
    run('show', inbox('news/morning/clip.mpg')),
    run('explain', inbox('news/morning/clip.mpg')),
    run('status', '--json'),
    run('retry', '--all'),
    run('add', inbox('refused.mpg')),
  ]);
  for (const one of [status, ls, show, explained, asJson]) {
    expect(one?.code, one?.stderr).toBe(one === status || one === asJson ? 3 : 0);
    // The text of `status` says it itself.
    expect(one?.stderr).toMatch(one === status ? /^$/ : /^The daemon is not running\. .*ledger.*\n$/);
  }
  expect(status?.stdout).toContain('dropcast is not running');
  expect(status?.stdout).toContain('1 done');
  expect(ls?.stdout).toContain('refused.mpg');
  expect(show?.stdout).toMatch(/^state +done/m);
  expect(explained?.stdout).toContain('State: done');
  expect(asJson === undefined ? null : jsonOf(asJson)).toMatchObject({ daemon: { running: false, pid: null } });
  const events = await run('events');
  expect(events).toMatchObject({ code: 0, stderr: expect.stringContaining('The daemon is not running.') });
  expect(events.stdout).toMatch(/info +Daemon started\n[^]*error +\S*refused\.mpg: Failed/);
  for (const one of [retried, added]) {
    expect(one).toMatchObject({ code: 3, stdout: '' });
    expect(one?.stderr).toContain('the daemon is not running: start it with `dropcast run`');
  }
});

function nodeAndMain(): readonly string[] {
  const root = new URL('../../', import.meta.url);
  return [fileURLToPath(new URL('node_modules/.bin/node', root)), fileURLToPath(new URL('src/main.ts', root))];
}

alongside('check', () => {
  const valid = stationSettings({ baseUrl: 'http://127.0.0.1:1/v1', key: 'key-for-a-test' });
  const broken: readonly { readonly name: string; readonly change: (text: string) => string; readonly says: RegExp }[] =
    [
      {
        name: 'an unknown key',
        change: (text) => text.replace('channel: ch_main', 'chanel: ch_main'),
        says: /rules\[2\]\.chanel: unknown key, did you mean "channel"\?/,
      },
      {
        name: 'a missing key',
        change: (text) => text.replace('channel: ch_main', ''),
        says: /rules\[2\].*channel/,
      },
      {
        name: 'a wrong type',
        change: (text) => text.replace('concurrency: 4', 'concurrency: many'),
        says: /uploads\.concurrency/,
      },
      {
        name: 'a number out of range',
        change: (text) => text.replace('concurrency: 4', 'concurrency: 99'),
        says: /uploads\.concurrency.*32/,
      },
      {
        name: 'a duration without unit',
        change: (text) => text.replace('settle: 300ms', 'settle: 300'),
        says: /folders\[0\]\.settle/,
      },
      {
        name: 'a key twice',
        change: (text) => text.replace('state_dir:', 'publish: { quiet: 1s }\nstate_dir:'),
        says: /publish/,
      },
      {
        name: 'an unknown template word',
        change: (text) => text.replace('channel: ch_main', 'title: "{shwo}"\n        channel: ch_main'),
        says: /rules\[2\]\.title.*shwo/,
      },
      {
        name: 'plain http to another host',
        change: (text) => text.replace('http://127.0.0.1:1', 'http://video.example.com'),
        says: /service\.base_url.*https/,
      },
      {
        name: 'an environment variable that is not set',
        change: (text) => text.replace('key-for-a-test', '!env DROPCAST_NOT_SET'),
        says: /service\.api_key.*DROPCAST_NOT_SET/,
      },
      {
        name: 'broken YAML',
        change: (text) => text.replace('publish:', 'publish: ['),
        says: /:\d+:\d+ /,
      },
    ];

  test('every problem of ten broken configurations has line, column and key, and exit code 78', async () => {
    await using scratch = await makeScratch(valid);
    await mkdir(scratch.file('inbox'));
    const good = configText(valid);
    await Promise.all(
      broken.map(async ({ name, change, says }, n) => {
        const file = scratch.file(`broken-${n}.yaml`);
        expect(change(good), name).not.toBe(good);
        await writeFile(file, change(good), { mode: 0o600 });
        const [text, json] = [
          await dropcast(['check', '--config', file]),
          await dropcast(['check', '--json', '--config', file]),
        ];
        expect(text, name).toMatchObject({ code: 78, stderr: '' });
        expect(text.stdout, name).toMatch(says);
        expect(text.stdout, name).toMatch(new RegExp(`broken-${n}\\.yaml:\\d+:\\d+ `));
        expectNoStackTrace(text);
        const document = jsonOf(json);
        expect(document, name).toMatchObject({ ok: false });
        for (const problem of document['problems'] as { line: number; column: number }[]) {
          expect(problem.line, name).toBeGreaterThan(0);
          expect(problem.column, name).toBeGreaterThan(0);
        }
      }),
    );
    const run = await dropcast(['run', '--config', scratch.file('broken-0.yaml')]);
    expect(run).toMatchObject({ code: 78, stdout: '' });
    expect(run.stderr).toContain('nothing was started');
    const nowhere = await dropcast(['status', '--config', scratch.file('none.yaml')]);
    expect(nowhere.code).toBe(78);
    expect(nowhere.stderr).toContain('none.yaml');
    expectNoStackTrace(nowhere);
  });

  test('--online names unknown channels, feeds and a bad key, and passes when all is there', async () => {
    await using host = await startVideoHost({ feeds: () => ['feed_news'] });
    await using scratch = await makeScratch(stationSettings(host));
    await mkdir(scratch.file('inbox'));
    const check = (...args: readonly string[]): Promise<Ended> =>
      dropcast(['check', '--online', '--config', scratch.config, ...args]);
    const missing = await check();
    expect(missing.code).toBe(1);
    expect(missing.stdout).toMatch(
      /dropcast\.yaml:\d+:\d+ folders\[0\]\.rules\[1\]\.publish\[0\]: the service has no feed "feed_missing"; it has feed_news/u,
    );
    const good = configText(stationSettings(host)).replace('feed_missing', 'feed_news');
    await writeFile(scratch.config, good);
    expect(await check()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('the service knows the key, channels and feeds'),
    });
    await writeFile(scratch.config, good.replace('ch_main', 'ch_mian'));
    const channel = await check('--json');
    expect(channel.code).toBe(1);
    expect(jsonOf(channel)).toMatchObject({ ok: false, problems: [{ key: 'folders[0].rules[2].channel' }] });
    const [problem] = (jsonOf(channel) as { problems: { line: number; column: number; message: string }[] }).problems;
    const lines = (await readFile(scratch.config, 'utf8')).split('\n');
    expect(lines[(problem?.line ?? 0) - 1]?.slice((problem?.column ?? 0) - 1)).toMatch(/^ch_mian/u);
    expect(problem?.message).toContain('did you mean "ch_main"?');
    await writeFile(scratch.config, good.replace(host.key, 'key-that-was-revoked'));
    const key = await check();
    expect(key.code).toBe(1);
    expect(key.stdout).toMatch(/:\d+:\d+ service\.api_key: the service answered 401 unauthorized/u);
    expect(key.stdout + key.stderr).not.toContain('key-that-was-revoked');
    await writeFile(scratch.config, good.replace(host.baseUrl, 'http://127.0.0.1:1/v1'));
    const away = await check();
    expect(away.code).toBe(1);
    expectNoStackTrace(away);
  });
});

alongside('what must never be shown', () => {
  test.for(['json', 'pretty', 'journald'] as const)(
    'key and signed addresses appear in no output at level debug: %s',
    async (format) => {
      await using station = await startStation({ isStarted: false });
      await writeConfig(station.scratch, { ...stationSettings(station.host), log: { level: 'debug', format } });
      const signed = new Set<string>();
      station.faults.upload = (request, response, id) => {
        signed.add(new URL(request.url ?? '', 'http://host').searchParams.get('sig') ?? '');
        const title = station.host.videos.get(id)?.title;
        const said = `${request.url} ${station.host.key}`;
        if (title === 'reset') return (request.socket.destroy(), true);
        return (
          title === 'echo' &&
          refusal(response, 400, 'bad_request', { 'x-request-id': station.host.key, location: said })
        );
      };
      station.faults.api = (request, response, body) =>
        isCreate(request) && body.includes('"quoted"') && refusal(response, 422, `no_${request.headers.authorization}`);
      await station.start();
      for (const name of ['usual', 'reset', 'echo', 'quoted']) await station.drop(`${name}.mpg`, randomBytes(3_000));
      await station.reaches('usual.mpg', 'done');
      await station.reaches('echo.mpg', 'failed');
      await station.reaches('quoted.mpg', 'failed');
      await until('the reset was noted', async () => (await station.failures('reset.mpg', 0)).length > 0);
      const config = ['--config', station.scratch.config];
      const printed = await Promise.all([
        dropcast(['ls', '--json', ...config]),
        dropcast(['status', '--json', ...config]),
        dropcast(['show', '--json', station.scratch.file('inbox/echo.mpg'), ...config]),
        dropcast(['show', station.scratch.file('inbox/reset.mpg'), ...config]),
        dropcast(['check', '--json', ...config]),
        dropcast(['explain', '--json', station.scratch.file('inbox/quoted.mpg'), ...config]),
      ]);
      const failures = await Promise.all(['reset', 'echo', 'quoted'].map((name) => station.failures(`${name}.mpg`)));
      const everything = [
        station.daemon().output(),
        ...printed.map(({ stdout, stderr }) => stdout + stderr),
        JSON.stringify(failures),
      ].join('\n');
      expect(signed.size).toBeGreaterThan(2);
      expect(everything).toContain('echo.mpg');
      for (const secret of [station.host.key, ...signed, 'sig=', 'Bearer key-'])
        expect(everything.includes(secret), `${secret} was shown`).toBe(false);
      await station.daemon().kill('SIGKILL');
    },
  );
});

test.concurrent('the sandbox prints where it is and its key, works with curl, and ends with 0', async () => {
  await using sandbox = startDropcast(['sandbox', '--port', '0', '--json']);
  await until('it is up', () => sandbox.output().includes('\n'));
  const { base_url: baseUrl, api_key: key } = JSON.parse(sandbox.output()) as { base_url: string; api_key: string };
  const channels = await fetch(`${baseUrl}/channels`, { headers: { authorization: `Bearer ${key}` } });
  expect(channels.status).toBe(200);
  expect(await sandbox.kill('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
});

test.concurrent('help and version go to stdout with exit code 0', async () => {
  const [help, version] = await Promise.all([dropcast(['--help']), dropcast(['--version'])]);
  expect(help).toMatchObject({ code: 0, stderr: '' });
  for (const command of [
    'run',
    'once',
    'demo',
    'check',
    'explain',
    'status',
    'ls',
    'show',
    'adopt',
    'retry',
    'add',
    'sandbox',
  ])
    expect(help.stdout).toMatch(new RegExp(`^  ${command} |^Less often: .*\\b${command}\\b`, 'm'));
  expect(version).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

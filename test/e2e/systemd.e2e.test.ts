import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openNotifySocket } from '../systemd/notify-socket.ts';
import type { NotifySocket } from '../systemd/notify-socket.ts';
import { alongside } from './alongside.ts';
import { dropcast, startDropcast } from './dropcast-process.ts';
import { until } from '../support/until.ts';
import { expectUploadedOnce, refusal, startStation } from './station.ts';
import type { Station, StationOptions } from './station.ts';

/** More than the kernel's socket buffers hold. */
const beyondBuffers = 48 * 1024 * 1024;
const extended = 'EXTEND_TIMEOUT_USEC=15000000';

/** A daemon that systemd would have started. Its messages are in `socket`. */
async function startService(
  options: StationOptions = {},
): Promise<{ station: Station; socket: NotifySocket } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const socket = stack.use(await openNotifySocket());
  const env = { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '2000000', ...options.env };
  const station = stack.use(await startStation({ ...options, env }));
  const parts = stack.move();
  return { station, socket, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

alongside('messages to systemd', () => {
  test('the start, then READY once the folders were looked through, then the numbers and that it is alive', async () => {
    await using service = await startService();
    const { station, socket } = service;
    await socket.hears(/^READY=1\n/);
    expect((await station.status()).folders).toMatchObject([{ state: 'watching' }]);
    expect(socket.messages[0]).toBe(`${extended}\nSTATUS=Scanning the folders`);
    const before = socket.messages.findIndex((text) => text.startsWith('READY=1'));
    expect(socket.messages.slice(0, before).join()).not.toContain('WATCHDOG');
    await socket.hears(/^STATUS=Idle · API \d+\/1000000$/);
    await station.drop('one.mpg');
    await socket.hears(/^STATUS=Idle · 1 done · API \d+\/1000000$/);
    const pings = (): number => socket.messages.filter((text) => text === 'WATCHDOG=1').length;
    const now = pings();
    await until('it says twice more that it is alive', () => pings() >= now + 2);
  });

  test('why everything waits, in one line whatever the service answers', async () => {
    await using service = await startService();
    const { station, socket } = service;
    station.faults.api = (_, response) => refusal(response, 402, 'unpaid\nWATCHDOG=trigger\u001B[31m');
    await station.drop('one.mpg');
    const text = await socket.hears(/^STATUS=Everything waits: /);
    expect(text).toContain('WATCHDOG=trigger');
    for (const control of ['\n', '\u001B']) expect(text).not.toContain(control);
  });

  test('the stop at once, the uploads it waits for, and that this takes its time', async () => {
    await using service = await startService({ settings: { uploads: { stall_timeout: '30s' } } });
    const { station, socket } = service;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    station.faults.upload = async () => {
      await released;
      return false;
    };
    await station.drop('running.mpg', randomBytes(beyondBuffers));
    await socket.hears(/^STATUS=1 uploading · API \d+\/1000000$/);
    const { child, ended } = station.daemon();
    child.kill('SIGTERM');
    await socket.hears(`STOPPING=1\n${extended}\nSTATUS=Stopping: waiting for 1 upload`);
    const stoppedAt = socket.messages.findIndex((text) => text.startsWith('STOPPING'));
    await until('more time is asked for', () => socket.messages.indexOf(extended, stoppedAt) > stoppedAt);
    release();
    expect(await ended).toMatchObject({ code: 0 });
    expect(socket.messages.slice(stoppedAt).join()).not.toContain('API');
    expectUploadedOnce(station, 'running');
  });
});

alongside('dropcast reload', () => {
  let station: Station;
  let good: string;
  beforeAll(async () => {
    station = await startStation();
    good = await readFile(station.scratch.config, 'utf8');
  });
  afterAll(() => station[Symbol.asyncDispose]());
  beforeEach(() => writeFile(station.scratch.config, good));

  const reload = (env: Record<string, string> = {}) => dropcast(['reload', '--config', station.scratch.config], env);
  const reloads = (): number => station.daemon().output().split('"Reloaded"').length - 1;
  const rewrite = async (from: string, to: string): Promise<void> => {
    expect(good).toContain(from);
    await writeFile(station.scratch.config, good.replaceAll(from, to));
  };

  test.for([
    { name: 'cannot be read at all', from: 'ch_main', to: '[oops', why: /dropcast\.yaml:\d+:\d+ / },
    {
      name: 'names a folder that is not there',
      from: 'path: inbox',
      to: 'path: no-such',
      why: /folders\[0\]\.path: .*no-such/,
    },
    {
      name: 'names another socket',
      from: 'listen: off',
      to: 'listen: off\n  socket: other.sock',
      why: /does not listen at .*other\.sock\nrestart to change state_dir/,
    },
    {
      name: 'names another state directory and is reloaded by systemd',
      from: 'state_dir: state',
      to: 'state_dir: elsewhere',
      why: /does not listen at .*elsewhere.*\nrestart to change state_dir/,
      env: { MAINPID: '1' },
    },
  ])('refuses one that $name, with the reason; the old one stays', async ({ from, to, why, env }) => {
    await rewrite(from, to);
    const before = reloads();
    const { code, stdout, stderr } = await reload(env);
    expect([code, stdout]).toEqual([78, '']);
    expect(stderr).toMatch(why);
    expect(stderr).toMatch(/\n.*old configuration stays.*\n$/);
    expect((await station.status()).folders).toMatchObject([{ path: station.scratch.file('inbox') }]);
    expect(reloads()).toBe(before);
  });

  test('applies a good one, and lists what needs a restart', async () => {
    const before = reloads();
    await rewrite('ch_main', 'ch_news');
    await writeFile(station.scratch.config, (await readFile(station.scratch.config, 'utf8')).replace('debug', 'info'));
    const { code, stdout, stderr } = await reload();
    expect([code, stdout, stderr]).toEqual([0, 'Reloaded.\n', 'Restart to apply: log\n']);
    await station.drop('one.mpg');
    await station.reaches('one.mpg', 'done');
    expect(station.videos('one')).toMatchObject([{ channelId: 'ch_news' }]);
    expect(reloads()).toBe(before + 1);
  });

  test('says which file is read when it was asked with another one', async () => {
    const other = station.scratch.file('other.yaml');
    await writeFile(other, good, { mode: 0o600 });
    const { code, stderr } = await dropcast(['reload', '--config', other]);
    expect([code, stderr]).toEqual([0, expect.stringContaining(station.scratch.config)]);
  });

  test('says that the daemon is not running', async () => {
    await using idle = await startStation({ isStarted: false });
    expect(await dropcast(['reload', '--config', idle.scratch.config])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('not running'),
    });
  });
});

test('a manager that waits for messages and cannot be sent any: it ends at once and says so', async () => {
  await using station = await startStation({ isStarted: false });
  const env = { NOTIFY_SOCKET: 'vsock:2:1234', PATH: '/nonexistent' };
  await using service = startDropcast(['run', '--config', station.scratch.config], env);
  const { code, stderr } = await service.ended;
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^NOTIFY_SOCKET is vsock:2:1234, but .*\n$/)]);
});

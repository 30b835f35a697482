import { spawn } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { NotifyError, openNotifier } from '../../src/systemd/notifier.ts';
import { recordingLogger, silentLogger } from '../pipeline/silent-logger.ts';
import { openNotifySocket } from './notify-socket.ts';
import { needs } from '../support/needs.ts';
import { until } from '../support/until.ts';

const pid = process.pid;
/** There is no program in it. */
const PATH = '/nonexistent';

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Runs `send-one.ts`, with a descriptor as its 3 if one is given; its `LISTEN_PID` is its own, as systemd sets it. */
async function sendFromChild(
  words: readonly string[],
  { env, fd, flags = [] }: { env: Record<string, string>; fd?: number; flags?: readonly string[] },
): Promise<{ backend: string; stderr: string }> {
  const node = file('../../node_modules/.bin/node');
  const child = spawn(
    '/bin/sh',
    ['-c', 'LISTEN_PID=$$ exec "$@"', 'sh', node, ...flags, file('send-one.ts'), ...words],
    { env, stdio: ['ignore', 'pipe', 'pipe', fd ?? 'ignore'] },
  );
  if (child.stdout === null || child.stderr === null) throw new Error('the child has no output');
  const [backend, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { backend: backend.trim(), stderr };
}

const passed = { LISTEN_FDS: '1', LISTEN_FDNAMES: 'notify' };

describe('which way a message goes', () => {
  test('through the descriptor that systemd has opened', async () => {
    using socket = await openNotifySocket();
    const env = { NOTIFY_SOCKET: '/run/not/this/one', PATH, ...passed };
    const { backend } = await sendFromChild(['READY=1', 'STATUS=Idle'], { env, fd: socket.connect() });
    expect(backend).toBe('fd');
    await socket.hears('READY=1\nSTATUS=Idle');
  });

  test.for([
    { name: 'is of another name', env: { ...passed, LISTEN_FDNAMES: 'storage' } },
    { name: 'is not passed', env: { ...passed, LISTEN_FDS: '0' } },
    { name: 'is no socket', env: passed },
  ])('through libc when the descriptor $name', async ({ name, env }) => {
    using socket = await openNotifySocket();
    const fd = name === 'is no socket' ? undefined : socket.connect();
    const { backend } = await sendFromChild(['READY=1'], {
      env: { NOTIFY_SOCKET: socket.path, PATH, ...env },
      ...(fd !== undefined && { fd }),
    });
    expect(backend).toBe('ffi');
    await socket.hears('READY=1');
  });

  test('through libc when descriptors were passed to another process', async () => {
    using socket = await openNotifySocket();
    const env = { NOTIFY_SOCKET: socket.path, PATH, ...passed, LISTEN_PID: String(pid + 1) };
    using notifier = openNotifier({ env, pid, logger: silentLogger });
    expect(notifier?.backend).toBe('ffi');
  });

  test('through libc to an abstract socket', async () => {
    using socket = await openNotifySocket(`@dropcast-test-${pid}`);
    using notifier = openNotifier({ env: { NOTIFY_SOCKET: socket.path, PATH }, pid, logger: silentLogger });
    notifier?.send({ READY: '1' });
    await socket.hears('READY=1');
  });

  test(
    'through the program where Node has no libc to call, one message after the other',
    needs('systemd-notify'),
    async () => {
      using socket = await openNotifySocket();
      const env = { NOTIFY_SOCKET: socket.path, PATH: '/usr/bin' };
      const { backend, stderr } = await sendFromChild(['READY=1', 'STATUS=-- two words'], {
        env,
        flags: ['--no-experimental-ffi'],
      });
      expect([backend, stderr]).toEqual(['binary', '']);
      await socket.hears('READY=1\nSTATUS=-- two words');
    },
  );

  test('nowhere without a manager that listens', () => {
    expect(openNotifier({ env: { PATH }, pid, logger: silentLogger })).toBeNull();
    expect(openNotifier({ env: { PATH, NOTIFY_SOCKET: '' }, pid, logger: silentLogger })).toBeNull();
  });

  test('a manager that waits, and no way to it: that is said at once', () => {
    for (const path of ['vsock:2:1234', 'notify', `/run/${'x'.repeat(120)}`]) {
      const open = () => openNotifier({ env: { PATH, NOTIFY_SOCKET: path }, pid, logger: silentLogger });
      expect(open, path).toThrow(NotifyError);
      expect(open, path).toThrow(/OpenFile=.*systemd-notify/);
    }
  });
});

describe('what cannot be sent', () => {
  test('is logged once, and ends nothing', () => {
    const logger = recordingLogger();
    using notifier = openNotifier({ env: { PATH, NOTIFY_SOCKET: `@nobody-${pid}` }, pid, logger });
    for (let n = 0; n < 3; n += 1) notifier?.send({ READY: '1' });
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { backend: 'ffi' } }]);
  });

  test('by a program that fails is logged once too', async () => {
    await using directory = await scratchDirectory();
    await symlink('/bin/false', directory.file('systemd-notify'));
    const env = { NOTIFY_SOCKET: 'vsock:2:1234', PATH: `bin:${directory.path}` };
    const logger = recordingLogger();
    using notifier = openNotifier({ env, pid, logger });
    notifier?.send({ READY: '1' });
    notifier?.send({ READY: '1' });
    await until('it is logged', () => logger.lines.length > 0);
    expect(logger.lines).toHaveLength(1);
    expect(notifier?.backend).toBe('binary');
    // Whatever lies where it was started is not run.
    const here = { ...env, PATH: relative(process.cwd(), directory.path) };
    expect(() => openNotifier({ env: here, pid, logger })).toThrow(NotifyError);
  });
});

describe('the watchdog', () => {
  test.for<{ env: Record<string, string>; watchdogMs: number | null }>([
    { env: {}, watchdogMs: null },
    { env: { WATCHDOG_USEC: '60000000' }, watchdogMs: 60_000 },
    { env: { WATCHDOG_USEC: '60000000', WATCHDOG_PID: String(pid) }, watchdogMs: 60_000 },
    { env: { WATCHDOG_USEC: '60000000', WATCHDOG_PID: String(pid + 1) }, watchdogMs: null },
    { env: { WATCHDOG_USEC: '0' }, watchdogMs: null },
    { env: { WATCHDOG_USEC: 'often' }, watchdogMs: null },
  ])('with $env expects a sign every $watchdogMs ms', async ({ env, watchdogMs }) => {
    using notifier = openNotifier({ env: { PATH, NOTIFY_SOCKET: '@nobody', ...env }, pid, logger: silentLogger });
    expect(notifier?.watchdogMs).toBe(watchdogMs);
  });
});

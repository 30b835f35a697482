import { execFile } from 'node:child_process';
import { accessSync, closeSync, constants, fstatSync, writeSync } from 'node:fs';
import type * as Ffi from 'node:ffi';
import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** One way to send datagrams to `$NOTIFY_SOCKET`. Node itself does not support Unix datagram sockets. */
export interface NotifyBackend {
  readonly name: 'fd' | 'ffi' | 'binary';
  /** @throws on an immediate failure */
  send(text: string): void;
  close(): void;
}

/**
 * Opens the first backend that works: a socket opened by systemd, libc through FFI, or the `systemd-notify` program.
 *
 * @param path the socket's path; an abstract name starts with `@`
 * @param options.failed called with errors that occur after `send` has returned
 * @returns null when none works
 */
export function openBackend(
  path: string,
  options: { readonly env: Environment; readonly pid: number; readonly failed: (error: unknown) => void },
): NotifyBackend | null {
  return openFd(options.env, options.pid) ?? openFfi(path) ?? openBinary(path, options.env, options.failed);
}

/** SD_LISTEN_FDS_START in sd_listen_fds(3). */
const firstFd = 3;

/**
 * Uses the socket from `OpenFile=/run/systemd/notify:notify:graceful` in the unit. systemd ≥ 253 connects it; older
 * versions ignore the line.
 */
function openFd(env: Environment, pid: number): NotifyBackend | null {
  const count = Number(env['LISTEN_FDS'] ?? 0);
  const at = (env['LISTEN_FDNAMES'] ?? '').split(':').indexOf('notify');
  if (Number(env['LISTEN_PID']) !== pid || at < 0 || at >= count) return null;
  const fd = firstFd + at;
  if (!isSocket(fd)) return null;
  return { name: 'fd', send: (text) => void writeSync(fd, text), close: () => closeSync(fd) };
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}

/** Constants of the Linux ABI: unix(7), socket(2), send(2). */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;

/**
 * Calls libc's `sendto` through `node:ffi` (Node ≥ 26.1; measured: 0.4 ms to load, 6 µs per message, also under
 * `--jitless` and MemoryDenyWriteExecute). Blocks while the manager's queue is full, like sd_notify(3): a READY must
 * not be lost.
 */
function openFfi(path: string): NotifyBackend | null {
  const address = addressOf(path);
  if (address === null || process.platform !== 'linux') return null;
  try {
    // Undefined if Node lacks the module, has it disabled, or forbids it (`--permission`).
    const ffi = process.getBuiltinModule('node:ffi') as typeof Ffi | undefined;
    const library = ffi?.dlopen(null, {
      socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
      sendto: { arguments: ['i32', 'buffer', 'u64', 'i32', 'buffer', 'u32'], return: 'i64' },
    });
    if (library === undefined) return null;
    const { socket, sendto } = library.functions;
    const fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return null;
    return {
      name: 'ffi',
      send: (text) => {
        const bytes = Buffer.from(text);
        const sent = sendto(fd, bytes, BigInt(bytes.length), MSG_NOSIGNAL, address, address.length);
        if (sent < 0n) throw new Error(`cannot send a message to the service manager at ${path}`);
      },
      close: () => {
        closeSync(fd);
        library.lib.close();
      },
    };
  } catch {
    return null;
  }
}

/** Longest name in a `sockaddr_un`, without the terminating NUL (unix(7)). */
const longestName = 107;

/**
 * Builds a `sockaddr_un`; null for other addresses, such as a virtual machine's `vsock:`. An abstract name starts with
 * NUL and has no terminator.
 */
function addressOf(path: string): Buffer | null {
  const isAbstract = path.startsWith('@');
  const name = Buffer.from(isAbstract ? `\0${path.slice(1)}` : `${path}\0`);
  if (!(isAbstract || path.startsWith('/')) || name.length > longestName + 1) return null;
  const family = Buffer.from(Uint16Array.of(AF_UNIX).buffer);
  return Buffer.concat([family, name]);
}

/** Timeout of one run, in milliseconds: the program waits until the manager has read the message. */
const programMs = 10_000;

/**
 * Runs the `systemd-notify` program. It is a child process, so the unit needs `NotifyAccess=all`. Its environment
 * contains only the socket. Runs one at a time, because STATUS must not arrive before READY.
 */
function openBinary(path: string, env: Environment, failed: (error: unknown) => void): NotifyBackend | null {
  const program = findProgram('systemd-notify', env);
  if (program === null) return null;
  let last: Promise<void> = Promise.resolve();
  const run = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const options = { env: { NOTIFY_SOCKET: path }, timeout: programMs };
      execFile(program, text.split('\n'), options, (error) => {
        if (error !== null) failed(error);
        resolve();
      });
    });
  return {
    name: 'binary',
    send: (text) => {
      last = last.then(() => run(text));
    },
    close: () => undefined,
  };
}

function findProgram(name: string, env: Environment): string | null {
  const directories = (env['PATH'] ?? '/usr/bin:/bin').split(':').filter(isAbsolute);
  return directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

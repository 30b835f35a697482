import { closeSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { dlopen } from 'node:ffi';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '../support/until.ts';

/** The manager's end of `$NOTIFY_SOCKET`: a real datagram socket that keeps what comes in. */
export interface NotifySocket extends Disposable {
  /** As it stands in `$NOTIFY_SOCKET`. */
  readonly path: string;
  readonly messages: string[];
  /** A file descriptor that is connected to it, as `OpenFile=` passes one. */
  connect(): number;
  /** Waits until this message has come. */
  hears(message: string | RegExp): Promise<string>;
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;

const { functions: libc } = dlopen(null, {
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  bind: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  connect: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  recv: { arguments: ['i32', 'buffer', 'u64', 'i32'], return: 'i64' },
});

/** @param place `@` and a name, or an absolute path; else it is made in a directory of its own */
export async function openNotifySocket(place?: string): Promise<NotifySocket> {
  const path = place ?? join(await mkdtemp(join(tmpdir(), 'dropcast-notify-')), 'notify');
  const isAbstract = path.startsWith('@');
  const name = Buffer.from(isAbstract ? `\0${path.slice(1)}` : `${path}\0`);
  const address = Buffer.concat([Buffer.from(Uint16Array.of(AF_UNIX).buffer), name]);
  const fd = libc.socket(AF_UNIX, SOCK_DGRAM, 0);
  if (libc.bind(fd, address, address.length) !== 0) throw new Error(`no socket can be made at ${path}`);

  const messages: string[] = [];
  const buffer = Buffer.alloc(4096);
  const drain = (): void => {
    for (;;) {
      const length = Number(libc.recv(fd, buffer, BigInt(buffer.length), MSG_DONTWAIT));
      if (length < 0) return;
      messages.push(buffer.toString('utf8', 0, length));
    }
  };
  // The kernel keeps ten (net.unix.max_dgram_qlen); who sends an eleventh waits.
  const timer = setInterval(drain, 20);
  const connected: number[] = [];
  return {
    path,
    messages,
    connect: () => {
      const other = libc.socket(AF_UNIX, SOCK_DGRAM, 0);
      if (libc.connect(other, address, address.length) !== 0) throw new Error(`no process listens at ${path}`);
      connected.push(other);
      return other;
    },
    hears: async (wanted) => {
      const isIt = (text: string): boolean => (typeof wanted === 'string' ? text === wanted : wanted.test(text));
      await until(`the message ${wanted}`, () => messages.some(isIt)).catch((error: unknown) => {
        throw new Error(`${String(error)}; heard: ${JSON.stringify(messages)}`, { cause: error });
      });
      return messages.find(isIt) ?? '';
    },
    [Symbol.dispose]: () => {
      clearInterval(timer);
      for (const one of [fd, ...connected]) closeSync(one);
      if (place === undefined) rmSync(dirname(path), { recursive: true });
    },
  };
}

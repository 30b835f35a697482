import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** What the callers of one listener do. */
export interface Calls {
  /** A port on loopback, or the path of a unix socket. */
  readonly target: number | string;
  readonly connections: number;
  /** What each connection sends at once; empty: nothing. */
  readonly text: string;
  readonly times: number;
  /** Whether a caller reads its answers. */
  readonly isReading: boolean;
  /** Whether a connection that the listener closes is followed by another one. */
  readonly isRepeated: boolean;
}

/**
 * `node callers.ts SECONDS CALLS…`, each a JSON of {@link Calls}: calls the listeners at once, and prints how many
 * connections it made.
 */
const [seconds = '1', ...calls] = process.argv.slice(2);
const sockets = new Set<Socket>();
let made = 0;
let isOver = false;
for (const one of calls.map((text) => JSON.parse(text) as Calls)) {
  const bytes = Buffer.from(one.text.repeat(one.times));
  for (let n = 0; n < one.connections; n += 1) call(one, bytes);
}
setTimeout(
  () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
    console.log(made);
  },
  Number(seconds) * 1_000,
);

function call(calls: Calls, bytes: Buffer): void {
  made += 1;
  const { target, isReading, isRepeated } = calls;
  const socket = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target);
  sockets.add(socket);
  socket.on('error', () => {});
  socket.on('connect', () => socket.write(bytes));
  if (isReading) socket.resume();
  else socket.pause();
  socket.on('close', () => {
    sockets.delete(socket);
    // A full backlog of a unix socket refuses at once: without a moment, only this process would be measured.
    if (isRepeated && !isOver) setTimeout(() => call(calls, bytes), 1);
  });
}

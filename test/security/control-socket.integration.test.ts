import { link, lstat, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readSocketPath } from '../../src/config/paths.ts';
import { flood } from '../support/flood.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';
import { servedControl } from '../daemon/served-control.ts';
import { ControlSocketError } from '../../src/daemon/control/server.ts';

let directory: ScratchDirectory;
let path: string;

beforeEach(async () => {
  directory = await scratchDirectory();
  path = directory.file('dropcast.sock');
});

afterEach(() => directory[Symbol.asyncDispose]());

/** All that the socket itself needs of a daemon. */
function serve(): Promise<AsyncDisposable> {
  const daemon = { ledger: {}, config: () => ({ stateDir: directory.path }) };
  return servedControl(daemon, path);
}

test('the control socket is for its user alone, the read socket for its group too, whatever the umask', async () => {
  const before = process.umask(0);
  try {
    await using served = await serve();
    expect(served).toBeDefined();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(readSocketPath(path))).mode & 0o777).toBe(0o660);
    expect(process.umask()).toBe(0);
  } finally {
    process.umask(before);
  }
});

test('a socket that a killed daemon left is replaced', async () => {
  const dead = directory.file('dead.sock');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(dead, resolve));
  // Another name, because Node takes the first one away when it closes: as after kill -9.
  await link(dead, path);
  await new Promise((resolve) => server.close(resolve));
  expect((await lstat(path)).isSocket()).toBe(true);
  await using served = await serve();
  expect(served).toBeDefined();
  expect((await lstat(path)).isSocket()).toBe(true);
});

describe('a file of another user in place of the control socket', () => {
  const refusal = (): Promise<unknown> => serve().catch((error: unknown) => error);

  test('a file: is refused, and stays as it is', async () => {
    await writeFile(path, 'dear diary');
    expect(await refusal()).toBeInstanceOf(ControlSocketError);
    expect(await readFile(path, 'utf8')).toBe('dear diary');
  });

  test.each(['victim', 'nothing'])(
    'a link to %s: is refused, and nothing is made or changed behind it',
    async (name) => {
      const victim = directory.file('victim');
      await writeFile(victim, 'dear diary');
      await symlink(directory.file(name), path);
      expect(await refusal()).toBeInstanceOf(ControlSocketError);
      expect(await readFile(victim, 'utf8')).toBe('dear diary');
      expect((await lstat(path)).isSymbolicLink()).toBe(true);
      await expect(lstat(directory.file('nothing'))).rejects.toThrow('ENOENT');
    },
  );

  test('a socket of theirs: is refused, and receives nothing', async () => {
    const heard: unknown[] = [];
    const server = createServer((socket) => socket.on('data', (part) => heard.push(part)));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    expect(await refusal()).toMatchObject({ message: expect.stringContaining('listens on') });
    await new Promise((resolve) => server.close(resolve));
    expect(heard).toEqual([]);
  });
});

describe('a caller of the control socket', () => {
  test.each([true, false])(
    'who sends a body without end is refused early (length announced: %s)',
    async (announced) => {
      await using served = await serve();
      expect(served).toBeDefined();
      const { status, sentBytes } = await flood({ socketPath: path, path: '/retry' }, announced);
      expect(status).toBe(413);
      // What was on its way by then lies in the buffers of the two sockets.
      expect(sentBytes).toBeLessThan(8 * 1024 * 1024);
    },
  );
});

describe('the connections of a socket', () => {
  const others = { 'the control socket': readSocketPath, 'the read socket': (control: string) => control };

  test.each([
    ['the control socket', (control: string) => control],
    ['the read socket', readSocketPath],
  ] as const)('on %s are a hundred at most, and the other socket still answers', async (name, placeOf) => {
    await using served = await serve();
    expect(served).toBeDefined();
    const held = await Promise.all(Array.from({ length: 100 }, () => open(placeOf(path))));
    const refused = await Promise.all(Array.from({ length: 200 }, () => open(placeOf(path))));
    for (const socket of refused) socket.resume();
    await expect.poll(() => refused.filter(({ closed }) => !closed).length).toBe(0);
    expect(held.filter(({ closed }) => closed)).toEqual([]);
    expect(await answerOf(others[name](path))).toBe(404);
    for (const socket of held) socket.destroy();
  });
});

async function open(place: string): Promise<Socket> {
  const socket = connect(place).on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

function answerOf(socketPath: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: '/nothing' }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end();
  });
}

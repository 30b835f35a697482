import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inspectState } from '../../src/daemon/state/inspect-state.ts';
import { smallDisk } from '../ledger/small-disk.ts';
import { needs } from '../support/needs.ts';

/** What a daemon that runs says to whoever asks. */
async function someDaemon(socket: string): Promise<AsyncDisposable> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  );
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())) };
}

test('a disk that filled up or became read-only is reported while the daemon runs', needs('mount'), async () => {
  await using disk = await smallDisk('3m');
  const socket = join(disk.path, 'dropcast.sock');
  await using stack = new AsyncDisposableStack();
  stack.use(await someDaemon(socket));
  const inspected = () => inspectState({ stateDir: disk.path, failureLog: join(disk.path, 'failures.jsonl') }, socket);
  expect(await inspected()).toEqual([]);
  expect(await readdir(disk.path)).toEqual(['dropcast.sock']);
  disk.remount('ro');
  expect(await inspected()).toEqual([expect.stringMatching(/read-only \(EROFS\)/)]);
  disk.remount('rw');
  await writeFile(join(disk.path, 'fill'), Buffer.alloc(4_000_000)).catch(() => undefined);
  expect(await inspected()).toEqual([expect.stringMatching(/is full/)]);
});

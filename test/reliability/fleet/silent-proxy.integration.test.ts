import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { listen } from '../../support/server.ts';
import { createServer } from 'node:http';
import { until } from '../../support/until.ts';
import { startSilentProxy } from './silent-proxy.ts';

test('a cut route refuses nothing and delivers nothing, and once repaired it breaks connections from before', async () => {
  await using server = await listen(createServer((_, response) => response.end('yes')));
  await using proxy = await startSilentProxy(() => Number(new URL(server.origin).port));
  const ask = async (): Promise<string> => (await fetch(`http://127.0.0.1:${proxy.port}`)).text();
  expect(await ask()).toBe('yes');
  proxy.cut();
  const socket = connect(proxy.port, '127.0.0.1');
  await once(socket, 'connect');
  let isOver = false;
  socket.on('close', () => (isOver = true)).on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const lost = ask().then(
    () => 'answered',
    () => 'broken',
  );
  expect(isOver).toBe(false);
  proxy.mend();
  await until('it is broken', () => isOver);
  expect(await lost).toBe('broken');
  expect(await ask()).toBe('yes');
});

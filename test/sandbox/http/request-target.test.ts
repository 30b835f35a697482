import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { isLoopbackHost } from '../../../packages/sandbox/src/loopback.ts';
import { straightenTarget } from '../../../packages/sandbox/src/http/request-target.ts';

function straightened(target: string, ...hosts: string[]) {
  const request = { url: target, headersDistinct: { host: hosts } } as unknown as IncomingMessage;
  const isForThisMachine = straightenTarget(request, isLoopbackHost);
  return { isForThisMachine, target: request.url };
}

test.each([
  ['/v1/videos?page=1', '/v1/videos?page=1'],
  ['http://127.0.0.1:8787/v1/videos?a=%76', '/v1/videos?a=%76'],
  ['HTTP://LOCALHOST', '/'],
  ['/_sandbox/%2e%2e/v1/./videos', '/v1/videos'],
  ['/%76%31/vid%65os/vid%5F1', '/v1/videos/vid_1'],
  ['/v1/videos/a%2fb%00%C3%A9%zz', '/v1/videos/a%2fb%00%C3%A9%zz'],
  ['//v1/videos', '//v1/videos'],
  ['/v1/videos/%252e%252e', '/v1/videos/%252e%252e'],
])('%s is %s', (target, path) => {
  expect(straightened(target, '127.0.0.1')).toEqual({ isForThisMachine: true, target: path });
});

test.each(['*', '/v1\\videos', 'ftp://127.0.0.1/v1/videos', 'v1/videos', ''])(
  '%j is left to who refuses it',
  (target) => {
    expect(straightened(target, '127.0.0.1')).toEqual({ isForThisMachine: true, target });
  },
);

test.each([
  ['/', 'evil.example'],
  ['/', '127.0.0.1.evil.example'],
  ['/', '127.0.0.1@evil.example'],
  ['/', ''],
  ['/'],
  ['/', '0.0.0.0'],
  ['/', '127.0.0.1', 'evil.example'],
  ['/', 'evil.example', '127.0.0.1'],
  ['/', '127.0.0.1', '127.0.0.1'],
  ['http://evil.example/', '127.0.0.1'],
  ['http://127.0.0.1/', 'evil.example'],
])('%s with the hosts %s %s is for another machine', (target, ...hosts) => {
  expect(straightened(target, ...hosts).isForThisMachine).toBe(false);
});

test.each(['127.0.0.1:8787', 'LOCALHOST', 'localhost.', '[::1]:1', 'app.localhost', '127.1'])(
  '%s is this machine',
  (host) => {
    expect(straightened('/', host).isForThisMachine).toBe(true);
  },
);

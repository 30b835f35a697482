import { expect, test } from 'vitest';
import { isLoopbackHost } from '../../packages/sandbox/src/loopback.ts';

test.each(['127.0.0.1', '127.255.0.9', 'localhost', 'LOCALHOST.', 'media.localhost', '::1', '[::1]'])(
  '%s is this machine',
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

test.each([
  '0.0.0.0',
  '10.0.0.1',
  '::',
  '127.0.0.1.example.com',
  'localhost.example.com',
  'notlocalhost',
  '128.0.0.1',
  '2130706433',
  '',
])('%s may be another machine', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});

import { createVideoClient } from '@dropcast/client';
import { describe, expect, it } from 'vitest';
import { isLoopback, parseBaseUrl, parseListen, parseOrigin } from '../../src/config/addresses.ts';

describe('the base address', () => {
  it.each([
    ['https://video.example.com/v1', 'https://video.example.com/v1'],
    ['https://video.example.com/v1//', 'https://video.example.com/v1'],
    ['https://video.example.com', 'https://video.example.com'],
    ['HTTPS://Video.Example.com:443/v1/', 'https://video.example.com/v1'],
    ['http://localhost:8080/v1', 'http://localhost:8080/v1'],
    ['http://127.1.2.3:8080', 'http://127.1.2.3:8080'],
    ['http://[::1]:8080/', 'http://[::1]:8080'],
  ])('%s is taken as %s', (text, value) => {
    expect(parseBaseUrl(text)).toEqual({ ok: true, value });
  });

  it.each([
    'http://video.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://10.0.0.1',
    'http://[::2]',
    'http://0.0.0.0',
    'https:video.example.com',
    'https:\\\\video.example.com',
    'https:///video.example.com',
    'https://video.example.com\\@evil.example',
    ' https://video.example.com',
    'https://video.example\n.com',
    'https://user@video.example.com',
    'https://:secret@video.example.com',
    'https://video.example.com/?',
    'https://video.example.com/#',
    'https://',
    'https://video.example.com:99999',
    'ftp://video.example.com',
    'file:///etc/passwd',
    '',
  ])('%j is refused', (text) => {
    expect(parseBaseUrl(text).ok).toBe(false);
  });

  it('is never repeated in a message, because it may hold a password', () => {
    expect(JSON.stringify(parseBaseUrl('https://user:secret@video.example.com'))).not.toContain('secret');
    expect(JSON.stringify(parseBaseUrl('user:secret@video.example.com'))).not.toContain('secret');
  });
});

describe('an origin', () => {
  it('is scheme, host and port', () => {
    expect(parseOrigin('https://upload.example.com:8443')).toEqual({
      ok: true,
      value: 'https://upload.example.com:8443',
    });
    expect(parseOrigin('https://upload.example.com:443/')).toEqual({ ok: true, value: 'https://upload.example.com' });
  });

  it.each(['https://upload.example.com/put', 'http://upload.example.com', '*', 'https://*/x', 'null'])(
    '%s is not one',
    (text) => {
      expect(parseOrigin(text).ok).toBe(false);
    },
  );
});

describe('the status address', () => {
  it.each([
    ['off', null],
    ['127.0.0.1:7878', { host: '127.0.0.1', port: 7878 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:65535', { host: '::1', port: 65_535 }],
  ])('%s is understood', (text, value) => {
    expect(parseListen(text)).toEqual({ ok: true, value });
  });

  it.each([
    '7878',
    ':7878',
    '127.0.0.1',
    '127.0.0.1:',
    '127.0.0.1:x',
    '::1:7878',
    'a b:1',
    'a/b:1',
    '127.0.0.1:65536',
    '',
  ])('%j is refused', (text) => {
    expect(parseListen(text).ok).toBe(false);
  });
});

it('takes the loopback network, its name and its IPv6 address for loopback, and nothing that only looks like it', () => {
  expect(['localhost', 'LOCALHOST', '127.0.0.1', '127.255.0.9', '::1', '[::1]'].map(isLoopback)).not.toContain(false);
  expect(['localhost.', '128.0.0.1', '::', '0.0.0.0', 'localhost.example', ''].map(isLoopback)).not.toContain(true);
});

const ours = ['localhost', 'LOCALHOST', '127.0.0.1', '127.255.0.9', '127.1', '0x7f.1', '[::1]', '[0::1]'];
const others = ['localhost.', 'localhost.example', '127.0.0.1.example', '128.0.0.1', '0.0.0.0', '[::]', '[::2]'];

it.each([...ours, ...others, '[::ffff:127.0.0.1]'])(
  'takes plain http to %s exactly when the client does',
  async (host) => {
    const isTaken = parseBaseUrl(`http://${host}:8080/v1`).ok;
    expect(await isTakenByClient(`http://${host}:8080/v1`)).toBe(isTaken);
  },
);

async function isTakenByClient(baseUrl: string): Promise<boolean> {
  try {
    await using client = createVideoClient({ baseUrl, apiKey: 'abc' });
    return client !== undefined;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

import { describe, expect, test } from 'vitest';

import { createVideoClient } from '../../packages/client/src/create-video-client.ts';
import { settingsOf } from '../../packages/client/src/settings.ts';
import type { VideoClientOptions } from '../../packages/client/src/client-options.ts';
import { selfSigned } from './certificate.ts';

const good: VideoClientOptions = { baseUrl: 'https://video.example.com/v1', apiKey: 'sk_0123456789' };

describe('the options of a client', () => {
  test('have defaults', () => {
    const { apiKey, ...settings } = settingsOf(good);
    expect(apiKey.reveal()).toBe('sk_0123456789');
    expect(settings).toEqual({
      baseUrl: 'https://video.example.com/v1',
      sendKeyTo: [],
      timeoutMs: 30_000,
      maxRetries: 2,
      maxRetryAfterMs: 60_000,
      honoursIdempotencyKey: false,
      headers: {},
    });
  });

  test.each([
    ['https://video.example.com/v1/', 'https://video.example.com/v1'],
    ['https://video.example.com', 'https://video.example.com'],
    ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080/v1'],
    ['http://[::1]:8080/v1', 'http://[::1]:8080/v1'],
    ['http://localhost/v1', 'http://localhost/v1'],
  ])('take the address %s', (baseUrl, expected) => {
    expect(settingsOf({ ...good, baseUrl }).baseUrl).toBe(expected);
  });

  test.each<[Partial<VideoClientOptions>, RegExp]>([
    [{ baseUrl: 'http://video.example.com/v1' }, /^baseUrl .*https:/],
    [{ baseUrl: 'http://127.0.0.1.example.com/v1' }, /^baseUrl .*https:/],
    [{ baseUrl: 'ftp://video.example.com' }, /^baseUrl .*https:/],
    [{ baseUrl: '' }, /^baseUrl .*web address/],
    [{ baseUrl: 'https://me:sk_0123456789@video.example.com' }, /^baseUrl .*password$/],
    [{ baseUrl: 'https://video.example.com/v1?key=1' }, /^baseUrl must not have a query/],
    [{ apiKey: '' }, /^apiKey is empty/],
    [{ apiKey: 'sk_0123456789\r\nx: y' }, /API key/],
    [{ userAgent: 'dropcast\r\nx: y' }, /user-agent/],
    [{ timeoutMs: 0 }, /^timeoutMs must be a whole number from 1 to 2147483647, not 0/],
    [{ timeoutMs: Number.NaN }, /^timeoutMs/],
    [{ timeoutMs: 2 ** 31 }, /^timeoutMs/],
    [{ maxRetries: -1 }, /^maxRetries must be a whole number from 0 to 10/],
    [{ maxRetries: 11 }, /^maxRetries/],
    [{ maxRetries: 1.5 }, /^maxRetries/],
    [{ maxRetryAfterMs: 86_400_001 }, /^maxRetryAfterMs must be a whole number from 0 to 86400000/],
    [{ sendKeyTo: ['https://up.example.com/path'] }, /^sendKeyTo .*origins/],
    [{ sendKeyTo: ['http://up.example.com'] }, /^sendKeyTo .*https:/],
    [{ ca: 'no certificate' }, /^ca .*certificate/],
  ])('refuse %j', (wrong, message) => {
    const open = () => createVideoClient({ ...good, ...wrong });
    expect(open).toThrow(TypeError);
    expect(open).toThrow(message);
    expect(open).not.toThrow(/sk_0123456789/);
  });

  test('take origins for the key, with or without a slash, and a certificate', () => {
    const settings = settingsOf({ ...good, sendKeyTo: ['https://up.example.com/'], ca: selfSigned.cert });
    expect(settings).toMatchObject({ sendKeyTo: ['https://up.example.com'], ca: selfSigned.cert });
  });
});

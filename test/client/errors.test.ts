import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';

import { ConnectionError, ServiceError } from '../../packages/client/src/errors.ts';

describe('an error of the service', () => {
  test('keeps of its cause the name, the code and the message, and none of the baggage', () => {
    const options = { headers: { authorization: 'Bearer sk_secret' } };
    const baggage = { code: 'ECONNRESET', options, request: { url: 'https://up.example.com/u/tok?sig=1' } };
    const cause = Object.assign(
      new TypeError('at https://up.example.com/u/tok?sig=1', { cause: { options } }),
      baggage,
    );
    const error = new ConnectionError(true, 'it broke', { code: 'ECONNRESET', cause });
    expect(error.cause).toMatchObject({
      name: 'TypeError',
      code: 'ECONNRESET',
      message: 'at https://up.example.com/…',
    });
    const text = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error) + JSON.stringify(error.cause);
    expect(text).not.toMatch(/sk_secret|sig=1|tok/);
  });

  test('shows no address in its own message, and prints its properties as data', () => {
    const error = new ServiceError('failed at https://up.example.com/u/tok?sig=1', {
      status: 500,
      code: 'x',
      requestId: 'r',
    });
    expect(error.message).toBe('failed at https://up.example.com/…');
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'ServiceError',
      message: 'failed at https://up.example.com/…',
      code: 'x',
      status: 500,
      requestId: 'r',
    });
  });

  test('survives a cause that is not an error', () => {
    const { cause } = new ServiceError('m', { cause: 'Bearer sk_secret' });
    expect(cause).toBeInstanceOf(Error);
    expect(inspect(cause)).not.toContain('sk_secret');
  });
});

test('every code of this package is a word that editors offer', async () => {
  const sources = join(import.meta.dirname, '../../packages/client/src');
  const names = (await readdir(sources, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(names.map((name) => readFile(join(sources, name), 'utf8')));
  const used = texts.flatMap((text) => [...text.matchAll(/(?:code: |code \?\?= |\?\? |refusal\()'([a-z]+_[a-z_]+)'/g)]);
  const [, listed = ''] = /export type ErrorCode = OpenWord<([^>]*)>/.exec(texts.join('\n')) ?? [];
  const words = new Set(used.map(([, word]) => word));
  expect(words.size).toBeGreaterThan(20);
  expect([...words].filter((word) => !listed.includes(`'${word}'`))).toEqual([]);
});

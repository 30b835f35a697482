import { chmod } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';

import { loadConfig } from '../../src/config/load.ts';
import { scratch } from '../config/scratch.ts';
import type { Scalar } from 'yaml';
import { configText, tagged } from '../support/configuration.ts';

const usable = (key: string | Scalar) => configText({ service: { api_key: key } });
const keyElsewhere = tagged('!env', 'KEY');

describe('who may write and read the configuration', () => {
  // Rows: the bits of the file. Columns: with the key behind a tag, with the key in it.
  test.each([
    [0o600, 'taken', 'taken'],
    [0o400, 'taken', 'taken'],
    [0o640, 'taken', 'refused'],
    [0o644, 'taken', 'refused'],
    [0o660, 'taken', 'refused'],
    [0o664, 'taken', 'refused'],
    [0o602, 'refused', 'refused'],
    [0o666, 'refused', 'refused'],
    [0o777, 'refused', 'refused'],
  ] as const)('mode %o: with the key elsewhere it is %s, with the key in it %s', async (mode, elsewhere, inside) => {
    await using here = await scratch();
    const outcome = async (key: string | Scalar): Promise<string> => {
      const { config, problems } = await loadConfig(await here.write('c.yaml', usable(key), mode), here.environment);
      expect(JSON.stringify(problems)).not.toContain('s3cret');
      return config === null ? 'refused' : 'taken';
    };
    expect([await outcome(keyElsewhere), await outcome('s3cret')]).toEqual([elsewhere, inside]);
  });

  test('says why, and what to do', async () => {
    await using here = await scratch();
    const { problems } = await loadConfig(await here.write('c.yaml', usable(keyElsewhere), 0o606), here.environment);
    expect(problems).toMatchObject([
      {
        severity: 'error',
        line: 1,
        message: expect.stringContaining('(mode 0606)'),
      },
    ]);
  });

  test('does not keep an operator from steering the daemon', async () => {
    await using here = await scratch();
    const file = await here.write('c.yaml', usable(keyElsewhere), 0o666);
    expect((await loadConfig(file, here.environment, 'without key')).config).not.toBeNull();
  });

  test.each([
    [0o700, 0],
    [0o775, 0],
    [0o1777, 0],
    [0o777, 1],
  ])('a directory of mode %o is worth %i warnings', async (mode, count) => {
    await using here = await scratch();
    await chmod(here.path, mode);
    const { config, problems } = await here.load(usable(keyElsewhere));
    expect(config).not.toBeNull();
    expect(problems.map(({ severity }) => severity)).toEqual(Array.from({ length: count }, () => 'warning'));
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED', () => {
  test.each([
    ['0', 1],
    ['1', 0],
    ['', 0],
  ])('of %j gives %i errors', async (value, count) => {
    await using here = await scratch();
    const env = { ...here.environment.env, NODE_TLS_REJECT_UNAUTHORIZED: value };
    const { config, problems } = await here.load(usable(keyElsewhere), env);
    expect(config === null).toBe(count === 1);
    expect(problems.filter(({ message }) => message.includes('in tls.ca'))).toHaveLength(count);
  });
});

import { describe, expect, test } from 'vitest';
import { settingsOf, yamlOf } from '../../../src/cli/probe/points.ts';
import type { Config } from '../../../src/config/config.ts';
import { exchangesOf, type Said } from '../../recorder/said.ts';

const baseUrl = 'https://video.example.com/v1';
const put = (status: number, more: object = {}): Said => ({
  method: 'PUT',
  target: '/uploads/vid_1/1',
  status,
  ...more,
});

/** The settings after exchanges with these further members. */
function settings(said: Said, further: object, config: { requestsPerHour: number } | null = null) {
  const [exchange] = exchangesOf([said]);
  const seen = [{ ...exchange, ...further }] as ReturnType<typeof exchangesOf>;
  const configured = config === null ? null : ({ service: config } as unknown as Config);
  return settingsOf(seen, { config: configured, baseUrl }).map(({ key, value }) => `${key}: ${value}`);
}

const missing = (name: string): object => ({
  answer: {
    status: 400,
    headers: {},
    body: { text: `<Error><Code>MissingRequiredHeader</Code><HeaderName>${name}</HeaderName></Error>` },
  },
});
const upload = { origin: 'https://uploads.example.com' };
const policy = (value: string): object => ({ answer: { status: 200, headers: { 'ratelimit-policy': value } } });

describe('a setting', () => {
  test.each<[string, Said, object, readonly string[]]>([
    ['a block blob', put(400), missing('x-ms-blob-type'), ['uploads.headers: { x-ms-blob-type: BlockBlob }']],
    ['another header', put(400), missing('X-Custom'), ['uploads.headers: { x-custom: VALUE }']],
    ['a name that is none', put(400), missing('a: b\n  c'), []],
    ['a host that wants the key', put(401), { upload }, ['service.send_key_to: ["https://uploads.example.com"]']],
    ['the same origin as the API', put(401), { upload: { origin: 'https://video.example.com' } }, []],
    ['a lower limit', put(200), policy('"hour";q=600;w=3600, "burst";q=10;w=1'), ['service.requests_per_hour: 600']],
    ['a lower limit in an older draft', put(200), policy('10;w=1, 600;w=3600'), ['service.requests_per_hour: 600']],
    ['a higher limit', put(200), policy('"hour";q=6000;w=3600'), []],
    ['a limit of another time', put(200), policy('"day";q=600;w=86400'), []],
    ['a limit that is none', put(200), policy('"hour";q=0;w=3600'), []],
  ])('follows from %s', (_, said, further, expected) => {
    expect(settings(said, further)).toEqual(expected);
  });

  test('is not named if the configuration has it', () => {
    expect(settings(put(200), policy('1;w=3600, "a";q=600;w=3600'), { requestsPerHour: 1 })).toEqual([]);
  });
});

test('settings are YAML to paste, by section', () => {
  const setting = (key: string, value: string) => ({ key, value, why: 'so it is' });
  expect(
    yamlOf([
      setting('uploads.content_type', 'none'),
      setting('service.requests_per_hour', '6'),
      setting('uploads.headers', '{ a: b }'),
    ]),
  ).toEqual([
    'uploads:',
    '  content_type: none # so it is',
    '  headers: { a: b } # so it is',
    'service:',
    '  requests_per_hour: 6 # so it is',
  ]);
});

import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { withDefaults } from '../../src/config/settings.ts';
import { scratch } from './scratch.ts';

const TEXT = `service:
  base_url: https://video.example.com/v1
  api_key: a-key-that-nobody-may-see
  webhook_secret: !env HOOK
uploads:
  bandwidth: { "08:00-18:00": 20MB/s, otherwise: unlimited }
notify:
  - type: webhook
    url: https://hooks.example.com/T0/secret-part
  - type: ntfy
    topic: !env TOPIC
folders:
  - path: in
    settle: 9s
    rules:
      - match: '**'
        channel: ch_main
`;

const ENV = { HOOK: `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`, TOPIC: 'our-topic' };

async function settingsIn(text: string) {
  await using here = await scratch();
  const { config, problems } = await here.load(text, ENV);
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return config?.source.written ?? [];
}

test('each value that is written is there with its line, and the rules are not', async () => {
  const written = await settingsIn(TEXT);
  expect(written.map(({ key, value, line }) => `${line} ${key} = ${value}`)).toEqual([
    '2 service.base_url = https://video.example.com/v1',
    '3 service.api_key = [secret]',
    '4 service.webhook_secret = !env HOOK',
    '6 uploads.bandwidth["08:00-18:00"] = 20MB/s',
    '6 uploads.bandwidth.otherwise = unlimited',
    '8 notify[0].type = webhook',
    '9 notify[0].url = [secret]',
    '10 notify[1].type = ntfy',
    '11 notify[1].topic = !env TOPIC',
    '13 folders[0].path = in',
    '14 folders[0].settle = 9s',
  ]);
});

test('it contains no secret, wherever the secret is written', async () => {
  const text = JSON.stringify(await settingsIn(TEXT));
  for (const secret of ['a-key-that-nobody-may-see', 'secret-part', 'our-topic', 'whsec_'])
    expect(text).not.toContain(secret);
});

test('what is not written is there with its default', async () => {
  const written = await settingsIn(TEXT);
  const all = new Map(withDefaults(written).map(({ key, value, line }) => [key, { value, line }]));
  expect(all.get('uploads.concurrency')).toEqual({ value: '4', line: null });
  expect(all.get('status.hosts')).toEqual({ value: 'none', line: null });
  expect(all.get('service.base_url')).toEqual({ value: 'https://video.example.com/v1', line: 2 });
  expect([...all.keys()].filter((key) => key.startsWith('folders'))).toEqual([]);
  const here = withDefaults(written, '', { state_dir: '/var/lib/dropcast', 'uploads.concurrency': '9' });
  expect(here.find(({ key }) => key === 'state_dir')).toEqual({
    key: 'state_dir',
    value: '/var/lib/dropcast',
    line: null,
  });
  expect(here.find(({ key }) => key === 'uploads.concurrency')?.value).toBe('4');
  const folder = new Map(withDefaults(written, 'folders[0]').map(({ key, value, line }) => [key, { value, line }]));
  expect(folder.get('folders[0].settle')).toEqual({ value: '9s', line: 14 });
  expect(folder.get('folders[0].on_duplicate')).toEqual({ value: 'skip', line: null });
  expect(folder.has('folders[0].rules')).toBe(false);
});

test('who may not see the key remembers nothing of what is written', async () => {
  await using here = await scratch();
  await here.write('dropcast.yaml', TEXT);
  const { config } = await loadConfig(here.file('dropcast.yaml'), { ...here.environment, env: ENV }, 'without key');
  expect(config?.source.written).toEqual([]);
});

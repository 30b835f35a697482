import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { configJsonSchema, type JsonSchema } from '../../src/config/json-schema.ts';
import { parse } from 'yaml';
import { checkSidecar } from '../../src/routing/sidecar.ts';
import { selfSigned } from '../client/certificate.ts';
import { scratch } from './scratch.ts';

const page = await readFile(resolve(import.meta.dirname, '../../docs/configuration.md'), 'utf8');
const [
  first = '',
  tls = '',
  sidecar = '',
  deadlines = '',
  second = '',
  withWebhook = '',
  withLedger = '',
  timetable = '',
  exported = '',
  ...further
] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text);

it('shows a first configuration without problems', async () => {
  await using here = await scratch();
  expect(await here.problems(first, { DROPCAST_API_KEY: 'abc' })).toEqual([]);
});

it('shows authorities for hosts', async () => {
  await using here = await scratch();
  for (const name of ['video_ca.pem', 'uploads_ca.pem']) await here.write(name, selfSigned.cert);
  const { config, problems } = await here.load(`${first}${tls}`, { DROPCAST_API_KEY: 'abc' });
  expect(problems).toEqual([]);
  expect(Object.keys(config?.service.authorities ?? {})).toEqual(['video.example.com', '*.uploads.example.com']);
});

it('shows a sidecar', () => {
  expect(checkSidecar('clip.yaml', parse(sidecar))).toMatchObject({ ok: true });
});

it('shows a configuration with webhooks without problems', async () => {
  await using here = await scratch();
  const env = { DROPCAST_API_KEY: 'abc', DROPCAST_WEBHOOK_SECRET: 'whsec_AAAA' };
  expect(await here.problems(withWebhook, env)).toEqual([]);
  expect((await here.load(withWebhook, env)).config?.service.webhooks?.secret.reveal()).toBe('whsec_AAAA');
});

it('shows a ledger for several hosts without problems', async () => {
  await using here = await scratch();
  const env = { DROPCAST_API_KEY: 'abc', LEDGER_PASSWORD: 'secret word' };
  expect(await here.problems(`${first}${withLedger}`, env)).toEqual([]);
  expect((await here.load(`${first}${withLedger}`, env)).config?.ledger).toMatchObject({
    host: 'db.example.com',
    tls: true,
  });
});

it('shows how folders share their rules', async () => {
  await using here = await scratch();
  const { config } = await here.load(first.replace(/folders:.*/s, second), { DROPCAST_API_KEY: 'abc' });
  expect(config?.folders.map(({ rules }) => rules.map(({ channel }) => channel))).toEqual([['ch_main'], ['ch_main']]);
});

it('shows deadlines: a rule has that of its folder, or its own', async () => {
  await using here = await scratch();
  const { config } = await here.load(first.replace(/folders:.*/s, deadlines), { DROPCAST_API_KEY: 'abc' });
  expect(config?.folders.flatMap(({ rules }) => rules.map(({ match, readyBy }) => [match, readyBy]))).toEqual([
    ['archive/**', undefined],
    ['**', { minutes: 18 * 60 + 30, zone: 'Europe/Berlin' }],
  ]);
});

it('shows exports without problems', async () => {
  await using here = await scratch();
  expect(await here.problems(`${first}${exported}`, { DROPCAST_API_KEY: 'abc' })).toEqual([]);
});

it('shows limits by the time of day without problems, and no configuration that is not checked here', async () => {
  await using here = await scratch();
  expect(await here.problems(`${first}${timetable}`, { DROPCAST_API_KEY: 'abc' })).toEqual([]);
  expect(further).toEqual([]);
});

it('has examples in its tables that are accepted', async () => {
  await using here = await scratch();
  const examples = ['done_marker: "{name}.{ext}.done"', 'uploads: 2', 'existing: adopt', deleting];
  for (const example of examples)
    expect(page).toContain(example.replace(/^done_marker: |^uploads: 2$|^existing: /, ''));
  const keys = examples.map((example) => `    ${example}\n`).join('');
  expect(await here.problems(first.replace('    rules:', `${keys}    rules:`), { DROPCAST_API_KEY: 'abc' })).toEqual(
    [],
  );
});

const deleting = 'after_ready: { delete: { after: 7d, when_full: 85% } }';

it('explains every key', () => {
  const rows = [...page.matchAll(/^\| (`[a-z].*?) \|/gm)].flatMap(([, keys = '']) => keys.split(', '));
  expect(rows.map((key) => key.replaceAll('`', '')).toSorted()).toEqual(
    expect.arrayContaining(keysOf(configJsonSchema(), '').toSorted()),
  );
});

function keysOf(schema: JsonSchema, key: string): string[] {
  if (schema.items?.properties !== undefined) return keysOf(schema.items, `${key}[]`);
  if (schema.properties === undefined) return [key];
  return Object.entries(schema.properties).flatMap(([name, inner]) =>
    keysOf(inner, key === '' ? name : `${key}.${name}`),
  );
}

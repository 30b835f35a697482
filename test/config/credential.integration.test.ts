import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveSecret } from '../../src/config/secrets.ts';
import { TaggedValue } from '../../src/config/raw-tree.ts';
import { problemsAsNobody } from './as-nobody.ts';
import { scratch, type Scratch } from './scratch.ts';
import { needs } from '../support/needs.ts';
import { configText, tagged } from '../support/configuration.ts';

let here: Scratch;
beforeEach(async () => {
  here = await scratch();
});
afterEach(() => here[Symbol.asyncDispose]());

const tag = new TaggedValue('credential', 'api_key');
const apiKey = (raw: unknown) => ({ path: ['service', 'api_key'], raw, kind: 'key' }) as const;

/** What `!credential api_key` of a configuration is, or why it is none. */
async function keyOf(configFile: string, env: Record<string, string> = {}): Promise<string> {
  const { secret, findings } = await resolveSecret(apiKey(tag), {
    configFile,
    mode: 0o640,
    environment: { ...here.environment, env },
  });
  return secret?.reveal() ?? findings.map(({ message }) => message.replaceAll(here.path, '')).join('; ');
}

describe('under systemd', () => {
  const inService = (configFile: string): Promise<string> => keyOf(configFile, { CREDENTIALS_DIRECTORY: here.path });

  it.each([
    ['/etc/dropcast/dropcast.yaml', '/etc/dropcast/api_key', 'dropcast'],
    ['/etc/dropcast/news.yaml', '/etc/dropcast/news.key', 'dropcast@news'],
  ])('says what to type when the key of %s is empty or not there', async (configFile, keyFile, unit) => {
    const commands = [`\`sudo install -m 600 /dev/stdin ${keyFile}\``, `\`sudo systemctl restart ${unit}\``];
    for (const command of commands) expect(await inService(configFile)).toContain(command);
    // What SetCredential= of the unit gives.
    await here.write('api_key', '\n');
    for (const command of commands) expect(await inService(configFile)).toContain(command);
  });

  it('says what a unit written by another person needs', async () => {
    expect(await inService('/opt/dropcast.yaml')).toContain('LoadCredential=api_key:');
    await here.write('api_key', '');
    expect(await inService('/opt/dropcast.yaml')).toContain('the credential api_key is empty');
  });

  it('never looks next to the configuration', async () => {
    await mkdir(join(here.path, 'conf'));
    await here.write('conf/api_key', 'beside');
    expect(await inService(join(here.path, 'conf/dropcast.yaml'))).toContain('LoadCredential=api_key:');
  });
});

describe('outside of systemd', () => {
  it('is the file of its name next to the configuration', async () => {
    await here.write('api_key', 's3cret\n');
    expect(await keyOf(join(here.path, 'dropcast.yaml'))).toBe('s3cret');
  });

  it('is NAME.key for the configuration NAME.yaml, and never the key of another one', async () => {
    await here.write('api_key', 's3cret');
    expect(await keyOf(join(here.path, 'news.yaml'))).toContain('/news.key does not exist');
    await here.write('news.key', '');
    expect(await keyOf(join(here.path, 'news.yaml'))).toContain('/news.key is empty');
    await here.write('news.key', 'ofnews');
    expect(await keyOf(join(here.path, 'news.yaml'))).toBe('ofnews');
    await here.write('dropcast.key', 'never');
    expect(await keyOf(join(here.path, 'dropcast.yaml'))).toBe('s3cret');
  });

  it('is so for the secret of webhooks too, which no instance has another file for', async () => {
    await here.write('webhook_secret', 'whsec_AAAA');
    await here.write('news.key', 'ofnews');
    const source = { configFile: join(here.path, 'news.yaml'), mode: 0o640, environment: here.environment };
    const raw = new TaggedValue('credential', 'webhook_secret');
    const place = { path: ['service', 'webhook_secret'], raw, kind: 'webhook secret' } as const;
    const { secret } = await resolveSecret(place, source);
    expect(secret?.reveal()).toBe('whsec_AAAA');
  });

  it('says what to type when the key of the installed service is not there', async () => {
    expect(await keyOf('/etc/dropcast/a-test-of-dropcast.yaml')).toContain(
      'sudo install -m 600 /dev/stdin /etc/dropcast/a-test-of-dropcast.key',
    );
  });

  it('is given with a warning when every user can read it', async () => {
    await here.write('api_key', 's3cret', 0o644);
    const source = { configFile: join(here.path, 'dropcast.yaml'), mode: 0o640, environment: here.environment };
    expect((await resolveSecret(apiKey(tag), source)).findings).toMatchObject([{ severity: 'warning' }]);
  });

  it('says that it takes root when it is for root alone', needs('readable clone'), async () => {
    await here.write('api_key', 's3cret', 0o600);
    const text = configText({ service: { api_key: tagged('!credential', 'api_key') } });
    const file = await here.write('dropcast.yaml', text, 0o644);
    await chmod(here.path, 0o755);
    const [problem] = await problemsAsNobody(file, here.environment);
    expect(problem?.message).toMatch(/api_key: .*EACCES.*sudo/);
  });
});

it('tells where the key came from, as far as it matters for a new one', async () => {
  await here.write('api_key', 's3cret');
  const source = (env: Record<string, string>) => ({
    configFile: join(here.path, 'dropcast.yaml'),
    mode: 0o600,
    environment: { ...here.environment, env },
  });
  const originOf = async (raw: unknown, env: Record<string, string> = {}) =>
    (await resolveSecret(apiKey(raw), source(env))).origin;
  expect(await originOf(tag, { CREDENTIALS_DIRECTORY: here.path })).toBe('credential');
  expect(await originOf(tag)).toBe('file');
  expect(await originOf(new TaggedValue('env', 'KEY'), { KEY: 'abc' })).toBe('environment');
  expect(await originOf('literal')).toBe('file');
});

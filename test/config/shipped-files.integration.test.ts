import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { generatedFiles, staleFiles } from '../../scripts/generate.ts';
import { checkDirectories } from '../../src/config/check-directories.ts';
import { configJsonSchema, type JsonSchema } from '../../src/config/json-schema.ts';
import { parseConfigDocument } from '../../src/config/document.ts';
import { property } from '../../src/config/raw-tree.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { scratch } from './scratch.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const shipped = (name: string): Promise<string> => readFile(join(ROOT, name), 'utf8');

it('has no generated file that is stale; else run: npm run generate', async () => {
  expect(await staleFiles(generatedFiles, ROOT)).toEqual([]);
});

it('notices a generated file that is stale, and one that is missing', async () => {
  await using directory = await scratchDirectory();
  const files = ['same', 'stale', 'missing'].map((path) => ({ path, content: () => 'new' }));
  await directory.write('same', 'new');
  await directory.write('stale', 'old');
  expect(await staleFiles(files, directory.path)).toEqual(['stale', 'missing']);
});

it('ships an example without problems, with every folder in place', async () => {
  await using here = await scratch();
  const text = (await shipped('config.example.yaml')).replaceAll(/\/(?:srv|var)\//g, `${here.path}/`);
  const { config, problems, locate } = await here.load(text, { DROPCAST_API_KEY: 'abc' });
  expect(problems).toEqual([]);
  for (const { path } of config?.folders ?? []) await mkdir(path, { recursive: true });
  expect(config === null ? null : await checkDirectories(config, locate)).toEqual([]);
});

it('ships an example that shows every key', async () => {
  const example = await shipped('config.example.yaml');
  const { value } = parseConfigDocument(example);
  // In comments: those of the ledger would move it away from this host (`ledger.integration.test.ts`).
  const isShown = (key: string): boolean =>
    example.includes(`\n# ${key.slice(1)}: `) ||
    (key.startsWith('.service.') && example.includes(`\n  # ${key.slice(9)}: `)) ||
    (key.startsWith('.folders[].') && example.includes(`\n    # ${key.slice(11)}: `));
  expect(missingKeys(configJsonSchema(), value, '').filter((key) => !isShown(key))).toEqual([]);
});

it('ships an example whose values are the defaults, where there are any', async () => {
  await using here = await scratch();
  const example = await shipped('config.example.yaml');
  const env = { DROPCAST_API_KEY: 'abc', STATE_DIRECTORY: '/var/lib/dropcast' };
  const full = await here.load(example, env);
  const short = await here.load(
    'service: { base_url: https://video.example.com/v1, api_key: !env DROPCAST_API_KEY }\n' +
      'folders: [{ path: /srv/media/inbox, rules: [{ match: "**", channel: c }] }]\n',
    env,
  );
  const settings = ({ config }: typeof full) => ({
    ...config,
    source: null, // what is written, and where
    folders: config?.folders.slice(0, 1).map((folder) => ({ ...folder, rules: [] })),
  });
  expect(settings(full)).toEqual(settings(short));
});

it('ships an example that names the schema for editors in its first line', async () => {
  expect((await shipped('config.example.yaml')).split('\n')[0]).toBe(
    '# yaml-language-server: $schema=./config.schema.json',
  );
});

it('describes every key for editors', () => {
  expect(undescribed(configJsonSchema(), '')).toEqual([]);
});

it('is a draft-07 schema that refuses unknown keys and asks only for what has no default', () => {
  expect(configJsonSchema()).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'dropcast configuration',
    required: ['service', 'folders'],
    additionalProperties: false,
    properties: {
      service: { required: ['base_url', 'api_key'] },
      folders: { items: { required: ['path', 'rules'], properties: { settle: { type: 'string', default: '5s' } } } },
    },
  });
});

/** Keys of the schema that no mapping of this place has; of several list items one is enough. */
function missingKeys(schema: JsonSchema, value: unknown, key: string): string[] {
  const values = Array.isArray(value) ? value : [value];
  // An empty list is a default whose items a comment shows.
  if (schema.items !== undefined) return values.length === 0 ? [] : missingKeys(schema.items, values, `${key}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const found = values.map((each) => property(each, name)).filter((each) => each !== undefined);
    return found.length === 0 ? [`${key}.${name}`] : missingKeys(inner, found.flat(), `${key}.${name}`);
  });
}

function undescribed(schema: JsonSchema, key: string): string[] {
  if (schema.items !== undefined) return undescribed(schema.items, `${key}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    ...((inner.description ?? '').length < 15 ? [`${key}.${name}`] : []),
    ...undescribed(inner, `${key}.${name}`),
  ]);
}

import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contractProblems } from '../../scripts/lint-contract.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const CONTRACT = resolve(import.meta.dirname, '../../packages/sandbox/openapi.yaml');

test('the contract has no problems', async () => {
  expect(await contractProblems(CONTRACT)).toEqual([]);
});

describe('a contract with a mistake is refused, with the place of it', () => {
  test.each<[string, string | RegExp, string, RegExp]>([
    [
      'a property without source',
      /(\n {8}title: \{ \$ref: '#\/components\/schemas\/Title'), x-source: given \}/,
      '$1 }',
      /:\d+:\d+: The property title must say x-source: given or assumed/,
    ],
    [
      'an assumed property without its assumption',
      /\n *x-assumption: Reasons are not shown; programs need a code\./,
      '',
      /The property code must say in x-assumption/,
    ],
    [
      'an assumption that says nothing',
      'x-assumption: Reasons are not shown; programs need a code.',
      'x-assumption: unclear',
      /The property code must say in x-assumption/,
    ],
    [
      'a parameter without source',
      /(description: Number of the page\.)\n *x-source: given/,
      '$1',
      /:\d+:\d+: This must say x-source/,
    ],
    ['an answer without source', /(description: The overview\.)\n *x-source: given/, '$1', /This must say x-source/],
    [
      'an operation of another source',
      /(summary: List feeds\n *)x-source: given/,
      '$1x-source: guessed',
      /must say x-s/,
    ],
    ['a reference to nowhere', '#/components/schemas/VideoList', '#/components/schemas/Videos', /resolve/],
    ['a reference to the network', "'#/components/schemas/VideoList'", 'http://127.0.0.1:1/x.yaml', /outside/],
    ['an example against its schema', 'examples: [vid_2s4ttkxdfe63ehtc]', 'examples: [5]', /example/i],
    ['a path parameter that is not described', '/feeds/{id}/publish:', '/feeds/{feed}/publish:', /parameter `{feed}`/],
    ['two operations of one name', 'operationId: listFeeds', 'operationId: listChannels', /operationId/],
    ['no YAML', 'openapi: 3.1.0', 'openapi: [', /:\d+:\d+: /],
  ])('%s', async (_what, search, replacement, problem) => {
    await using folder = await scratchDirectory();
    const path = join(folder.path, 'openapi.yaml');
    const sound = await readFile(CONTRACT, 'utf8');
    const broken = sound.replace(search, replacement);
    expect(broken).not.toBe(sound);
    await writeFile(path, broken);
    expect((await contractProblems(path)).join('\n')).toMatch(problem);
  });
});

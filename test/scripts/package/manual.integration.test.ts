import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratchDirectory, type ScratchDirectory } from '../../support/scratch-directory.ts';
import { describeProgram } from '../../../scripts/package/command-tree.ts';
import { configExample, configManual } from '../../../scripts/package/config-manual.ts';
import { programManual } from '../../../scripts/package/manual.ts';
import { scratch } from '../../config/scratch.ts';
import { needs } from '../../support/needs.ts';

let directory: ScratchDirectory;
let folder: string;
const pages = ['dropcast.8', 'dropcast.yaml.5'];

beforeAll(async () => {
  directory = await scratchDirectory();
  folder = directory.path;
  await writeFile(join(folder, 'dropcast.8'), programManual(describeProgram(), 0));
  await writeFile(join(folder, 'dropcast.yaml.5'), configManual(0));
});
afterAll(() => directory[Symbol.asyncDispose]());

describe.each(pages)('%s', (page) => {
  test('has nothing that mandoc remarks on', needs('mandoc'), () => {
    const { stdout } = spawnSync('mandoc', ['-Tlint', '-Wwarning', join(folder, page)], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });

  test('is shown by man without a warning, and no line is wider than the screen', needs('man'), () => {
    const { stdout, stderr } = spawnSync('man', ['--warnings', '--local-file', join(folder, page)], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], MANWIDTH: '100', LC_ALL: 'C.UTF-8' },
    });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^DROPCAST/);
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });
});

test('apropos finds what the program is for', needs('man'), () => {
  const text = execFileSync('man', ['--local-file', join(folder, 'dropcast.8')], { encoding: 'utf8' });
  expect(text).toContain('dropcast - upload the videos that appear in watched folders');
});

test('the example of dropcast.yaml(5) has no problems', async () => {
  await using here = await scratch();
  const text = configExample.replace('!credential api_key', '!env KEY');
  expect(await here.problems(`${text}\n`, { KEY: 'abc' })).toEqual([]);
});

import { lchown, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';

import { findTarget } from '../../src/cli/api/target.ts';
import { check } from '../../src/cli/configure/check.ts';
import { requireConfig, requireLoadable } from '../../src/cli/read-config.ts';
import { fakeShell } from '../cli/api/fake-shell.ts';
import { scratch } from '../config/scratch.ts';
import type { Scratch } from '../config/scratch.ts';

afterEach(() => vi.restoreAllMocks());

/** What one user leaves for another who runs dropcast in that folder: his address, their secret. */
const trap = `
service: { base_url: "https://evil.example/v1", api_key: !file secret, surprise: 1 }
folders: [{ path: ., rules: [{ match: "**", channel: c }] }]
`;

async function foreign(here: Scratch, path: string): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await lchown(join(here.path, path), 65_534, 65_534);
  // Nobody else can be somebody else: then it is we who are another user.
  else vi.spyOn(process, 'geteuid').mockReturnValue(1);
}

const refusal = /^dropcast\.yaml:1:1 cannot read the configuration: .*belongs to \S.*--config$/m;

test('one that another user left in the current directory is refused by every command, and nothing of it is read', async () => {
  await using here = await scratch();
  await here.write('secret', 's3cret');
  await here.write('dropcast.yaml', trap);
  await foreign(here, 'dropcast.yaml');
  const shell = fakeShell({ cwd: here.path });
  expect(await check(shell, { online: true })).toBe(78);
  expect(shell.out.text).toMatch(refusal);
  const takers = [
    () => requireConfig(shell, undefined),
    () => requireLoadable(shell, undefined),
    () => findTarget(shell, {}),
  ];
  for (const take of takers) {
    const error = (await take().catch((error: unknown) => error)) as Error;
    expect(error).toMatchObject({ exitCode: 78, message: expect.stringMatching(refusal) });
    expect(error.message).not.toMatch(/surprise|evil|s3cret/);
  }
  expect(shell.out.text).not.toMatch(/surprise|evil|s3cret/);
});

test('a link of another user does not circumvent it, even if the file has another owner', async () => {
  await using here = await scratch();
  await here.write('own.yaml', trap);
  await symlink('own.yaml', join(here.path, 'dropcast.yaml'));
  await foreign(here, 'dropcast.yaml');
  const shell = fakeShell({ cwd: here.path });
  expect(await check(shell, {})).toBe(78);
  expect(shell.out.text).toMatch(refusal);
});

test.each([
  ['--config', { config: 'dropcast.yaml' }, {}],
  ['$DROPCAST_CONFIG', {}, { DROPCAST_CONFIG: 'dropcast.yaml' }],
])('one that is named by %s is meant, and so is one of our own', async (_, options, env) => {
  await using here = await scratch();
  await here.write('secret', 's3cret');
  const text = trap.replace(', surprise: 1', '');
  await here.write('dropcast.yaml', text);
  expect((await findTarget(fakeShell({ cwd: here.path }), {})).baseUrl).toBe('https://evil.example/v1');
  await foreign(here, 'dropcast.yaml');
  expect((await findTarget(fakeShell({ cwd: here.path, env }), options)).baseUrl).toBe('https://evil.example/v1');
});

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { debianFiles, debianNames, dropcastRecipe, sandboxRecipe } from '../../../scripts/release/image/recipes.ts';
import { readLock } from '../../../scripts/release/image/debian.ts';
import { needs } from '../../support/needs.ts';
import { startServer } from '../../support/server.ts';

const root = join(import.meta.dirname, '../../..');
const healthcheck = join(root, 'packaging/container/healthcheck');
const dropcast = dropcastRecipe(readFileSync(healthcheck, 'utf8'));
const fileOf = (recipe: typeof dropcast, path: string): string =>
  recipe.files.find((file) => file.path === path)?.content ?? '';

describe.each([dropcast, sandboxRecipe])('the image $name', (recipe) => {
  test('runs as a numbered user, who is not root and has a name', () => {
    expect(recipe.config.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(fileOf(recipe, 'etc/passwd')).toContain(`\ndropcast:x:${recipe.config.User}:`);
    expect(fileOf(recipe, 'etc/group')).toContain(`\ndropcast:x:${recipe.config.User.split(':')[1]}:`);
  });

  test('has no secret', () => {
    expect(recipe.config.Env.join()).not.toMatch(/KEY|SECRET|TOKEN|PASSWORD/);
  });

  test('asks for health in words without spaces, which the API of Podman would split', () => {
    for (const word of recipe.config.Healthcheck.Test) expect(word).not.toContain(' ');
  });
});

test('dropcast starts without a shell, with the flags of the unit', () => {
  const unit = readFileSync(join(root, 'systemd/dropcast.service'), 'utf8');
  const words = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
  expect([...dropcast.config.Entrypoint, ...(dropcast.config.Cmd ?? [])]).toEqual(words);
});

test('what dropcast writes lies in volumes of its own, so that the root can be read-only', () => {
  const environment = new Map(dropcast.config.Env.map((line) => line.split('=') as [string, string]));
  const written = ['STATE_DIRECTORY', 'RUNTIME_DIRECTORY'].map((name) => environment.get(name));
  expect(Object.keys(dropcast.config.Volumes ?? {})).toEqual(written);
  expect(Object.keys(dropcast.ownDirectories).map((path) => `/${path}`)).toEqual(written);
});

describe('the health check', needs('bash'), () => {
  test.each([
    ['200 OK', 0],
    ['503 Service Unavailable', 0],
    ['404 Not Found', 1],
  ])('starts no Node.js; after the answer %s it ends with %i', async (line, code) => {
    await using server = await startServer((request, response) => {
      const isAsked = request.url === '/healthz' && request.headers.host === 'localhost';
      response.writeHead(isAsked ? Number(line.split(' ')[0]) : 400).end('ok\n');
    });
    expect(await codeOf(healthcheck, [String(server.port)])).toBe(code);
  });

  test('without an answer it is not healthy', async () => {
    const server = await startServer(() => undefined);
    await server[Symbol.asyncDispose]();
    expect(await codeOf(healthcheck, [String(server.port)])).toBe(1);
  });
});

function codeOf(file: string, args: readonly string[]): Promise<number | null> {
  return new Promise((resolve) => spawn(file, args, { stdio: 'ignore' }).once('close', resolve));
}

test('debian.lock.json has each package once for each processor, of the same version but for rebuilds', async () => {
  const { packages } = await readLock();
  const versions = (names: typeof packages.amd64): readonly string[] =>
    names.map(({ name, version }) => `${name} ${version.replace(/\+b\d+$/, '')}`);
  expect(packages.amd64.map(({ name }) => name)).toEqual([...debianNames].toSorted());
  expect(versions(packages.arm64)).toEqual(versions(packages.amd64));
});

test.each([
  ['usr/lib/x86_64-linux-gnu/libc.so.6', true],
  ['usr/lib/aarch64-linux-gnu/libstdc++.so.6.0.33', true],
  ['usr/lib64/ld-linux-x86-64.so.2', true],
  ['usr/lib/ld-linux-aarch64.so.1', true],
  ['lib', true],
  ['tmp/', true],
  ['usr/bin/bash', true],
  ['usr/share/doc/libc6/copyright', true],
  ['usr/bin/bashbug', false],
  ['usr/lib/x86_64-linux-gnu/gconv/UTF-16.so', false],
  ['usr/share/doc/libc6/NEWS.gz', false],
  ['usr/share/locale/de/LC_MESSAGES/bash.mo', false],
  ['etc/skel/.bashrc', false],
])('of Debian, %s is taken: %s', (path, isTaken) => {
  expect(debianFiles.test(path)).toBe(isTaken);
});

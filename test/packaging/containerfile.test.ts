import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { startServer } from '../support/server.ts';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'packaging/Containerfile'), 'utf8');
/** Instructions with what was continued on further lines. */
const instructions = text
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '');
const values = (name: string): readonly string[] =>
  instructions.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));

test('the Containerfile has no faults', () => {
  expect(validate(text)).toEqual([]);
  expect(validate('FROM debian\nHEALTHCHECK CMD\nUSR x\n')).not.toEqual([]); // the linter does find them
});

test('it runs as a numbered user, who is not root', () => {
  const user = values('USER').at(-1);
  expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  const [uid, gid] = user?.split(':') ?? [];
  expect(values('RUN').join('\n')).toContain(`useradd --system --uid ${uid} --gid ${gid}`);
});

test('it starts without a shell, with the flags of the unit', () => {
  const unit = readFileSync(join(root, 'systemd/dropcast.service'), 'utf8');
  const words = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
  const started = [...values('ENTRYPOINT'), ...values('CMD')].flatMap((list) => JSON.parse(list) as string[]);
  expect(started).toEqual(words);
});

/** The command of the health check, for a daemon that listens there. */
function healthCommand(port: number): readonly string[] {
  const [check = ''] = values('HEALTHCHECK');
  const command = JSON.parse(check.slice(check.indexOf('['))) as string[];
  return command.map((word) => word.replace('/7878', `/${port}`));
}

test.each([
  ['200 OK', 0],
  ['503 Service Unavailable', 0],
  ['404 Not Found', 1],
])('its health check starts no Node.js; after the answer %s it ends with %i', async (line, code) => {
  await using server = await startServer((request, response) => {
    const isAsked = request.url === '/healthz' && request.headers.host === 'localhost';
    response.writeHead(isAsked ? Number(line.split(' ')[0]) : 400).end('ok\n');
  });
  const [file = '', ...args] = healthCommand(server.port);
  expect(file).toBe('/bin/bash');
  expect(await codeOf(file, args)).toBe(code);
});

test('without an answer it is not healthy', async () => {
  const server = await startServer(() => undefined);
  const [file = '', ...args] = healthCommand(server.port);
  await server[Symbol.asyncDispose]();
  expect(await codeOf(file, args)).toBe(1);
});

function codeOf(file: string, args: readonly string[]): Promise<number | null> {
  return new Promise((resolve) => spawn(file, args, { stdio: 'ignore' }).once('close', resolve));
}

test('what is written lies in volumes, so that the root can be read-only', () => {
  const environment = values('ENV').join(' ');
  const written = ['STATE_DIRECTORY', 'RUNTIME_DIRECTORY'].map(
    (name) => new RegExp(`${name}=(\\S+)`).exec(environment)?.[1],
  );
  expect(JSON.parse(values('VOLUME').join())).toEqual(written);
});

test('no directory is created that nothing is configured to use', () => {
  const made = values('RUN').flatMap((run) => run.split('&&').filter((step) => /^ *install -d /.test(step)));
  const directories = made.flatMap((step) => step.trim().split(' ')).filter((word) => word.startsWith('/'));
  expect(directories.length).toBeGreaterThan(0);
  const environment = values('ENV').join(' ').split(/[ =]/);
  expect(directories.filter((directory) => !environment.includes(directory))).toEqual([]);
});

test('no secret is in the image, and nothing of the repository but the package', () => {
  expect(values('ENV').join() + values('ARG').join()).not.toMatch(/KEY|SECRET|TOKEN|PASSWORD/);
  expect(values('COPY')).toEqual(['${DEB} /tmp/dropcast.deb']);
  expect(
    readFileSync(join(root, '.containerignore'), 'utf8')
      .split('\n')
      .filter((line) => /^[^#]/.test(line)),
  ).toEqual(['*', '!build/dropcast_*.deb']);
});

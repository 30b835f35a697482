import { spawn } from 'node:child_process';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readSocketPath } from '../../src/config/paths.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { createPageAccess } from '../../src/status/page/access.ts';
import type { StatusPage } from '../../src/status/page/serve.ts';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { loadedConfig } from '../support/configuration.ts';
import { servedPage } from '../status/page/served-page.ts';
import { servedControl } from '../daemon/served-control.ts';

const token = 'the-token-of-this-daemon';
const SERVICE = { uid: 4343, gid: 4343 };
const callers = {
  'another user': { uid: 4444, gid: 4444 },
  'a member of the group': { uid: 4444, gid: SERVICE.gid },
  'the user of the service': SERVICE,
  root: { uid: 0, gid: 0 },
} as const;

let world: AsyncDisposableStack;
let socket: string;
let page: StatusPage;
let reloads = 0;
/** Lists that the ledger made at the same time. */
let mostAtOnce = 0;

/** A daemon with the sockets of an installed service, as its user has made them. */
beforeAll(async () => {
  world = new AsyncDisposableStack();
  const scratch = world.use(await scratchDirectory());
  socket = scratch.file('dropcast.sock');
  const daemon = world.use(await someDaemon(scratch));
  const reload = async () => ({ ok: true, problems: [], config: `x${(reloads += 1)}` });
  page = await servedPage({ daemon, receive: () => 'refused', access: createPageAccess(token) });
  world.use(page);
  world.use(
    await servedControl(countingLists(daemon), socket, {
      reload,
      pageLink: (right) => page.link(right),
    }),
  );
  for (const path of [scratch.path, socket, readSocketPath(socket)]) await chown(path, SERVICE.uid, SERVICE.gid);
  // Open: the sockets themselves are closed.
  await chmod(scratch.path, 0o755);
});

afterAll(() => world.disposeAsync());

beforeEach(() => {
  reloads = 0;
  mostAtOnce = 0;
});

async function someDaemon(scratch: ScratchDirectory): Promise<Daemon> {
  await mkdir(scratch.file('inbox'));
  return startDaemon(await loadedConfig(scratch), silentLogger);
}

function countingLists(daemon: Daemon): Daemon {
  let atOnce = 0;
  const { selection } = daemon.ledger;
  const page: typeof selection.page = async (...asked) => {
    mostAtOnce = Math.max(mostAtOnce, (atOnce += 1));
    await new Promise(setImmediate);
    return selection.page(...asked).finally(() => (atOnce -= 1));
  };
  const ledger = withOwn(daemon.ledger, { selection: withOwn(selection, { page }) });
  return withOwn(daemon, { ledger });
}

function withOwn<T extends object>(whole: T, own: Partial<T>): T {
  return new Proxy(whole, {
    get: (target, key) => {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key) as unknown;
      const value = Reflect.get(target, key) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** What each call is answered, by somebody else: a status, or the errno of the connection. */
async function callAs(
  { uid, gid }: { uid: number; gid: number },
  calls: readonly object[],
): Promise<readonly (number | string)[]> {
  const script = `
const { request } = require('node:http');
const call = (options) => new Promise((done) => {
  request({ agent: false, ...options }, (answer) => { answer.resume(); done(answer.statusCode); })
    .on('error', (error) => done(error.code)).end();
});
Promise.all(JSON.parse(process.argv[1]).map(call)).then((answers) => console.log(JSON.stringify(answers)));`;
  const child = spawn(process.execPath, ['-e', script, JSON.stringify(calls)], {
    uid,
    gid,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(await text(child.stdout)) as (number | string)[];
}

const questions = ['/status', '/files', '/file?name=x', '/moves?folder=/x', '/page'];
const commands = ['/reload', '/retry', '/add'];
const given = { method: 'POST', headers: { 'content-type': 'application/json', 'content-length': 0 } };

describe('who may do what at the control sockets', needs('root', 'readable clone'), () => {
  test.each([
    ['another user', 'EACCES', 'EACCES'],
    ['a member of the group', 'EACCES', 200],
    ['the user of the service', 200, 200],
    ['root', 200, 200],
  ] as const)('%s', async (who, atControl, atRead) => {
    const asked = (socketPath: string) => questions.map((path) => ({ socketPath, path }));
    const told = (socketPath: string) => commands.map((path) => ({ ...given, socketPath, path }));
    const reload = { ...given, socketPath: socket, path: '/reload' };
    const read = readSocketPath(socket);
    const count = questions.length;
    const answers = await callAs(callers[who], [...asked(socket), reload, ...asked(read), ...told(read)]);
    expect(answers.slice(0, count)).toEqual(questions.map(() => atControl));
    expect(answers[count]).toBe(atControl);
    expect(reloads).toBe(atControl === 200 ? 1 : 0);
    expect(answers.slice(count + 1, 2 * count + 1)).toEqual(questions.map(() => atRead));
    // Nobody can give a command there.
    expect(answers.slice(2 * count + 1)).toEqual(commands.map(() => (atRead === 200 ? 403 : atRead)));
  });
});

describe('what a question may cost', needs('root', 'readable clone'), () => {
  const list = (socketPath: string, limit: string) => ({ socketPath, path: `/files?limit=${limit}` });

  test('a member of the group gets a thousand files at most, at a time', async () => {
    const read = readSocketPath(socket);
    const limits = ['1', '1000', '1001', '1000000', '-1', '0', 'x', '1.5', ''];
    const answers = await callAs(
      callers['a member of the group'],
      limits.map((limit) => list(read, limit)),
    );
    expect(answers).toEqual([200, 200, 400, 400, 400, 400, 400, 400, 400]);
    expect(mostAtOnce).toBe(1);
  });

  test('root gets a million', async () => {
    const limits = ['1000000', '1000001', '-1'];
    const answers = await callAs(
      callers.root,
      limits.map((limit) => list(socket, limit)),
    );
    expect(answers).toEqual([200, 400, 400]);
  });
});

describe('who may see the status page', needs('root', 'readable clone'), () => {
  test.each(Object.keys(callers) as (keyof typeof callers)[])('%s, like everyone: with the token', async (who) => {
    const at = (path: string, headers: object = {}) => ({ host: '127.0.0.1', port: page.port, path, headers });
    const authorization = `Bearer ${token}`;
    const pages = ['/', '/status.json'];
    const answers = await callAs(callers[who], [
      ...pages.map((path) => at(path)),
      ...pages.map((path) => at(path, { authorization })),
      ...pages.map((path) => at(path, { authorization, host: 'evil.example' })),
      ...pages.map((path) => ({ ...at(path, { authorization }), method: 'POST' })),
      at('/healthz'),
      at('/healthz', { host: 'evil.example' }),
      { ...at('/webhooks'), method: 'POST' },
    ]);
    expect(answers).toEqual([401, 401, 200, 200, 421, 421, 405, 405, 200, 421, 401]);
  });
});

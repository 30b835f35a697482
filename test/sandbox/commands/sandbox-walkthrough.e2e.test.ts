import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { freePort } from '../../support/free-port.ts';
import { faultRule } from '../../../packages/sandbox/src/faults/fault-rule.ts';
import { operations } from '../../../packages/sandbox/src/http/operations.ts';
import { admin } from '../admin/admin-side.ts';
import { runSandbox } from '../running-sandbox.ts';
import { dropcast } from '../../e2e/dropcast-process.ts';
import { until } from '../../support/until.ts';
import { isAsShown, stepsOf, type Step } from '../../e2e/page-steps.ts';

const root = new URL('../../..', import.meta.url).pathname;
const page = await readFile(join(root, 'docs/sandbox.md'), 'utf8');

const [start, ...walk] = stepsOf(page);

beforeAll(async () => {
  const { stdout } = await promisify(execFile)('curl', ['--version']).catch(() => ({ stdout: '' }));
  const [, major = 0, minor = 0] = /^curl (\d+)\.(\d+)/.exec(stdout)?.map(Number) ?? [];
  if (major * 1000 + minor < 7082) throw new Error('docs/sandbox.md is run with curl 7.82 or later: please install it');
});

test('the service starts as the page says, and prints what it shows', async () => {
  const ports = await freePorts();
  await using scratch = await scratchDirectory();
  const child = spawn('bash', ['-c', ports.into(start?.commands ?? '')], {
    cwd: root,
    detached: true, // a group of its own, as in a terminal: there Ctrl-C reaches npm and what it runs
    env: { ...process.env, TMPDIR: scratch.path, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let printed = '';
  child.stdout.on('data', (part) => (printed += String(part)));
  try {
    await until('the service has said everything', () => printed.includes('Press Ctrl-C to stop.'));
    expectShown(ports.backIn(printed), start);
  } finally {
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await ended;
    endGroup(child.pid);
  }
});

test('the walk of the page runs in one shell, and answers what the page shows', async () => {
  const ports = await freePorts();
  await using scratch = await scratchDirectory();
  const outputs = await session(
    walk.map(({ commands }) => ports.into(commands)),
    scratch.path,
  );
  for (const [index, step] of walk.entries()) expectShown(ports.backIn(outputs[index] ?? ''), step);
  const journal = JSON.parse(await readFile(join(scratch.path, 'journal'), 'utf8')) as {
    data: { operation: string }[];
  };
  const asked = new Set(journal.data.map(({ operation }) => operation));
  const known = ['uploads.put', ...operations.map(({ name }) => name)];
  expect(known.filter((name) => !asked.has(name))).toEqual([]);
});

test('the tables of the page have every admin endpoint, fault, operation and option', async () => {
  await using service = await runSandbox();
  const { body } = await admin(service, 'GET ');
  const endpoints = (body.data.endpoints as { method: string; path: string }[]).map(
    (one) => `${one.method} ${one.path}`,
  );
  expect(firstColumn(/^[A-Z]+ \/_sandbox/)).toEqual(['GET /_sandbox', ...endpoints]);

  const kinds = faultRule.options.map(({ shape }) => Object.keys(shape));
  const common = Object.keys(faultRule.options[2].shape).filter((field) => field !== 'kind'); // of html_502
  for (const field of common) expect(page).toMatch(new RegExp(`^\\|[^|]*\`${field}\`[^|]*\\|`, 'm'));
  for (const [index, fields] of kinds.entries()) {
    const kind = faultRule.options[index]?.shape.kind.value ?? '';
    const own = new RegExp(`^\\| \`${kind}\` \\|([^|]*)\\|`, 'm').exec(page)?.[1] ?? `\`no row of ${kind}\``;
    const names = [...own.replaceAll(/\([^)]*\)/g, '').matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    expect(names, kind).toEqual(fields.filter((field) => field !== 'kind' && !common.includes(field)));
  }
  for (const { name } of operations) expect(page).toContain(`\`${name}\``);

  const { stdout: help } = await dropcast(['sandbox', '--help']);
  const options = [...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, option]) => option);
  expect(firstColumn(/^--/).map((option) => option.split(' ', 1)[0])).toEqual(options);
});

function firstColumn(wanted: RegExp): string[] {
  return [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = '']) => cell).filter((cell) => wanted.test(cell));
}

/** Says of every step that differs what is shown and what was answered. */
function expectShown(output: string, step: Step | undefined): void {
  if (step && isAsShown(output, step.shown)) return;
  expect.soft(output.trim(), `docs/sandbox.md:${step?.line}`).toBe(step?.shown?.text.trim() ?? '');
}

/** Runs the steps in one bash, with everything that they start. @returns what each printed; throws when one fails */
async function session(steps: readonly string[], folder: string): Promise<string[]> {
  const note = `admin "$ADMIN/requests?limit=1000" > '${folder}/journal'\n`; // a reset forgets the requests
  const script = steps.map((step) => `${step.includes('/reset ') ? note : ''}${step}\nprintf '${MARK}'\n`).join('');
  const path = join(folder, 'output');
  await using output = await open(path, 'w');
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: root,
    detached: true,
    env: { ...process.env, TMPDIR: folder, NO_COLOR: '1', COLUMNS: '200' },
    stdio: ['ignore', output.fd, output.fd],
    timeout: 300_000,
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  const leftBehind = endGroup(child.pid);
  const printed = (await readFile(path, 'utf8')).split(MARK);
  if (code !== 0)
    throw new Error(`line ${walk[printed.length - 1]?.line} of the page ended with ${code}: ${printed.at(-1)}`);
  expect(leftBehind, 'something that the page started still runs').toBe(false);
  return printed;
}

/** @returns whether there was anything to end */
function endGroup(pid = 0): boolean {
  try {
    return process.kill(-pid, 'SIGKILL');
  } catch {
    return false;
  }
}

const MARK = '\u001E';

/**
 * The ports that the page names, with free ones in their place while it runs. They are below those that a system gives to
 * whoever asks for any, so that no test beside this one takes them in between.
 */
async function freePorts() {
  const pairs: [string, string][] = [];
  for (const named of ['8787', '8788']) pairs.push([named, String(await freePort())]);
  const first = pairs[0]?.[1] ?? '';
  return {
    into: (commands: string) =>
      pairs
        .reduce((text, [named, free]) => text.replaceAll(named, free), commands)
        .replaceAll(/dropcast(?: --|\.cjs) sandbox(?! keys)/g, `$& --port ${first}`),
    backIn: (output: string) =>
      pairs.reduce((text, [named, free]) => text.replaceAll(`127.0.0.1:${free}`, `127.0.0.1:${named}`), output),
  };
}

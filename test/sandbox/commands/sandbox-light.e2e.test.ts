import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { inherited } from '../../support/inherited.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { node } from '../../e2e/dropcast-process.ts';

const LAUNCHER = join(import.meta.dirname, '../../../bin/dropcast.cjs');

/** Notes the address of every module that the process loads. */
const NOTING = `
  import { appendFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.LOADED_MODULES, url + '\\n');
      return next(url, context);
    },
  });`;

test('a start loads neither the daemon nor what no request has asked for yet', async () => {
  await using tmp = await scratchDirectory();
  const noted = join(tmp.path, 'loaded');
  await writeFile(join(tmp.path, 'noting.mjs'), NOTING);
  await using sandbox = await startFromClone({
    NODE_OPTIONS: `--import=${pathToFileURL(join(tmp.path, 'noting.mjs')).href}`,
    LOADED_MODULES: noted,
  });
  const loaded = async (part: RegExp) => (await readFile(noted, 'utf8')).split('\n').filter((url) => part.test(url));
  expect(await loaded(/sandbox\/src\/sandbox\.ts/)).toHaveLength(1);
  expect(await loaded(/\/src\/(daemon|ledger|watch|pipeline)\//)).toEqual([]);
  expect(await loaded(/\/(mediainfo\.js|@peculiar|reflect-metadata|pages\/src\/(?!unsafe-characters))\b/)).toEqual([]);
  expect(await loaded(/sandbox\/src\/(feeds|embed|page)\/|sandbox\/src\/(http\/api|admin\/routes)\.ts/)).toEqual([]);

  const feed = await fetch(new URL('/feeds/feed_main.xml', sandbox.baseUrl));
  expect(feed.status).toBe(200);
  await feed.text();
  expect(await loaded(/sandbox\/src\/feeds\/routes\.ts/)).toHaveLength(1);
  expect(await loaded(/sandbox\/src\/(embed|page)\/|sandbox\/src\/(http\/api|admin\/routes)\.ts/)).toEqual([]);
});

// It was 168 MB. About 60 MB of it are Node with an http server and SQLite.
test('an idle sandbox takes less than 110 MB, from a clone too', async () => {
  const first = await startFromClone();
  await first[Symbol.asyncDispose](); // leaves what Node made of the sources to the next one
  await using second = await startFromClone();
  expect(await residentMb(second.pid)).toBeLessThan(110);
});

interface Started extends AsyncDisposable {
  readonly pid: number;
  readonly baseUrl: string;
}

/** `dropcast sandbox` from the sources. Leaving its block stops it as Ctrl-C does. */
async function startFromClone(env: Readonly<Record<string, string>> = {}): Promise<Started> {
  const child = spawn(node, [LAUNCHER, 'sandbox', '--port', '0', '--json'], {
    env: { ...inherited(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { base_url: baseUrl } = JSON.parse(line) as { base_url: string };
  return {
    pid: child.pid ?? 0,
    baseUrl,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function residentMb(pid: number): Promise<number> {
  const [, kB] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kB) / 1024;
}

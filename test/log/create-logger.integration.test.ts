import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { needs } from '../support/needs.ts';

const module = (name: string) => JSON.stringify(new URL(`../../src/log/${name}`, import.meta.url).href);

/** A process that logs `lines` lines to its stdout, closes the log, reports on stderr and exits at once. */
const script = (lines: number, pauseEvery: number) => `
  import { createLogger } from ${module('create-logger.ts')};
  import { SecretValues } from ${module('redaction.ts')};
  const options = { level: 'info', format: 'json', isTerminal: false, env: {}, secrets: new SecretValues() };
  const { logger, close } = createLogger({ ...options, stream: process.stdout });
  for (let line = 1; line <= ${lines}; line += 1) {
    logger.info('upload finished', { line, path: 'news/some clip with a name.mp4' });
    if (line % ${pauseEvery} === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await close();
  process.stderr.write('closed');
  process.exit(0);
`;

function start(lines: number, pauseEvery: number, stdout: 'pipe' | number = 'pipe') {
  const args = ['--input-type=module', '-e', script(lines, pauseEvery)];
  return spawn(process.execPath, args, { stdio: ['ignore', stdout, 'pipe'] });
}

async function ended(child: ChildProcess) {
  let report = '';
  child.stderr?.on('data', (chunk: Buffer) => (report += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, report };
}

test('20,000 lines reach a slow reader although the process exits right after close', async () => {
  const child = start(20_000, Infinity);
  const end = ended(child);
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    await delay(5);
  }
  expect(await end).toEqual({ code: 0, report: 'closed' });
  const lines = text.split('\n').slice(0, -1);
  expect(lines).toHaveLength(20_000);
  expect(lines.at(-1)).toContain('"line":20000');
});

test('a reader that closes does not end the process', async () => {
  const child = start(300, 10);
  const end = ended(child);
  await once(child.stdout ?? child, 'data');
  child.stdout?.destroy();
  expect(await end).toEqual({ code: 0, report: 'closed' });
});

test('a full disk does not end the process', needs('/dev/full'), async () => {
  const full = await open('/dev/full', 'w');
  try {
    expect(await ended(start(300, 10, full.fd))).toEqual({ code: 0, report: 'closed' });
  } finally {
    await full.close();
  }
});

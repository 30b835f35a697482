import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

import { until } from '../support/until.ts';

test('a program ends when its daemons were stopped, whatever they waited for', async () => {
  const program = fileURLToPath(new URL('daemons-stopped-anywhere.ts', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  await until('the program has ended', () => child.exitCode !== null || child.signalCode !== null, {
    seen: () => output,
  });
  expect(output.match(/^stopped .*: 0 timers left$/gm)).toHaveLength(3);
  expect(child.exitCode).toBe(0);
});

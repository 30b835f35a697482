import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { alongside } from './alongside.ts';
import { stationSettings } from './station.ts';
import { makeScratch, startDropcast } from './dropcast-process.ts';
import type { DropcastProcess } from './dropcast-process.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

/**
 * What a mount whose server is gone does to a process: every thread that opens, reads or closes files hangs in the kernel, and no call
 * on any file ends any more. Even `process.exit` waits for these threads.
 */
const deadMount = (fifo: string): string => `
  import { open } from 'node:fs';
  process.on('SIGUSR2', () => {
    for (let thread = 0; thread < 64; thread += 1) open(${JSON.stringify(fifo)}, 'r', () => undefined);
    process.stderr.write('nothing can ever finish\\n');
  });
`;

/** A service that takes every request and never answers. */
async function silentService() {
  return startServer((request) => void request.resume());
}

alongside('when nothing can ever finish', () => {
  test.for([
    { command: 'run', says: 'Ready' },
    { command: 'once', says: '' },
    { command: 'sandbox', says: 'Ctrl-C' },
    { command: 'videos', says: '' },
  ])('the second SIGTERM ends `dropcast $command`', async ({ command, says }) => {
    await using service = await silentService();
    const host = { baseUrl: `${service.origin}/v1`, key: 'key_0123456789' };
    await using scratch = await makeScratch(stationSettings(host));
    await mkdir(scratch.file('inbox'));
    await scratch.write('inbox/clip.mpg', 'some bytes');
    execFileSync('mkfifo', [scratch.file('fifo')]);
    const preload = `--import=data:text/javascript,${encodeURIComponent(deadMount(scratch.file('fifo')))}`;
    const args = {
      run: ['run', '--config', scratch.config],
      once: ['once', '--config', scratch.config],
      sandbox: ['sandbox', '--port', '0'],
      videos: ['videos', 'list'],
    }[command];
    const env = { NODE_OPTIONS: preload, DROPCAST_BASE_URL: host.baseUrl, DROPCAST_API_KEY: host.key };
    await using started = startDropcast(args ?? [], env);
    await until(`${command} works`, () => (says === '' ? service.sockets.size > 0 : started.output().includes(says)), {
      seen: () => started.output(),
    });
    started.child.kill('SIGUSR2');
    await until('every thread hangs', () => started.output().includes('nothing can ever finish'));
    started.child.kill('SIGTERM');
    await takenIn(started);
    started.child.kill('SIGTERM');
    expect(await started.ended).toMatchObject({ code: null, signal: 'SIGTERM' });
  });
});

/** Signals of one kind that are both pending are one signal: the first must have arrived before the second is sent. */
async function takenIn({ child, output }: DropcastProcess): Promise<void> {
  child.kill('SIGUSR2');
  await until('it has heard the first', () => output().split('nothing can ever finish').length > 2);
}

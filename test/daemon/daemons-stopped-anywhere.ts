import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdir } from 'node:fs/promises';

import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { loadedConfig } from '../support/configuration.ts';
import { answer, refusal } from '../e2e/answers.ts';

// A program of its own: it stops a daemon in each kind of wait, and has then nothing left to stay for.

/** When a daemon is stopped, and how the service behaves until then. */
const moments: Readonly<
  Record<string, { serve(request: IncomingMessage, response: ServerResponse): void; isThere(daemon: Daemon): boolean }>
> = {
  'in an upload without an answer': {
    serve: (request, response) => {
      request.resume();
      const uploadUrl = `http://${request.headers.host}/put`;
      if (request.method === 'POST') answer(response, 201, { id: 'vid_1', upload_url: uploadUrl, status: 'pending' });
    },
    isThere: (daemon) => daemon.conductor.uploads().some(({ sentBytes }) => sentBytes > 0),
  },
  'while the service is away': {
    serve: (request) => void request.socket.destroy(),
    isThere: (daemon) => daemon.conductor.pause() !== null,
  },
  'while it is rate limited': {
    serve: (request, response) => {
      request.resume();
      refusal(response, 429, 'rate_limited', { 'retry-after': '3600' });
    },
    isThere: (daemon) => daemon.gate.snapshot().waiting > 0,
  },
};

for (const [moment, { serve, isThere }] of Object.entries(moments)) {
  await using service = await startServer(serve);
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox'));
  for (const name of ['a', 'b', 'c', 'd']) await scratch.write(`inbox/${name}.mpg`, `some bytes of ${name}`);
  const config = await loadedConfig(scratch, { service: { base_url: `${service.origin}/v1` } });
  const daemon = await startDaemon(config, silentLogger);
  await until(moment, () => isThere(daemon));
  await daemon.stop(AbortSignal.abort());
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  process.stdout.write(`stopped ${moment}: ${timers} timers left\n`);
}

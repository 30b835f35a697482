import type { RequestListener } from 'node:http';

import { createVideoClient } from '@dropcast/client';
import { content } from '../bytes.ts';
import { selfSigned } from '../certificate.ts';
import { startServer } from '../../support/server.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

// A program of its own: it sends an upload to every kind of end, closes everything, and has then nothing left to stay for.

/** How an upload host treats a PUT. */
const treatments: Readonly<Record<string, RequestListener>> = {
  takes: (request, response) => void request.resume().on('end', () => response.writeHead(200).end()),
  fails: (request, response) => void request.resume().on('end', () => response.writeHead(500).end()),
  // Once all was read: the end of a connection with a body on the way may overtake the answer.
  refuses: (request, response) => void request.resume().on('end', () => response.writeHead(413).end()),
  redirects: (request, response) =>
    void request.resume().on('end', () => response.writeHead(307, { location: 'https://elsewhere.invalid/' }).end()),
  breaks: (request) => void request.once('data', () => request.socket.destroy()),
  'never answers': (request) => void request.resume(),
};

const hour = 3_600_000;
/** Hashed in a thread, which must not keep the program either. */
const largeBytes = 17 * 1024 * 1024;

for (const scheme of ['http', 'https']) {
  for (const [name, handle] of Object.entries(treatments)) {
    await using host = await startServer(handle, scheme === 'https' ? { tls: selfSigned } : {});
    await using folder = await scratchDirectory();
    const path = await folder.write('clip.mp4', content(largeBytes));
    const stop = new AbortController();
    const { cert: ca } = selfSigned;
    await using client = createVideoClient({ baseUrl: host.origin, apiKey: 'key_0123456789', proxyEnv: {}, ca });
    const record = { id: 'vid_1', uploadUrl: `${host.origin}/put/1` };
    const sending = client.videos.send(path, record, {
      askAfterFailure: false,
      signal: stop.signal,
      stallTimeoutMs: hour,
      answerTimeoutMs: hour,
      onProgress: (sent, total) => sent === total && name === 'never answers' && stop.abort(),
    });
    const end = await sending.then(
      () => 'taken',
      (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
    );
    process.stdout.write(`${scheme} ${name}: ${end}\n`);
  }
}

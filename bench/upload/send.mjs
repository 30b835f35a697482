import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

// Sends a file several times at once with a built client, and prints what that took, without the start of the program.
const [module, origin = '', path = '', times = '1', certificate = ''] = process.argv.slice(2);
const { createVideoClient } = await import(pathToFileURL(module).href);
const ca = await readFile(certificate, 'utf8');
await using client = createVideoClient({
  baseUrl: origin,
  apiKey: 'key_of_the_benchmark',
  maxRetries: 0,
  proxyEnv: {},
  ca,
});
const before = process.cpuUsage();
const start = performance.now();
await Promise.all(
  Array.from({ length: Number(times) }, (_, n) =>
    client.videos.send(path, { id: `vid_${n}`, uploadUrl: `${origin}/put/${n}` }),
  ),
);
const wallMs = performance.now() - start;
const { user, system } = process.cpuUsage(before);
const { maxRSS } = process.resourceUsage();
console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1_000, rssMb: (maxRSS * 1_024) / 1e6 }));

// Sends requests with the installed client. Arguments: BASE_URL API_KEY CA_FILE REQUESTS; without a CA_FILE, ''.
import { readFileSync } from 'node:fs';

const cpuMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000;

const [baseUrl, apiKey, caFile, count] = process.argv.slice(2);
const atStart = cpuMs();
const { createVideoClient } = await import('@dropcast/client');
const load = cpuMs() - atStart;

const ca = caFile === '' ? undefined : readFileSync(caFile, 'utf8');
const client = createVideoClient({ baseUrl, apiKey, ca });
// The first requests pay for what is compiled and loaded once.
for (let n = 0; n < 20; n += 1) await client.channels.list();
const before = cpuMs();
for (let n = 0; n < Number(count); n += 1) await client.channels.list();
const request = (cpuMs() - before) / Number(count);

const since = performance.now();
await Promise.all(Array.from({ length: 300 }, () => client.videos.list().page(1)));
const parallel = (performance.now() - since) / 1_000;
console.log(JSON.stringify({ load, request, parallel }));
await client[Symbol.asyncDispose]();

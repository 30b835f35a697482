// Replaces the name server of a process: $SLOW_NAMES is a file with an error code, or milliseconds and addresses.
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

async function find() {
  const [first, ...addresses] = readFileSync(process.env.SLOW_NAMES, 'utf8').trim().split(' ');
  if (addresses.length === 0) throw Object.assign(new Error(`getaddrinfo ${first}`), { code: first });
  await sleep(Number(first));
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

dns.promises.lookup = async (_name, options) => {
  const found = await find();
  return options.all ? found : found[0];
};
syncBuiltinESMExports();

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { startServer } from '../support/server.ts';
import { startProxy } from './proxy.ts';
import { issueCertificate } from '../../packages/sandbox/src/tls.ts';

const client = `
  const { createVideoClient } = await import(process.argv[1]);
  await using client = createVideoClient({ baseUrl: 'https://video.example.com/v1', apiKey: 'sk_of_the_test', maxRetries: 0 });
  console.log(await client.feeds.list().then(() => 'answered', ({ message }) => message));
`;

/** The variables of the drop-in in docs/security.md. */
function documentedEnvironment(): Readonly<Record<string, string>> {
  const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
  return Object.fromEntries(
    [...page.matchAll(/^ *Environment=(\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
  );
}

test('the documented drop-in makes the service trust an own authority and use a proxy', async () => {
  const documented = documentedEnvironment();
  expect(Object.keys(documented)).toEqual(['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'NO_PROXY']);
  const { ca, cert, key } = await issueCertificate(['video.example.com'], Date.now());
  await using host = await startServer((_, response) => response.end('{"data":[]}'), { tls: { cert, key } });
  await using proxy = await startProxy(host.port);
  await using folder = await scratchDirectory();
  const ask = async (given: Readonly<Record<string, string>>): Promise<string> => {
    const path = new URL('../../packages/client/src/create-video-client.ts', import.meta.url).href;
    const flags = ['--no-warnings', '--input-type=module'];
    const env = { PATH: process.env['PATH'] ?? '', ...documented, HTTPS_PROXY: proxy.origin, ...given };
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--eval', client, path], { env });
    return stdout;
  };
  expect(await ask({ NODE_EXTRA_CA_CERTS: await folder.write('ca.pem', ca) })).toBe('answered\n');
  expect(proxy.asked).toEqual(['CONNECT video.example.com:443']);
  expect(await ask({})).toContain('name its file in NODE_EXTRA_CA_CERTS');
});

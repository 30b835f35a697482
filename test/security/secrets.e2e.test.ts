import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { dropcast, startDropcast } from '../e2e/dropcast-process.ts';
import { until } from '../support/until.ts';
import type { DropcastProcess } from '../e2e/dropcast-process.ts';
import { answer, isCreate } from '../e2e/station.ts';
import { startVideoHost } from '../e2e/video-host.ts';
import type { VideoHost } from '../e2e/video-host.ts';
import { tagged, writeConfig } from '../support/configuration.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';

/** A daemon as systemd starts it, with everything at its most talkative, and a service that repeats what it was told. */
const cleanup = new AsyncDisposableStack();
let host: VideoHost;
let scratch: ScratchDirectory;
let daemon: DropcastProcess;
let config: string;
let credential: string;
/** What is secret in the upload addresses that were asked, as they came. */
const signatures = new Set<string>();
/** The secret of a header that the service asks for. */
const uploadToken = 'tok_77c0ffee5eed';

beforeAll(async () => {
  let echoes = 0;
  host = cleanup.use(
    await startVideoHost({
      created: { upload_headers: { 'X-Upload-Token': `Token ${uploadToken}` } },
      meddle: (request, response) => {
        const key = request.headers.authorization ?? '';
        const bare = key.replace('Bearer ', '');
        const said = { error: { code: bare, message: `refused: ${key} at http://${bare}@${request.headers.host}/` } };
        if (isCreate(request) && (echoes += 1) <= 2)
          return answer(response, 500, said, { 'x-request-id': bare, location: `https://${bare}@evil.example/` });
        return false;
      },
      meddleUpload: (request, response, id) => {
        if (host.puts.filter((put) => put === id).length > 1) return false;
        const signature = new URL(request.url ?? '', host.uploadOrigin).searchParams.get('sig') ?? '';
        const token = String(request.headers['x-upload-token']);
        signatures.add(signature);
        const said = `${request.url} at http://${request.headers.host}${request.url}, signature ${signature}, header ${token}`;
        if (token === `Token ${uploadToken}`) signatures.add(uploadToken);
        return answer(response, 503, { error: { code: signature, message: said } });
      },
    }),
  );
  scratch = cleanup.use(await scratchDirectory());
  config = await writeConfig(scratch, {
    service: { base_url: host.baseUrl, api_key: tagged('!credential', 'api_key') },
    retry: { attempts: 9, first: '10ms', max: '50ms' },
    poll: { interval: '1s' },
    status: { listen: '127.0.0.1:0' },
    log: { level: 'debug', format: 'json' },
    folders: [{ rescan: '1s' }],
  });
  credential = scratch.file('credentials/api_key');
  await mkdir(scratch.file('credentials'), { mode: 0o700 });
  await mkdir(scratch.file('inbox'));
  await writeFile(credential, `${host.key}\n`, { mode: 0o400 });
  daemon = cleanup.use(
    startDropcast(['run', '--config', config], { CREDENTIALS_DIRECTORY: scratch.file('credentials') }),
  );
  await until(`it is ready: ${daemon.output()}`, () => daemon.output().includes('Ready'));
  await symlink(credential, scratch.file('inbox/key.mp4'));
  await writeFile(scratch.file('inbox/clip.mp4'), 'the film');
  await until(`the film is there: ${daemon.output()}`, () =>
    [...host.videos.values()].some(({ bodies }) => bodies.length > 0),
  );
  await until('the link was looked at', () => daemon.output().includes('key.mp4'));
});

afterAll(() => cleanup.disposeAsync());

describe('the key of a running daemon', () => {
  test('was used, so that it could have been shown', () => {
    expect(host.requests.length).toBeGreaterThan(2);
    expect([...signatures]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), uploadToken]);
    expect(daemon.output()).toContain('refused: ');
  });

  test('is not in its arguments and not in its environment', async () => {
    for (const file of ['cmdline', 'environ']) {
      const text = await readFile(`/proc/${daemon.child.pid}/${file}`, 'latin1');
      expect(text.length).toBeGreaterThan(20);
      expect(text).not.toContain(host.key);
    }
  });

  test('is not in its log at the most talkative level, and neither is a signed address', () => {
    expect(daemon.output()).toContain('"level":"debug"');
    expectClean(daemon.output());
  });

  test('is in no file that it writes', async () => {
    const names = await readdir(scratch.file('state'), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(files.map((file) => file.replace(/.*\//, ''))).toEqual(
      expect.arrayContaining(['failures.jsonl', 'receipts.jsonl']),
    );
    for (const file of files) expect((await readFile(file)).includes(host.key), file).toBe(false);
    // The address of an upload is written down before its first byte, in the two files of which all depends on it.
    expectClean(await readFile(scratch.file('state/failures.jsonl'), 'utf8'));
  });

  test.each([
    ['status', []],
    ['status', ['--json']],
    ['ls', ['--json']],
    ['show', ['clip.mp4']],
    ['show', ['--json', 'clip.mp4']],
  ] as const)(
    'is not in what `dropcast %s` with %j prints, and neither is the upload address',
    async (command, rest) => {
      const { stdout, stderr } = await dropcast([command, '--config', config, ...rest]);
      expect(stdout).not.toBe('');
      for (const text of [stdout, stderr]) {
        expectClean(text);
        expect(text).not.toContain('/put/');
      }
    },
  );

  test.each(['/', '/status.json', '/healthz', '/webhooks'])('is not in %s of the status page', async (path) => {
    const [, address = ''] = /"address":"(http:\/\/[\d.:]+)/.exec(daemon.output()) ?? [];
    const page = await fetch(`${address}${path}`);
    const text = (await page.text()) + JSON.stringify([...page.headers]);
    expectClean(text);
  });

  test('is not uploaded by a link to the file that it is in', async () => {
    const { stdout } = await dropcast(['ls', '--json', '--config', config]);
    expect(stdout).toContain('clip.mp4');
    expect(stdout).not.toContain('key.mp4');
    expect(host.leaks).toEqual([]);
    expect(host.videos.size).toBeGreaterThan(0);
  });
});

/** Neither the key nor a signature of an upload address is in it. */
function expectClean(text: string): void {
  for (const secret of [host.key, ...signatures]) expect(text).not.toContain(secret);
}

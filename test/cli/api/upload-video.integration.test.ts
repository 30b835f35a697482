import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { uploadVideo } from '../../../src/cli/api/upload-video.ts';
import { RejectedError, VideoFailedError } from '../../../packages/client/src/errors.ts';
import type { Videos } from '../../../packages/client/src/video-client.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { fakeSession, fakeShell, printedJson } from './fake-shell.ts';

let scratch: ScratchDirectory;
let folder: string;

beforeAll(async () => {
  scratch = await scratchDirectory();
  folder = scratch.path;
  await writeFile(join(folder, 'Evening_news.part.mp4'), 'x'.repeat(2_000));
  await symlink('Evening_news.part.mp4', join(folder, 'link.mp4'));
  await mkdir(join(folder, 'folder.mp4'));
});
afterAll(() => scratch[Symbol.asyncDispose]());

const created = { id: 'vid_1', status: 'pending', uploadUrl: 'https://up.example.com/geheim' };
const sha256 = 'ab'.repeat(32);

/** A service that takes a file in two steps. */
const upload: Videos['upload'] = async (_source, _fields, options) => {
  await options?.onCreated?.(created);
  options?.onProgress?.(1_000, 2_000);
  options?.onProgress?.(2_000, 2_000);
  return { id: 'vid_1', sizeBytes: 2_000, sha256 };
};

async function run(
  options: { wait?: boolean; json?: boolean; title?: string },
  videos: Partial<Videos>,
  name = 'link.mp4',
) {
  const shell = fakeShell({ cwd: folder });
  const failure = await uploadVideo(fakeSession(shell, { videos }), options, name).then(
    () => null,
    (error: unknown) => error,
  );
  return { shell, failure };
}

test('a link is followed, and the title is the name that was typed as {title} of the rules makes it', async () => {
  const spy = vi.fn(upload);
  await run({}, { upload: spy }, 'Evening_news.part.mp4');
  await run({}, { upload: spy }, 'link.mp4');
  await run({ title: 'T' }, { upload: spy }, 'link.mp4');
  const path = join(folder, 'Evening_news.part.mp4');
  expect(spy.mock.calls.map(([source, { title }]) => [source, title])).toEqual([
    [path, 'Evening news part'],
    [path, 'link'],
    [path, 'T'],
  ]);
});

test('a file is sent with the headers of the configuration', async () => {
  const spy = vi.fn(upload);
  const headers = { headers: { 'x-ms-blob-type': 'BlockBlob' }, contentType: null };
  await uploadVideo(fakeSession(fakeShell({ cwd: folder }), { videos: { upload: spy } }, headers), {}, 'link.mp4');
  expect(spy.mock.calls).toMatchObject([[expect.anything(), expect.anything(), headers]]);
});

describe('what is printed', () => {
  test('plain progress on stderr, the result on stdout, the upload address nowhere', async () => {
    const { shell, failure } = await run({}, { upload });
    expect(failure).toBeNull();
    expect(shell.err.text).toBe('link.mp4: creating\nlink.mp4: uploading (2 kB)\nlink.mp4: uploaded\n');
    expect(shell.out.text).toBe(`id      vid_1\nsize    2 kB (2000 bytes)\nsha256  ${sha256}\n`);
    expect(shell.out.text + shell.err.text).not.toContain('geheim');
  });

  test('with --wait the states of the service, and the video as it became', async () => {
    const waitUntilReady: Videos['waitUntilReady'] = (_id, options) => {
      for (const status of ['pending', 'processing', 'ready']) options?.onStatus?.(status);
      return Promise.resolve({ id: 'vid_1', status: 'ready', duration: 4 });
    };
    const { shell } = await run({ wait: true }, { upload, waitUntilReady });
    expect(shell.err.text).toMatch(
      /uploading \(2 kB\)\nlink\.mp4: uploaded\nlink\.mp4: pending\nlink\.mp4: processing\nlink\.mp4: done in /,
    );
    expect(shell.out.text).toContain('status  ready\nlength  4 s\n');
    const json = await run({ wait: true, json: true }, { upload, waitUntilReady });
    expect(printedJson(json.shell)).toMatchObject({
      v: 1,
      id: 'vid_1',
      size: 2_000,
      sha256,
      video: { status: 'ready', duration: 4 },
    });
  });

  test('the id of a failed video is still printed, and the failure is passed on', async () => {
    const failed = new VideoFailedError('vid_1', 'damaged');
    const waitUntilReady: Videos['waitUntilReady'] = (_id, options) => {
      options?.onStatus?.('failed');
      return Promise.reject(failed);
    };
    const { shell, failure } = await run({ wait: true, json: true }, { upload, waitUntilReady });
    expect(failure).toBe(failed);
    expect(printedJson(shell)).toMatchObject({ id: 'vid_1', status: 'failed', video: null });
    expect(shell.err.text).toMatch(/link\.mp4: uploaded\nlink\.mp4: failed\n$/);
  });

  test('an upload that broke prints nothing on stdout and names the record it leaves', async () => {
    const broken: Videos['upload'] = async (_source, _fields, options) => {
      await options?.onCreated?.(created);
      throw new RejectedError('422');
    };
    const { shell, failure } = await run({ json: true }, { upload: broken });
    expect(shell.out.text).toBe('');
    expect(failure).toMatchObject({ leaves: expect.stringContaining('`dropcast videos delete vid_1`') });
  });
});

test.each([
  ['missing.mp4', 'no such file'],
  ['folder.mp4', 'is a directory'],
  ['/dev/null', 'regular file'],
  ['a\u{1B}[2J', String.raw`a\x1b[2J`],
])('%j asks nothing of the service and is wrong usage', async (name, why) => {
  const { failure } = await run({}, {}, name);
  expect(failure).toMatchObject({ exitCode: 2, message: expect.stringContaining(why) });
});

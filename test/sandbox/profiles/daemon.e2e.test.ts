import { cp, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../../packages/sandbox/src/sandbox.ts';
import { profiles, type ProfileName } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import { dropcast, makeScratch } from '../../e2e/dropcast-process.ts';
import { plant } from '../../reliability/planted/plant.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { admin } from '../admin/admin-side.ts';
import { plantedBugs } from './planted.ts';
import { hurriedLife } from './play-life.ts';
import type { Settings } from '../../support/configuration.ts';

const media = join(import.meta.dirname, '../../media');

const settings = (baseUrl: string): Settings => ({
  service: { base_url: baseUrl },
  retry: { attempts: 3, first: '1s', max: '2s' },
  poll: { interval: '1s' },
  publish: { quiet: '1s', at_most: '2s' },
  folders: [{ path: 'in', settle: '1s', rules: [{ match: '**', channel: 'ch_news', publish: ['feed_news'] }] }],
});

/** A clip, a sound, the same sound again, and a file that no service can play. */
async function drop(folder: string): Promise<void> {
  await mkdir(folder);
  await cp(join(media, 'clip.mp4'), join(folder, 'clip.mp4'));
  await cp(join(media, 'interview.mp3'), join(folder, 'interview.mp3'));
  await cp(join(media, 'interview.mp3'), join(folder, 'interview again.mp3'));
  await writeFile(join(folder, 'broken.mp3'), 'no sound at all, whatever the name says');
}

async function plan(sandbox: Sandbox, faults: readonly object[]): Promise<void> {
  const headers = { authorization: `Bearer ${sandbox.adminToken}`, 'content-type': 'application/json' };
  await fetch(`${sandbox.adminUrl}/faults`, { method: 'PUT', headers, body: JSON.stringify(faults) });
}

interface File {
  readonly path: string;
  readonly state: string;
  readonly why: string | null;
}

/** The files of `once --json`. */
function filesOf(stdout: string): readonly File[] {
  const last = stdout.trim().split('\n').at(-1) ?? '{}';
  return (JSON.parse(last) as { readonly files: readonly File[] }).files;
}

/** Services that take no file until a person has logged in, say: files wait, and continue then. */
const refusing: ReadonlySet<ProfileName> = new Set(['redirecting-uploads']);

test.concurrent.for(Object.keys(profiles) as ProfileName[])(
  'a service like %s: every file ends as promised, nothing is lost and nothing doubled',
  async (profile) => {
    await using sandbox = await startSandbox({ profile, processingMs: { min: 200, max: 400 } });
    await using scratch = await makeScratch(settings(sandbox.baseUrl));
    await plan(sandbox, [
      { kind: 'status', status: 503, operation: 'videos.create', nth: 1 },
      { kind: 'rate_limited', operation: 'videos.create', nth: 2, seconds: 1 },
      { kind: 'answer_lost', operation: 'videos.create', nth: 3 },
      { kind: 'answer_lost', operation: 'uploads.put', times: 1 },
    ]);
    await drop(scratch.file('in'));
    const ending = dropcast(['once', '--config', scratch.config, '--json'], { KEY: sandbox.apiKey });
    if (refusing.has(profile)) {
      await until(
        'an upload is redirected',
        () => sandbox.requests().some(({ status }) => status === 307) || undefined,
      );
      expect(sandbox.files()).toEqual([]);
      await admin({ sandbox }, 'POST /profile/switches', { upload_redirect: 'none' });
    }
    const ended = await ending;
    const files = filesOf(ended.stdout);
    const states = Object.fromEntries(files.map(({ path, state }) => [basename(path), state]));
    const stored = sandbox.files().map(({ sha256 }) => sha256);
    expect(states).toMatchObject({ 'clip.mp4': 'done', 'broken.mp3': 'failed' });
    const twins = new Set([states['interview.mp3'], states['interview again.mp3']]);
    expect(twins).toEqual(new Set(['done', 'skipped']));
    expect(new Set(stored).size).toBe(stored.length);
    expect(stored).toHaveLength(3);
  },
);

test('what `npm run test:profiles` plants has its place in the program', async () => {
  await using scratch = await scratchDirectory();
  for (const [bug, { edits }] of Object.entries(plantedBugs))
    await plant(inject('program'), scratch.file(bug), [...hurriedLife, ...edits]);
});

import { copyFile, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Daemon } from '../../daemon/daemon.ts';
import { filesOf } from '../../view/files/files-view.ts';
import type { FileView } from '../../view/files/file-view.ts';
import { startSandbox } from '@dropcast/sandbox';
import type { Sandbox } from '@dropcast/sandbox';
import { formatDuration, UNKNOWN } from '../output/format.ts';
import { tableOf } from '../output/table.ts';
import { requireConfig } from '../read-config.ts';
import { exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { drain, openLog, startDaemonOrExplain } from './daemon-lifecycle.ts';
import { aborted } from '../../pipeline/wake-up.ts';
import { stageStyle } from '../output/file-table.ts';
import { openProgress, watchUntilIdle } from './watch-progress.ts';

/** Sample media and where each is dropped. */
const drops: readonly { readonly sample: string; readonly to: string }[] = [
  { sample: 'clip.mp4', to: 'news/dawn/opening.mp4' },
  { sample: 'camera.mov', to: 'news/dawn/street_interview.mov' },
  { sample: 'phone-vertical.mp4', to: 'news/dusk/viewer.video.mp4' },
  { sample: 'lecture.mkv', to: 'talks/physics/lecture_01.mkv' },
  { sample: 'interview.mp3', to: 'talks/physics/interview.mp3' },
];

/**
 * `dropcast demo`: runs the real daemon with real files against a local service, without an account or configuration.
 *
 * @param samples folder of the media to upload
 */
export async function demo(
  samples: string,
  shell: Shell,
  options: { readonly keep?: boolean; readonly fleet?: boolean },
): Promise<number> {
  if (options.fleet === true) return (await import('../../fleet/demo/fleet-demo.ts')).fleetDemo(shell, samples);
  shell.takeOverSignals();
  await using stack = new AsyncDisposableStack();
  const scratch = await mkdtemp(join(await realpath(tmpdir()), 'dropcast-demo-'));
  stack.defer(() => rm(scratch, { recursive: true, force: true }));
  const sandbox = stack.use(await startSandbox({ processingMs: { min: 800, max: 2_500 }, uploadOrigin: 'separate' }));
  const inbox = join(scratch, 'inbox');
  await mkdir(inbox);
  const config = await requireConfig(shell, await writeConfig(scratch, sandbox));
  const { progress, lines } = openProgress(shell);
  const { logger, close } = openLog({ ...config, log: { level: 'error', format: 'auto' } }, shell, lines);
  stack.defer(close);
  shell.stderr.write(`A local video service runs at ${sandbox.baseUrl}; dropcast watches ${inbox}\n`);
  shell.stderr.write(`Open the service in a browser: ${sandbox.pageUrl}\n`);
  const daemon = await startDaemonOrExplain(config, { shell, logger });
  stack.use(daemon);
  await drop(samples, inbox);
  shell.stderr.write(`Dropped ${drops.length} files and a sidecar into the folder. dropcast does the rest:\n\n`);
  await filesSeen(daemon, shell);
  await watchUntilIdle(daemon, progress, shell, { since: 0, offlineMs: Infinity });
  const { files } = await filesOf(daemon.ledger, daemon, { selection: {}, range: { limit: 1_000 } });
  // Empty if the demo was stopped before the first file settled.
  if (files.length > 0) shell.stdout.write(`\n${resultTable(files, shell)}\n${summary(files, sandbox)}`);
  if (!shell.stopping.aborted) {
    if (options.keep === true) await stayUp(shell, { inbox, sandbox });
    else shell.stderr.write(`To keep everything running afterwards: ${again(shell)}\n`);
  }
  await drain(daemon, shell);
  const isFine = files.length === drops.length && files.every(isPublished);
  return isFine ? exitCodes.fine : exitCodes.failed;
}

/** The command that started the demo. A clone has no `dropcast` command. */
function again({ env }: Shell): string {
  return env['npm_lifecycle_event'] === 'demo' ? 'npm run demo -- --keep' : 'dropcast demo --keep';
}

async function writeConfig(scratch: string, sandbox: Sandbox): Promise<string> {
  const file = join(scratch, 'dropcast.yaml');
  const text = `service:
  base_url: ${sandbox.baseUrl}
  api_key: ${sandbox.apiKey}
state_dir: ${JSON.stringify(join(scratch, 'state'))}
uploads: { bandwidth: 100kB/s }   # slow, because the samples are small
poll: { interval: 1s }
publish: { quiet: 1s, at_most: 20s }
folders:
  - path: ${JSON.stringify(join(scratch, 'inbox'))}
    settle: 1s
    rules:
      - match: "news/{show}/**"
        channel: ch_news
        title: "{show}: {title}"
        tags: [news, "{show}"]
        publish: [feed_news]
      - match: "**"
        channel: ch_main
        tags: ["{dirs}"]
status: { listen: off }
`;
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

/** Copies the samples into the inbox, with a sidecar for one of them. */
async function drop(samples: string, inbox: string): Promise<void> {
  const available = await readdir(samples);
  for (const { sample, to } of drops) {
    if (!available.includes(sample)) throw new Error(`${samples} lacks the sample ${sample}`);
    await mkdir(join(inbox, to, '..'), { recursive: true });
    await copyFile(join(samples, sample), join(inbox, to));
  }
  await writeFile(join(inbox, 'news/dawn/opening.yaml'), 'title: Good morning!\ntags: [sidecar]\n');
}

/** Waits until the watcher has seen the files. An idle daemon means nothing before that. */
async function filesSeen(daemon: Daemon, shell: Shell): Promise<void> {
  await daemon.folders.rescan();
  while (!daemon.folders.isSettling() && (await daemon.isIdle()) && !shell.stopping.aborted) {
    const { files } = await filesOf(daemon.ledger, daemon, { selection: {}, range: { limit: 1 } });
    if (files.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function isPublished(file: FileView): boolean {
  return file.state === 'done' && file.publish.every((feed) => feed in file.published);
}

/** Minimum width in columns. The result needs all its columns, so a narrower terminal wraps it. */
const leastWidth = 100;

function resultTable(files: readonly FileView[], shell: Shell): string {
  return tableOf(
    files.toReversed(),
    [
      ['FILE', ({ path }) => path.split('/inbox/')[1] ?? path, { cut: 'middle' }],
      ['STATE', ({ stage }) => stage, { style: stageStyle }],
      ['CHANNEL', ({ channel }) => channel ?? UNKNOWN],
      ['TAGS', ({ tags }) => tags.join(', '), { cut: 'end' }],
      ['VIDEO', ({ video_id: id }) => id ?? UNKNOWN],
      ['CREATE', ({ times }) => took(times.discovered, times.created), { align: 'right' }],
      ['UPLOAD', ({ times }) => took(times.upload_started, times.uploaded), { align: 'right' }],
      ['PROCESS', ({ times }) => took(times.uploaded, times.ready), { align: 'right' }],
      ['PUBLISH', publishedAfter, { align: 'right' }],
    ],
    { stdout: shell.stdout, env: shell.env, leastWidth },
  );
}

function publishedAfter({ publish, published, times }: FileView): string {
  return publish.length === 0 ? 'no feed' : took(times.ready, Math.max(...Object.values(published)));
}

function took(from: number | null, to: number | null): string {
  return from === null || to === null || !Number.isFinite(to) ? UNKNOWN : formatDuration(to - from);
}

function summary(files: readonly FileView[], sandbox: Sandbox): string {
  const requests = sandbox.requests().filter(({ path }) => path.startsWith('/v1'));
  const publishes = requests.filter(({ path }) => path.endsWith('/publish')).length;
  const done = files.filter(isPublished).length;
  return `${done} of ${files.length} files are ready and published, with ${requests.length} API requests (${publishes} publish).\n`;
}

async function stayUp(shell: Shell, { inbox, sandbox }: { inbox: string; sandbox: Sandbox }): Promise<void> {
  await inventPlays(sandbox);
  shell.stdout.write(`
Still running. Drop more files into ${inbox}. Ctrl-C stops and removes everything.
Web page of the service, with invented plays of the last month: ${sandbox.pageUrl}
  curl -H 'Authorization: Bearer ${sandbox.apiKey}' ${sandbox.baseUrl}/videos
`);
  await aborted(shell.stopping);
}

/** Creates a month of fake plays, so that the analytics have something to show. */
async function inventPlays({ adminUrl, adminToken }: Sandbox): Promise<void> {
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ videos: 0, days: 30 });
  const answer = await fetch(`${adminUrl}/seed`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`the sandbox could not invent plays: ${answer.status}`);
}

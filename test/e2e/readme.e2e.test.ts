import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { makeScratch } from './dropcast-process.ts';
import { until } from '../support/until.ts';

const root = new URL('../..', import.meta.url).pathname;
const readme = await readFile(join(root, 'README.md'), 'utf8');

/** The code blocks of the page in a language, without their indentation. */
function blocks(language: string): readonly string[] {
  return [...readme.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\``, 'gm'))].map(
    ([, indent = '', text = '']) =>
      text
        .split('\n')
        .map((line) => line.slice(indent.length))
        .join('\n'),
  );
}

/** The lines of the page that a person types, below `npm run -s dropcast --`. */
const commands = blocks('sh')
  .flatMap((block) => block.split('\n'))
  .flatMap((line) => /^npm run -s dropcast -- (.*)$/.exec(line)?.[1] ?? []);

const init =
  'init --service https://video.example.com/v1 --key-env DROPCAST_API_KEY --folder /srv/media/inbox --channel ch_main --yes';

test('the commands and the configuration of the README work as they are written', async () => {
  await using service = await runSandbox();
  const { sandbox } = service;
  const [example = ''] = blocks('yaml');
  await using scratch = await makeScratch(
    (path) =>
      `${example.replace('https://video.example.com/v1', sandbox.baseUrl).replace('/srv/media', path)}state_dir: ${path}/state\nstatus: { listen: off }\n`,
  );
  await mkdir(scratch.file('inbox'));
  const env = { ...process.env, DROPCAST_API_KEY: sandbox.apiKey, DROPCAST_CONFIG: scratch.config };
  const typed = (command: string) =>
    ['run', '-s', 'dropcast', '--'].concat(command.replaceAll('/srv/media', scratch.path).split(' '));
  const say = async (command: string) => (await promisify(execFile)('npm', typed(command), { cwd: root, env })).stdout;
  expect(commands).toEqual([
    'sandbox',
    init,
    'check --online',
    'run',
    'status',
    'explain /srv/media/inbox/news/evening/clip.mp4',
  ]);
  const own = `${init.replace('https://video.example.com/v1', sandbox.baseUrl)} --config ${scratch.file('own.yaml')}`;
  expect(await say(own)).toContain('own.yaml');
  expect(await say('check --online')).toContain('is fine');
  // A group of its own, as in a terminal: there Ctrl-C reaches npm and the daemon below it.
  const daemon = spawn('npm', typed('run'), { cwd: root, env, detached: true, stdio: 'ignore' });
  const ended = once(daemon, 'exit');
  try {
    const status = () => say('status').catch(() => 'it is just starting');
    await until('the daemon runs', async () => (await status()).includes('dropcast is running'));
    expect(await say('explain /srv/media/inbox/news/evening/clip.mp4')).toContain('evening: clip');
  } finally {
    process.kill(-(daemon.pid ?? 0), 'SIGTERM');
    await ended;
  }
});

test('the sandbox of the README comes up with a page, and goes', async () => {
  // On any free port: that of the page may be taken where the tests run.
  const args = ['run', '-s', 'dropcast', '--', 'sandbox', '--port', '0'];
  const service = spawn('npm', args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(service, 'exit');
  let said = '';
  service.stdout.on('data', (data) => (said += String(data)));
  try {
    await until('the sandbox runs', async () => said.includes('Press Ctrl-C to stop.'));
    const [page = ''] = /^ {2}(http\S+token=\S+)$/m.exec(said)?.slice(1) ?? [];
    expect(await (await fetch(page)).text()).toContain('</html>');
  } finally {
    process.kill(-(service.pid ?? 0), 'SIGTERM');
    await ended;
  }
});

test('the program of the README runs', async () => {
  await using service = await runSandbox();
  const { sandbox } = service;
  await using scratch = await makeScratch(() => '');
  const [code = ''] = blocks('ts');
  const library = JSON.stringify(join(root, 'packages/client/src/index.ts'));
  const ours = code
    .replace("'@dropcast/client'", library)
    .replace('https://video.example.com/v1', sandbox.baseUrl)
    .replace("'clip.mp4'", JSON.stringify(join(root, 'test/media/clip.mp4')));
  await writeFile(scratch.file('program.mts'), ours);
  const env = { ...process.env, DROPCAST_API_KEY: sandbox.apiKey };
  const { stdout } = await promisify(execFile)(process.execPath, [scratch.file('program.mts')], { env });
  expect(stdout).toMatch(/^http\S+\/embed\/vid_\w+\n$/);
});

test('the two commands of the README are those of package.json', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const lines = blocks('sh').map((block) => block.trim());
  expect(lines).toContain('npm ci && npm run demo');
  expect(lines).toContain('npm ci && npm test');
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['demo', 'test', 'dropcast']));
});

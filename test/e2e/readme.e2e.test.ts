import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { until } from '../support/until.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

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

/** The key that the page uses, which a sandbox with the usual seed prints. */
const [, key = ''] = /DROPCAST_API_KEY=(\S+)/.exec(readme) ?? [];

test('the commands of the README upload a video as they are written', async () => {
  await using service = await runSandbox();
  const { sandbox } = service;
  await using scratch = await scratchDirectory();
  const config = scratch.file('own.yaml');
  const env = { ...process.env, DROPCAST_API_KEY: sandbox.apiKey, DROPCAST_CONFIG: config };
  const typed = (command: string) =>
    ['run', '-s', 'dropcast', '--'].concat(
      command
        .replace('http://127.0.0.1:8787/v1', sandbox.baseUrl)
        .replace('--folder inbox', `--folder ${scratch.file('inbox')} --config ${config}`)
        .split(' '),
    );
  const say = async (command: string) => (await promisify(execFile)('npm', typed(command), { cwd: root, env })).stdout;
  expect(commands.map((command) => command.split(' ')[0])).toEqual(['sandbox', 'init', 'check', 'run']);
  const [, init = '', check = '', run = ''] = commands;
  expect(await say(init)).toContain('own.yaml');
  const settings = `state_dir: ${scratch.file('state')}\nstatus: { listen: off }\n`;
  await writeFile(config, `${await readFile(config, 'utf8')}${settings}`);
  expect(await say(check)).toContain('is fine');
  // A group of its own, as in a terminal: there Ctrl-C reaches npm and the daemon below it.
  const daemon = spawn('npm', typed(run), { cwd: root, env, detached: true, stdio: 'ignore' });
  const ended = once(daemon, 'exit');
  try {
    await copyFile(join(root, 'test/media/clip.mp4'), scratch.file('inbox', 'hello.mp4'));
    await until('its video is there', async () => (await say('ls').catch(() => '')).includes(' vid_'));
  } finally {
    process.kill(-(daemon.pid ?? 0), 'SIGTERM');
    await ended;
  }
});

test('the rules of the README are a configuration that the service agrees with', async () => {
  await using service = await runSandbox();
  const { sandbox } = service;
  const [example = ''] = blocks('yaml');
  await using scratch = await scratchDirectory();
  const text = example.replace('https://video.example.com/v1', sandbox.baseUrl).replace('/srv/media', scratch.path);
  const config = await scratch.write('dropcast.yaml', `${text}state_dir: state\n`);
  await mkdir(scratch.file('inbox'));
  const env = { ...process.env, DROPCAST_API_KEY: sandbox.apiKey, DROPCAST_CONFIG: config };
  const say = async (...command: readonly string[]) =>
    (await promisify(execFile)('npm', ['run', '-s', 'dropcast', '--', ...command], { cwd: root, env })).stdout;
  expect(await say('check', '--online')).toContain('is fine');
  expect(await say('explain', scratch.file('inbox/news/evening/clip.mp4'))).toContain('evening: clip');
});

test('the sandbox of the README comes up with its key and a page, and goes', async () => {
  // On any free port: that of the page may be taken where the tests run.
  const args = ['run', '-s', 'dropcast', '--', 'sandbox', '--port', '0'];
  const service = spawn('npm', args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(service, 'exit');
  let said = '';
  service.stdout.on('data', (data) => (said += String(data)));
  try {
    await until('the sandbox runs', async () => said.includes('Press Ctrl-C to stop.'));
    expect(said).toContain(`with the key ${key}\n`);
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
  await using scratch = await scratchDirectory();
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

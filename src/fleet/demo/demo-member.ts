import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile, copyFile, readFile, rename } from 'node:fs/promises';
import { join, basename, dirname } from 'node:path';
import type { Sandbox } from '@dropcast/sandbox';
import { callDaemon } from '../../daemon/control/client.ts';
import type { FilesView } from '../../view/files/files-view.ts';
import type { FileView } from '../../view/files/file-view.ts';
import { programFile } from '../../package-files.ts';
import { CommandError } from '../../cli/shell.ts';
import type { Shell } from '../../cli/shell.ts';
import type { DemoPostgres } from './demo-postgres.ts';

/** A fleet member: a daemon in its own process. */
export interface DemoMember extends AsyncDisposable {
  readonly name: string;
  /** The member's own folder, which no other member watches. */
  readonly folder: string;
  isRunning(): boolean;
  /** Starts or restarts the member. Resolves when it is ready. */
  start(): Promise<void>;
  /** Kills the member with SIGKILL. */
  kill(): void;
  /** Returns the member's view of all files; null if it does not answer. */
  files(): Promise<readonly FileView[] | null>;
}

interface DemoFleet {
  /** Directory of the whole demo. */
  readonly scratch: string;
  /** Folder that all members watch. */
  readonly share: string;
  readonly sandbox: Sandbox;
  readonly postgres: DemoPostgres;
  readonly shell: Pick<Shell, 'env'>;
}

export async function prepareMember(name: string, fleet: DemoFleet): Promise<DemoMember> {
  const home = join(fleet.scratch, name);
  const folder = join(home, 'local');
  await mkdir(folder, { recursive: true });
  const config = join(home, 'dropcast.yaml');
  await writeFile(config, configText(name, home, fleet), { mode: 0o600 });
  return new Member(name, { home, folder, config, env: fleet.shell.env });
}

interface Where {
  readonly home: string;
  readonly folder: string;
  readonly config: string;
  readonly env: Shell['env'];
}

/** Characters of a member's output to keep, enough to show why it did not start. */
const mostSaid = 4_000;
/** Start timeout in milliseconds. Three members start at the same time, each in its own process. */
const startsWithinMs = 120_000;

class Member implements DemoMember {
  readonly name: string;
  readonly folder: string;
  readonly #where: Where;
  #child: ReturnType<typeof spawn> | null = null;
  #said = '';

  constructor(name: string, where: Where) {
    this.name = name;
    this.folder = where.folder;
    this.#where = where;
  }

  isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async start(): Promise<void> {
    const { config, env } = this.#where;
    // Each member has its own process group: Ctrl-C reaches only the demo, which stops its members itself.
    const child = spawn(process.execPath, [programFile(), 'run', '--config', config], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#said = '';
    const ready = Promise.withResolvers<void>();
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        this.#said = `${this.#said}${String(part)}`.slice(-mostSaid);
        if (this.#said.includes('"Ready"')) ready.resolve();
      });
    child.once('error', ready.reject);
    child.once('exit', () => ready.reject(new CommandError(`${this.name} did not start:\n${this.#said.trim()}`)));
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      ready.reject(
        new CommandError(`${this.name} was not ready after ${startsWithinMs / 1_000} s:\n${this.#said.trim()}`),
      );
    }, startsWithinMs);
    await ready.promise.finally(() => clearTimeout(late));
  }

  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  async files(): Promise<readonly FileView[] | null> {
    if (!this.isRunning()) return null;
    const socket = join(this.#where.home, 'state', 'dropcast.sock');
    const answer = await callDaemon<FilesView>(socket, 'GET', '/files?limit=1000').catch(() => null);
    return answer?.files ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child === null || !this.isRunning()) return;
    const end = once(child, 'exit');
    child.kill('SIGTERM');
    const hurry = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await end;
    clearTimeout(hurry);
  }
}

function configText(name: string, home: string, { share, sandbox, postgres }: DemoFleet): string {
  const rules = `
    settle: 1s
    rules:
      - match: "news/**"
        channel: ch_news
        publish: [feed_news]
      - match: "**"
        channel: ch_main`;
  const password = postgres.password === null ? '' : `, password: ${JSON.stringify(postgres.password)}`;
  return `service: { base_url: ${sandbox.baseUrl}, api_key: ${sandbox.apiKey} }
ledger: { url: ${JSON.stringify(postgres.url)}, tls: false${password} }
host_name: ${name}
state_dir: ${JSON.stringify(join(home, 'state'))}
uploads: { concurrency: 2, bandwidth: 40kB/s }   # slow, because the samples are small
poll: { interval: 1s }
publish: { quiet: 1s, at_most: 20s }
folders:
  - path: ${JSON.stringify(share)}
    share: nas1${rules}
  - path: ${JSON.stringify(join(home, 'local'))}${rules}
status: { listen: off }
log: { level: info, format: json }
`;
}

/** A file that the demo drops. */
export interface DemoFile {
  /** Absolute path. */
  readonly path: string;
  /** Display name: the short name of the folder, and the file's path in the folder. */
  readonly name: string;
}

const onShare: readonly (readonly [sample: string, to: string])[] = [
  ['camera.mov', 'news/street_interview.mov'],
  ['clip.mp4', 'news/opening.mp4'],
  ['clip.mp4', 'news/closing.mp4'],
  ['camera.mov', 'news/harbour.mov'],
  ['lecture.mkv', 'talks/lecture_01.mkv'],
  ['interview.mp3', 'talks/interview.mp3'],
];

/** Copies the samples to their folders and finally renames each, as an exporter does. All copies differ in content. */
export async function dropFiles(
  samples: string,
  share: string,
  members: readonly { readonly name: string; readonly folder: string }[],
): Promise<readonly DemoFile[]> {
  const wanted = [
    ...onShare.map(([sample, to]) => ({ sample, path: join(share, to), name: `nas1/${to}` })),
    ...members.map(({ name, folder }) => ({
      sample: 'phone-vertical.mp4',
      path: join(folder, `${name}_card.mp4`),
      name: `${name}/${name}_card.mp4`,
    })),
  ];
  for (const { sample, path } of wanted) await drop(join(samples, sample), path);
  return wanted.map(({ path, name }) => ({ path, name }));
}

async function drop(sample: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const hidden = join(dirname(path), `.${basename(path)}.part`);
  if (/\.(?:mp4|mov)$/.test(path)) await writeFile(hidden, Buffer.concat([await readFile(sample), note(path)]));
  else await copyFile(sample, hidden);
  await rename(hidden, path);
}

/** A `free` box, which MP4 players ignore. It makes copies of the same sample differ. */
function note(text: string): Buffer {
  const content = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(head.length + content.length);
  head.write('free', 4, 'latin1');
  return Buffer.concat([head, content]);
}

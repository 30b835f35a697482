import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { startSandbox } from '../../packages/sandbox/src/index.ts';
import type { Sandbox } from '../../packages/sandbox/src/index.ts';
import { createProgram } from '../../src/cli/program.ts';
import { CommandError } from '../../src/cli/shell.ts';
import type { Shell } from '../../src/cli/shell.ts';
import { deskConfig, type Ports } from './desk-config.ts';
import type { VirtualTime } from './virtual-time.ts';

const minute = 60_000;

/** Output and exit code of a command. */
export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Video {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly file_sha256: string;
}

/** A notification, and the person whose webhook received it. */
export interface Message {
  readonly to: string;
  readonly event: string;
  readonly title: string;
  readonly body: string;
}

/** The newsroom: its folders, the daemon, the service and the receiver of notifications. Their files are in `place` and outlive this process. */
export class Desk {
  readonly place: string;
  readonly time: VirtualTime;
  readonly #ports: Ports;
  readonly #stop = new AbortController();
  #old = 0;
  #sandbox: Sandbox | null = null;
  #daemon: Promise<Answer> = Promise.resolve({ code: 0, out: '', err: '' });
  #ready = Promise.withResolvers<void>();

  constructor(place: string, ports: Ports, time: VirtualTime) {
    this.place = place;
    this.#ports = ports;
    this.time = time;
  }

  /** Starts the service, the receiver of notifications, and the daemon. */
  async start(): Promise<void> {
    const isNew = !existsSync(this.file('dropcast.yaml'));
    for (const folder of ['bulletins', 'sport', 'archive']) await mkdir(this.file(folder), { recursive: true });
    await this.#receiveMessages();
    await this.during(this.openService());
    if (isNew) {
      await writeFile(this.file('key'), this.service.apiKey, { mode: 0o600 });
      await writeFile(this.file('dropcast.yaml'), deskConfig(this.#ports), { mode: 0o600 });
    }
    this.#daemon = this.#command(['run'], this.#stop.signal);
    const ended = this.#daemon.then(({ err }) => {
      throw new Error(`dropcast ended before it was ready: ${err}`);
    });
    await this.during(Promise.race([this.#ready.promise, ended]));
  }

  /** SIGTERM. */
  async stop(): Promise<Answer> {
    this.#stop.abort();
    return this.during(this.#daemon);
  }

  file(...names: readonly string[]): string {
    return join(this.place, ...names);
  }

  get service(): Sandbox {
    if (this.#sandbox === null) throw new Error('the service is away');
    return this.#sandbox;
  }

  async openService(): Promise<void> {
    this.#sandbox = await startSandbox({
      port: this.#ports.service,
      dataDir: this.file('service'),
      seedData: 'demo',
      adminToken: 'admin-of-the-desk',
      processingMs: { min: 20_000, max: 90_000 },
      ffmpegPath: null,
    });
  }

  /** Connections are refused from here on. */
  async closeService(): Promise<void> {
    await this.during(this.service.close());
    this.#sandbox = null;
  }

  /** Asks the dashboard of the service, where keys and limits are. */
  async dashboard<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.during(
      fetch(`${this.service.adminUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${this.service.adminToken}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await this.during(answer.json())) as T;
  }

  /** What readers of a feed get. */
  async feed(id: string): Promise<string> {
    const answer = await this.during(fetch(`${new URL(this.service.baseUrl).origin}/feeds/${id}.xml`));
    return this.during(answer.text());
  }

  /** Another program sends requests with the same key. */
  async useRequests(count: number): Promise<void> {
    const headers = { authorization: `Bearer ${await this.read('key')}` };
    const ask = async (): Promise<void> => {
      const answer = await fetch(`${this.service.baseUrl}/channels`, { headers });
      await answer.arrayBuffer();
    };
    for (let done = 0; done < count; done += 30)
      await this.during(Promise.all(Array.from({ length: Math.min(30, count - done) }, ask)));
  }

  /** A person types a command. */
  dropcast(...words: readonly string[]): Promise<Answer> {
    return this.during(this.#command(words, new AbortController().signal));
  }

  /** As `dropcast` with `--json`, parsed. */
  async json<T>(...words: readonly string[]): Promise<T> {
    const { out, err, code } = await this.dropcast(...words, '--json');
    if (out === '') throw new Error(`dropcast ${words.join(' ')}: ${code} ${err}`);
    return JSON.parse(out) as T;
  }

  /** A person copies a video: the sample, with a remark of its own so that no two have the same content. */
  async drop(path: string, remark = path): Promise<void> {
    const video = videoOf(remark);
    appendFileSync(this.file('dropped'), `${createHash('sha256').update(video).digest('hex')}\n`);
    await this.write(path, video);
  }

  /** The same, but the copy breaks off. */
  async dropHalf(path: string): Promise<void> {
    await this.write(path, videoOf(path).subarray(0, 40_000));
  }

  /** As `drop`, of what must not be on the service in the end. */
  async dropUnwanted(path: string): Promise<void> {
    appendFileSync(this.file('deleted'), `${createHash('sha256').update(videoOf(path)).digest('hex')}\n`);
    await this.drop(path);
  }

  /** SHA-256 of each video that was dropped and must be on the service in the end, once each. */
  async dropped(): Promise<readonly string[]> {
    const deleted = new Set((await this.read('deleted')).split('\n'));
    const dropped = (await this.read('dropped')).trim().split('\n');
    return [...new Set(dropped)].filter((sha256) => !deleted.has(sha256)).toSorted();
  }

  /** An editor deletes a video on the service. */
  async deleteVideo(title: string): Promise<void> {
    const { file_sha256: sha256 } = await this.#request('DELETE', title);
    appendFileSync(this.file('deleted'), `${sha256}\n`);
  }

  /** An editor changes the title of a video on the service. */
  async renameVideo(title: string, to: string): Promise<void> {
    await this.#request('PATCH', title, { title: to });
  }

  async edit(path: string, from: string, to: string): Promise<void> {
    const text = await this.read(path);
    if (!text.includes(from)) throw new Error(`${path} does not say: ${from}`);
    await writeFile(this.file(path), text.replace(from, to));
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    const file = this.file(path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    await utimes(file, this.time.now() / 1_000, this.time.now() / 1_000);
  }

  /** All videos of the service that can be watched, in the order of their create requests. */
  async videos(): Promise<readonly Video[]> {
    const { tables } = await this.dashboard<{ tables: { videos: readonly Video[] } }>('GET', '/export');
    return tables.videos.filter(({ status }) => status === 'ready');
  }

  /** Those that came since `forget`. */
  newMessages(): readonly Message[] {
    return this.messages().slice(this.#old);
  }

  forget(): void {
    this.#old = this.messages().length;
  }

  textsTo(person: string): string {
    return this.messages()
      .filter(({ to }) => to === person)
      .map(({ title, body }) => `${title}\n${body}`)
      .join('\n');
  }

  messages(): readonly Message[] {
    const file = this.file('messages.ndjson');
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Message);
  }

  async read(path: string): Promise<string> {
    return this.during(readFile(this.file(path), 'utf8'));
  }

  /** Lets time pass until it holds, looking every half minute. @throws when it does not within these minutes */
  async until(what: string, holds: () => Promise<boolean> | boolean, minutes: number): Promise<void> {
    const last = this.time.now() + minutes * minute;
    while (!(await holds())) {
      if (this.time.now() >= last) throw new Error(`not within ${minutes} min: ${what}`);
      await this.time.pass({ moment: this.time.now() + 30_000 });
    }
  }

  /** Lets time pass slowly while a program works. @param stepMs as for `trickle` */
  async during<T>(work: Promise<T>, stepMs?: number): Promise<T> {
    let isOver = false;
    const over = (): void => void (isOver = true);
    work.then(over, over);
    await this.time.trickle(() => isOver, stepMs);
    return work;
  }

  async #request(method: string, title: string, body?: object): Promise<Video> {
    const video = (await this.videos()).find((one) => one.title === title);
    if (video === undefined) throw new Error(`no video is called ${title}`);
    const answer = await this.during(
      fetch(`${this.service.baseUrl}/videos/${video.id}`, {
        method,
        headers: { authorization: `Bearer ${await this.read('key')}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    if (!answer.ok) throw new Error(`${method} ${title}: ${answer.status} ${await answer.text()}`);
    return video;
  }

  async #command(words: readonly string[], stopping: AbortSignal): Promise<Answer> {
    const [out, err] = [new PassThrough(), new PassThrough()];
    const said = { out: '', err: '' };
    out.on('data', (text: Buffer) => {
      said.out += text;
      if (said.out.includes('Ready')) this.#ready.resolve();
    });
    err.on('data', (text: Buffer) => (said.err += text));
    const shell = {
      stdin: process.stdin,
      stdout: out,
      stderr: err,
      env: { DROPCAST_CONFIG: this.file('dropcast.yaml'), SUDO_USER: 'petra', NO_COLOR: '1' },
      cwd: this.place,
      home: this.place,
      takeOverSignals: () => undefined,
      stopping,
      hurrying: new AbortController().signal,
      onReload: () => undefined,
      aroundSuspension: () => ({ suspend: () => undefined, [Symbol.dispose]: () => undefined }),
    } as unknown as Shell;
    let code = 0;
    try {
      const program = createProgram(shell, { version: '1.0.0', samples: '' }, (exit) => (code = exit));
      await program.parseAsync(['node', 'dropcast', ...words]);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      code = error.exitCode;
      said.err += `${error.message}\n`;
    }
    return { code, ...said };
  }

  async #receiveMessages(): Promise<void> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const message = { ...(JSON.parse(Buffer.concat(parts).toString()) as Message), to: request.url?.slice(1) };
        appendFileSync(this.file('messages.ndjson'), `${JSON.stringify(message)}\n`);
        response.end();
      });
    });
    const listening = Promise.withResolvers<void>();
    server.listen(this.#ports.messages, '127.0.0.1', listening.resolve);
    await this.during(listening.promise);
  }
}

const sample = readFileSync(new URL('../media/clip.mp4', import.meta.url));

/** The remark is in a `free` box, which players skip. */
function videoOf(remark: string): Uint8Array {
  const text = Buffer.from(remark);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + text.length, 0);
  head.write('free', 4);
  return Buffer.concat([sample, head, text]);
}

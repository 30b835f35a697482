import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mostUploadBytes } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import { callDaemon } from '../../../src/daemon/control/client.ts';
import type { FileView } from '../../../src/view/files/file-view.ts';
import type { Problem } from '../../../src/config/problem.ts';
import { tooLargeCode } from '../../../src/pipeline/file/failure.ts';
import type { PlanView } from '../../../src/daemon/plan/summary.ts';
import type { FilesView } from '../../../src/view/files/files-view.ts';
import { createRandom } from '../../reliability/kill/random.ts';
import type { ProgramProcess } from '../../reliability/world/program-process.ts';
import type { World } from '../../reliability/world/world.ts';
import { startServer, type RunningServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { admin } from '../admin/admin-side.ts';
import type { Json } from '../running-sandbox.ts';
import type { SandboxService } from './sandbox-service.ts';
import { toldHeaders } from './told-headers.ts';
import type { FolderSettings } from '../../support/configuration.ts';

const clip = await readFile(new URL('../../media/clip.mp4', import.meta.url));

/** What a person wrote into a sidecar. */
export interface Words {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** What happened in a life, for the judge. */
export interface Told {
  /** By absolute path: what the video of the file has to say in the end. */
  readonly words: ReadonlyMap<string, Words>;
  /** Addresses that a link file asked for. */
  readonly imports: readonly string[];
  /** Absolute paths of files that nobody can play. */
  readonly unplayable: readonly string[];
  /** Absolute paths of files that the service had before, and their videos. */
  readonly adopted: ReadonlyMap<string, string>;
  readonly kills: number;
  /** The service refused requests, because there were too many. */
  readonly wasLimited: boolean;
  /** What the service did with the webhooks: the statuses of the answers. */
  readonly rung: readonly number[];
  /** What had failed before somebody tried it again. */
  readonly failed: readonly FileView[];
  /** How many files were held because of their size. */
  readonly tooLarge: number;
  /** What the program said in the end. */
  readonly said: Said;
}

/** The last words of the program, as JSON. */
interface Said {
  readonly files: readonly FileView[];
  readonly counts: Readonly<Record<string, number>>;
  /** Requests that others use of the key. */
  readonly others: number;
  readonly plan: Pick<PlanView, 'upload' | 'imports'>;
  readonly check: { readonly problems: readonly Pick<Problem, 'severity' | 'message'>[] };
}

const usual = {
  settle: '10ms',
  rescan: '1s',
  rules: [{ match: '**', channel: 'ch_main', title: '{name}', publish: ['feed_main'] }],
};

export const folders: readonly FolderSettings[] = [
  { ...usual },
  { path: 'inbox/moving', after_ready: { move: 'done' }, ...usual },
  { path: 'inbox/deleting', after_ready: 'delete', ...usual },
  { path: 'inbox/archive', existing: 'adopt', ...usual },
];

/**
 * What happens to a daemon in weeks, in seconds: people drop, change, rename and describe files, the service fails in every way, and the
 * daemon is killed and started again. The same seed brings the same deeds. In the end everything is calm, and the daemon has the time it needs.
 */
export async function live(world: World<SandboxService>, seed: string, page: number): Promise<Told> {
  await using source = await startServer((_, response) => void response.end(mediaOf(seed, 'imported')));
  const life = new Life(world, createRandom(seed), source);
  await life.begin(page);
  await life.pass();
  return await life.end();
}

/** A clip with something of its own in it, in a box that players skip (ISO 14496-12 section 8.1.2). */
function mediaOf(...name: readonly string[]): Buffer {
  return clipWith(createHash('sha512').update(name.join('/')).digest());
}

function clipWith(own: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + own.length);
  head.write('free', 4);
  return Buffer.concat([clip, head, own]);
}

type Deed = Exclude<keyof Life, 'begin' | 'pass' | 'end'>;

/** All of them, in an order that the seed chooses. */
const deeds: readonly Deed[] = [
  ...Array.from({ length: 5 }, () => 'drop' as const),
  ...Array.from({ length: 4 }, () => 'fail' as const),
  'dropTwin',
  'overwrite',
  'overwrite',
  'rename',
  'describe',
  'describe',
  'importLink',
  'dropUnplayable',
  'kill',
  'kill',
  'kill',
  'stop',
  'expire',
  'limit',
  'publish',
  'retry',
  'ignore',
  'reapply',
];

const operations = ['videos.create', 'uploads.put', 'videos.list', 'videos.get', 'videos.update', 'feeds.publish'];

/** The headers of a whole file. */
const tus = {
  'tus-resumable': '1.0.0',
  'upload-offset': '0',
  'content-type': 'application/offset+octet-stream',
};

/** What goes wrong with them. */
const faults = [
  { kind: 'status', status: 503 },
  { kind: 'status', status: 500 },
  { kind: 'html_502' },
  { kind: 'answer_lost' },
  { kind: 'truncated_json' },
  { kind: 'reset', of: 'answer' },
  { kind: 'rate_limited', seconds: 1 },
  { kind: 'delay', ms: 300 },
];

class Life {
  readonly #world: World<SandboxService>;
  readonly #random: () => number;
  readonly #source: RunningServer;
  readonly #words = new Map<string, Words>();
  /** Larger than a service with a limit takes. */
  readonly #large: readonly string[];
  readonly #imports: string[] = [];
  readonly #unplayable: string[] = [];
  readonly #adopted = new Map<string, string>();
  /** Absolute paths of files that nobody has touched since. */
  readonly #plain: string[] = [];
  #daemon: ProgramProcess | undefined;
  #webhook = '';
  #number = 0;
  #kills = 0;
  #wasLimited = false;

  constructor(world: World<SandboxService>, random: () => number, source: RunningServer) {
    this.#world = world;
    this.#random = random;
    this.#source = source;
    this.#large = ['large-1.mp4', 'large-2.mp4'].map((name) => world.at(name));
  }

  async begin(page: number): Promise<void> {
    const { sandbox } = this.#world.service;
    for (const folder of ['moving', 'deleting', 'archive']) await mkdir(this.#world.at(folder));
    await this.#bringArchive();
    for (const path of this.#large) await this.#world.people.drop(path, clipWith(randomBytes(mostUploadBytes)));
    // More than a page of the list has, in every other life.
    const { switches } = (await admin({ sandbox }, 'GET /profile')).body.data;
    const others = this.#random() < 0.5 && switches.daily_videos === 'any' ? 110 : 0;
    for (let n = 0; n < others; n += 1) await this.#world.service.createForeign(`Other ${n}`);
    const { body } = await admin({ sandbox }, 'POST /webhooks', { url: `http://127.0.0.1:${page}/webhooks` });
    this.#webhook = body.data.id;
    await writeFile(this.#world.scratch.file('webhook-secret'), body.data.secret, { mode: 0o600 });
    await this.#start();
  }

  async pass(): Promise<void> {
    // Without a file there is nothing to change.
    await this.drop();
    const order = deeds.map((deed) => ({ deed, at: this.#random() })).toSorted((one, other) => one.at - other.at);
    for (const { deed } of order) {
      await this[deed]();
      await sleep(this.#random() * 100);
    }
  }

  async end(): Promise<Told> {
    const { service } = this.#world;
    const { sandbox } = service;
    await service.plan([]);
    await admin({ sandbox }, 'PUT /rate-limit', { requests_per_hour: 1_000_000 });
    if (this.#daemon?.isRunning() !== true) await this.#start();
    // Where uploads are redirected or a quota is spent, files have waited so far.
    await admin({ sandbox }, 'POST /profile/switches', { upload_redirect: 'none', daily_videos: 'any' });
    await this.#call('POST', '/retry', { names: [], selection: { states: ['retrying'] }, by: 'editor' });
    const ended = await this.#ended('all have ended');
    await this.#call('POST', '/retry', { names: [], selection: { states: ['failed'] }, by: 'editor' });
    await this.#ended('all have ended again');
    await this.#liftLimit();
    await this.#world.command(['adopt', '--confirm']);
    await this.#ended('the archive is adopted');
    await this.#changeTheLast();
    const deliveries = (await admin({ sandbox }, `GET /webhooks/${this.#webhook}/deliveries?limit=100`)).body.data;
    const check = await this.#json(['check', '--online', '--json']);
    const status = await this.#json(['status', '--json']);
    const listed = await this.#json(['ls', '--json', '--limit', '1000']);
    const plan = await this.#json(['plan', '--json']);
    if (this.#daemon !== undefined) await this.#world.stop(this.#daemon);
    await this.#world.once();
    await service.settle();
    return {
      words: this.#words,
      imports: this.#imports,
      unplayable: this.#unplayable,
      adopted: this.#adopted,
      kills: this.#kills,
      wasLimited: this.#wasLimited,
      rung: deliveries.map(({ status: answered }: { readonly status: number | null }) => answered ?? 0),
      failed: ended.filter(({ state }) => state === 'failed'),
      tooLarge: ended.filter(({ code }) => code === tooLargeCode).length,
      said: { files: listed.files, counts: status.counts, others: status.requests.others, plan, check },
    };
  }

  async drop(): Promise<void> {
    const folder = this.#pick(['', '', 'moving', 'deleting']);
    const path = this.#world.at(join(folder, `${this.#next()}.mp4`));
    await this.#world.people.drop(path, mediaOf(path, randomBytes(8).toString('hex')));
    if (folder === '') this.#plain.push(path);
  }

  async dropTwin(): Promise<void> {
    const path = this.#anyPlain();
    if (path === undefined) return;
    const twin = this.#world.at(`twin-${this.#next()}.mp4`);
    await this.#world.people.drop(twin, await readFile(path), { titles: [...this.#titlesOf(path), nameOf(twin)] });
  }

  async overwrite(): Promise<void> {
    const path = this.#anyPlain();
    if (path === undefined) return;
    this.#forget(path);
    await this.#world.people.overwrite(path, mediaOf(path, String(this.#next())), { isTimeKept: false });
  }

  async rename(): Promise<void> {
    const path = this.#anyPlain();
    if (path === undefined) return;
    this.#forget(path);
    const to = this.#world.at(`renamed-${this.#next()}.mp4`);
    const bytes = await readFile(path);
    await rename(path, to);
    this.#world.people.moved(path, to, bytes, [...this.#titlesOf(path), nameOf(to)]);
  }

  /** A sidecar that comes after its file: mostly when the service has its video already. */
  async describe(): Promise<void> {
    const path = this.#anyPlain();
    if (path === undefined) return;
    this.#forget(path);
    if (this.#random() < 0.8) await this.#soon(async () => (await this.#world.file(basename(path)))?.state === 'done');
    await this.#writeSidecar(path);
  }

  async importLink(): Promise<void> {
    const address = `${this.#source.origin}/${this.#next()}.mp4`;
    this.#imports.push(address);
    await writeFile(this.#world.at(`link-${this.#next()}.url`), `[InternetShortcut]\r\nURL=${address}\r\n`);
  }

  async dropUnplayable(): Promise<void> {
    const path = this.#world.at(`unplayable-${this.#next()}.mpg`);
    const bytes = randomBytes(500);
    this.#unplayable.push(path);
    this.#world.service.unplayable.add(createHash('sha256').update(bytes).digest('hex'));
    await this.#world.people.drop(path, bytes);
  }

  async kill(): Promise<void> {
    if (this.#daemon === undefined) return;
    this.#kills += 1;
    await this.#world.stop(this.#daemon, 'SIGKILL');
    await this.#start();
  }

  async stop(): Promise<void> {
    if (this.#daemon === undefined) return;
    await this.#world.stop(this.#daemon);
    await this.#start();
  }

  /** A request goes wrong, once or twice. */
  async fail(): Promise<void> {
    const operation = this.#pick(operations);
    const times = 1 + Math.floor(this.#random() * 2);
    const { service } = this.#world;
    await service.plan([{ ...this.#pick(faults), operation, times }]);
    await this.drop();
    if (operation === 'videos.update') await this.describe();
    const before = faulty(service);
    await this.#soon(() => faulty(service) > before);
  }

  async expire(): Promise<void> {
    this.#world.service.expireNext();
    await this.drop();
  }

  /** Nearly an hour after all that was asked so far, the key has used up its hour: for a second. */
  async limit(): Promise<void> {
    const { service } = this.#world;
    const { sandbox, host } = service;
    this.#wasLimited = true;
    const { rate_limit_headers: headers } = (await admin({ sandbox }, 'GET /profile')).body.data.switches;
    // A daemon that reads in a header that no request is left waits until the reset: here, for an hour. Where limits are
    // reported, this life therefore sets one that the daemon does not use up.
    const requests = headers === 'none' ? 50 : 10_000;
    const ask = () => fetch(`${host.baseUrl}/channels`, { headers: { authorization: `Bearer ${host.key}` } });
    if (headers === 'none') await Promise.all(Array.from({ length: requests }, ask));
    service.advance(3_598_500);
    await admin({ sandbox }, 'PUT /rate-limit', { requests_per_hour: requests });
    await this.drop();
    await sleep(800);
    await admin({ sandbox }, 'PUT /rate-limit', { requests_per_hour: 1_000_000 });
  }

  async publish(): Promise<void> {
    await this.#call('POST', '/publish', { feeds: ['feed_main'], by: 'editor' });
  }

  async retry(): Promise<void> {
    await this.#call('POST', '/retry', {
      names: [],
      selection: { states: ['failed', 'held', 'retrying'] },
      by: 'editor',
    });
  }

  async ignore(): Promise<void> {
    const path = this.#unplayable.at(-1);
    if (path === undefined) return;
    // Nobody is told of it any more, if it had failed already.
    this.#world.people.note(path, await readFile(path), { isForeign: true });
    await this.#call('POST', '/ignore', { names: [path], by: 'editor' });
  }

  async reapply(): Promise<void> {
    await this.#call('POST', '/reapply', { names: [], selection: { states: ['done'] }, by: 'editor' });
  }

  async #bringArchive(): Promise<void> {
    const { service } = this.#world;
    const path = this.#world.at('archive/long ago.mp4');
    const bytes = mediaOf(path);
    const created = await service.createForeign(nameOf(path));
    const { id, upload_url: url } = created;
    const body = new Uint8Array(bytes);
    const { status } = await fetch(url, { method: 'PUT', body, headers: toldHeaders(created) ?? {} });
    // The host speaks tus.
    if (status === 405)
      await fetch(url, { method: 'PATCH', body, headers: { ...tus, 'upload-length': `${body.length}` } });
    this.#adopted.set(path, id);
    await this.#world.people.drop(path, bytes);
  }

  async #writeSidecar(path: string): Promise<void> {
    const number = this.#next();
    const words = { title: `Title ${number}`, description: `All of ${number}`, tags: ['late', `n${number}`] };
    this.#words.set(path, words);
    this.#world.people.note(path, await readFile(path), { titles: [words.title] });
    await writeFile(path.replace(/mp4$/, 'json'), JSON.stringify(words));
  }

  /** The service takes files of any size again: a retry of one file shows it, and the other follows. */
  async #liftLimit(): Promise<void> {
    await admin({ sandbox: this.#world.service.sandbox }, 'POST /profile/switches', { max_upload_size: 'none' });
    await this.#call('POST', '/retry', { names: this.#large.slice(0, 1), by: 'editor' });
    for (const path of this.#large) await this.#world.reaches(basename(path), 'done');
  }

  /** A change that no other video has the feed published for. */
  async #changeTheLast(): Promise<void> {
    const { sandbox } = this.#world.service;
    const path = this.#world.at('last.mp4');
    await this.#world.people.drop(path, mediaOf(path));
    await this.#world.reaches('last.mp4', 'done');
    const publishes = (): number =>
      sandbox.requests().filter(({ operation, status }) => operation === 'feeds.publish' && status > 0).length;
    const before = publishes();
    await this.#writeSidecar(path);
    await this.#soon(() => publishes() > before, 10_000);
  }

  async #start(): Promise<void> {
    this.#daemon = await this.#world.daemon();
  }

  /** A command to the daemon. What it answers to nonsense is its own affair: some of these come at a bad moment. */
  async #call(method: 'POST', path: string, body: object): Promise<void> {
    await callDaemon(this.#socket, method, path, body).catch(() => undefined);
  }

  get #socket(): string {
    return this.#world.scratch.file('state/dropcast.sock');
  }

  /** Waits a little for something that may never come. */
  async #soon(look: () => boolean | Promise<boolean>, withinMs = 1_500): Promise<void> {
    await until('it comes', look, { withinMs }).catch(() => undefined);
  }

  async #ended(what: string): Promise<readonly FileView[]> {
    let last: FilesView | undefined;
    const look = async (): Promise<boolean> => {
      last = await callDaemon<FilesView>(this.#socket, 'GET', '/files?limit=1000');
      return last.settling.length === 0 && last.files.every(({ state }) => over.has(state));
    };
    const seen = (): unknown =>
      last?.files.filter(({ state }) => !over.has(state)).map(({ path, state, why }) => ({ path, state, why }));
    await until(what, look, { withinMs: this.#world.patienceMs, seen });
    return last?.files ?? [];
  }

  async #json(args: readonly string[]): Promise<Json> {
    const { stderr } = await this.#world.command(args);
    return JSON.parse(stderr.split('\n').find((line) => line.startsWith('{"v":1')) ?? 'null');
  }

  #titlesOf(path: string): readonly string[] {
    return this.#world.people.all.filter((one) => one.path === path).flatMap(({ titles }) => titles);
  }

  #anyPlain(): string | undefined {
    return this.#plain[Math.floor(this.#random() * this.#plain.length)];
  }

  #forget(path: string): void {
    this.#plain.splice(this.#plain.indexOf(path), 1);
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }

  #next(): number {
    this.#number += 1;
    return this.#number;
  }
}

const over: ReadonlySet<string> = new Set(['done', 'failed', 'held', 'skipped', 'vanished', 'superseded']);

/** Requests that a fault has hit. */
function faulty({ sandbox }: SandboxService): number {
  return sandbox.requests().filter(({ fault }) => fault !== null).length;
}

function nameOf(path: string): string {
  return (
    path
      .split('/')
      .at(-1)
      ?.replace(/\.\w+$/, '') ?? ''
  );
}

import { sha256Of } from './machine/disk.ts';
import type { Machine } from './machine/machine.ts';
import type { Random } from './machine/random.ts';
import type { JournalEntry, ServiceRecord } from './judge.ts';
import { KeptUpload } from './kept-uploads.ts';
import type { Place, UploadProtocol } from './kept-uploads.ts';

/** How this service fills what the specification leaves open. */
export interface Manners {
  /** A second body for a video that has one: 409, or taken as if it were the first. */
  readonly takesSecondBody: boolean;
  /** A status stays `pending` for so long after the bytes came, in milliseconds. */
  readonly lagMs: number;
  readonly processingMs: number;
  /** An upload address works for so long, in milliseconds. */
  readonly addressMs: number;
  readonly isNewestFirst: boolean;
  readonly wrapsData: boolean;
  /** Share of the videos that it cannot process. */
  readonly failing: number;
  /** `put` by default. */
  readonly protocol?: UploadProtocol;
  /** Share of the questions to which such a host answers too much. None by default. */
  readonly claiming?: number;
}

export interface Reply {
  readonly status: number;
  readonly json?: unknown;
}

type Video = { -readonly [Key in keyof ServiceRecord]: ServiceRecord[Key] } & {
  readonly address: string;
  bytesAt: number;
  readonly fails: boolean;
  readonly kept: KeptUpload;
};

/** The hosting service, in memory. */
export class Service {
  readonly journal: JournalEntry[] = [];
  readonly #machine: Machine;
  readonly #manners: Manners;
  readonly #random: Random;
  readonly #videos = new Map<string, Video>();
  /** Deleted ones, for the judge. */
  readonly #former: Video[] = [];
  #ids = 0;

  constructor(machine: Machine, random: Random, manners: Manners) {
    this.#machine = machine;
    this.#random = random;
    this.#manners = manners;
  }

  records(): readonly ServiceRecord[] {
    return [...this.#videos.values(), ...this.#former].map((video) => ({ ...video, status: this.#statusOf(video) }));
  }

  note(entry: Omit<JournalEntry, 'at'>): void {
    const by = this.#machine.process?.name ?? '';
    this.journal.push({ ...entry, at: this.#machine.time.elapsed, ...(by !== '' && { by }) });
    this.#machine.log('service', `${entry.what} ${entry.video ?? ''} ${entry.said ?? ''}`);
  }

  create(fields: { readonly title?: string; readonly source_url?: string }, token: string): Reply {
    const id = `vid_${(this.#ids += 1)}`;
    const session = this.protocol === 'content-range' ? '&uploadType=resumable&upload_id=s' : '';
    const address = `http://127.0.0.1:8081/upload/${id}?sig=${this.#ids}${session}`;
    const video: Video = {
      id,
      token,
      title: fields.title ?? '',
      status: 'pending',
      sha256: null,
      bodies: 0,
      createdAt: this.#machine.time.elapsed,
      readyAt: null,
      deletedAt: null,
      address,
      bytesAt: Infinity,
      fails: this.#random.chance(this.#manners.failing),
      kept: new KeptUpload(),
    };
    this.#videos.set(id, video);
    this.note({ what: 'create', video: id, said: token });
    return { status: 201, json: this.#wrap({ id, upload_url: address, status: 'pending' }) };
  }

  get(id: string): Reply {
    const video = this.#videos.get(id);
    const said = video === undefined ? '404' : this.#shownStatus(video);
    this.note({ what: 'get', video: id, said });
    if (video === undefined) return notFound;
    return { status: 200, json: this.#wrap(this.#shown(video)) };
  }

  list(page: number, perPage: number): Reply {
    this.note({ what: 'list' });
    const all = [...this.#videos.values()].map((video) => this.#shown(video));
    if (this.#manners.isNewestFirst) all.reverse();
    const data = all.slice((page - 1) * perPage, page * perPage);
    return { status: 200, json: { data, meta: { page, per_page: perPage, total: all.length } } };
  }

  delete(id: string): Reply {
    const video = this.#videos.get(id);
    this.note({ what: 'delete', video: id, said: video === undefined ? '404' : this.#statusOf(video) });
    if (video === undefined) return notFound;
    video.status = this.#statusOf(video);
    video.deletedAt = this.#machine.time.elapsed;
    this.#videos.delete(id);
    this.#former.push(video);
    return { status: 204 };
  }

  amend(id: string, fields: { readonly title?: string }): Reply {
    const video = this.#videos.get(id);
    this.note({ what: 'amend', video: id });
    if (video === undefined) return notFound;
    if (fields.title !== undefined) video.title = fields.title;
    return { status: 200, json: this.#wrap(this.#shown(video)) };
  }

  publish(feed: string): Reply {
    this.note({ what: 'publish', video: feed });
    return { status: 200, json: { feed_id: feed, status: 'published', video_count: 1 } };
  }

  /** Whether the address would take a body now; else the answer. */
  refusesBody(url: URL): Reply | null {
    const video = this.#at(url);
    if (video === undefined) return notFound;
    if (this.#machine.time.elapsed > video.createdAt + this.#manners.addressMs) {
      this.#machine.reach(video.sha256 === null ? 'address dead' : 'address dead after applied PUT');
      return { status: 410 };
    }
    return video.sha256 !== null && !this.#manners.takesSecondBody ? { status: 409 } : null;
  }

  /** The whole body has arrived. */
  take(url: URL, bytes: Uint8Array): Reply {
    const refusal = this.refusesBody(url);
    const video = this.#at(url);
    if (refusal !== null || video === undefined) {
      this.note({ what: 'body refused', video: video?.id ?? null, said: String(refusal?.status) });
      return refusal ?? notFound;
    }
    this.#took(video, bytes);
    return { status: 200 };
  }

  #took(video: Video, bytes: Uint8Array): void {
    video.sha256 = sha256Of(bytes);
    video.bodies += 1;
    video.bytesAt = Math.min(video.bytesAt, this.#machine.time.elapsed);
    this.note({ what: 'body taken', video: video.id, said: video.sha256 });
  }

  get protocol(): UploadProtocol {
    return this.#manners.protocol ?? 'put';
  }

  /** The bytes that a host keeps for an address, or its refusal to accept more. */
  keptAt(url: URL): KeptUpload | Reply {
    const video = this.#at(url);
    // A host that has the whole file says so, and takes it no second time.
    const refusal = video?.kept.isWhole === true ? null : this.refusesBody(url);
    return refusal ?? video?.kept ?? notFound;
  }

  /** Now and then a host claims all but the last byte, and fills up with zeros what it does not have. */
  perhapsClaim(url: URL): void {
    const { kept } = this.#at(url) ?? {};
    if (kept === undefined || kept.total === null || kept.bytes.length >= kept.total - 1) return;
    if (!this.#random.chance(this.#manners.claiming ?? 0)) return;
    this.#machine.reach('host claims too much');
    kept.bytes = Buffer.concat([kept.bytes, new Uint8Array(kept.total - 1 - kept.bytes.length)]);
  }

  /** A request with bytes begins. @returns its turn */
  begin(url: URL, { from, total }: Place): number {
    const video = this.#at(url);
    if (video === undefined) return 0;
    const { kept } = video;
    if (!kept.isAnswered) this.note({ what: 'put begins', video: video.id });
    if (!kept.isAnswered && from !== null && from > 0) this.#machine.reach('upload continued');
    kept.isAnswered = false;
    kept.total ??= total;
    return (kept.turn += 1);
  }

  /** Bytes arrive. The file is taken when it is whole. */
  keep(url: URL, part: Uint8Array, from: number, turn: number): void {
    const video = this.#at(url);
    if (video === undefined || video.kept.isWhole) return;
    video.kept.add(part, from, turn);
    if (video.kept.isWhole) this.#took(video, video.kept.bytes);
  }

  #at(url: URL): Video | undefined {
    return this.#videos.get(url.pathname.split('/').at(-1) ?? '');
  }

  #statusOf({ sha256, bytesAt, fails }: Video): ServiceRecord['status'] {
    if (sha256 === null) return 'pending';
    const age = this.#machine.time.elapsed - bytesAt;
    if (age < this.#manners.processingMs) return 'processing';
    return fails ? 'failed' : 'ready';
  }

  /** What it says may be older than what is. */
  #shownStatus(video: Video): ServiceRecord['status'] {
    const isLagging = this.#machine.time.elapsed - video.bytesAt < this.#manners.lagMs;
    if (isLagging && video.sha256 !== null) this.#machine.reach('status lags');
    return isLagging ? 'pending' : this.#statusOf(video);
  }

  #shown(video: Video): object {
    const status = this.#shownStatus(video);
    if (status === 'ready') video.readyAt ??= this.#machine.time.elapsed;
    return { id: video.id, title: video.title, status, created_at: new Date(video.createdAt + 1.77e12).toISOString() };
  }

  #wrap(value: object): object {
    return this.#manners.wrapsData ? { data: value } : value;
  }
}

const notFound: Reply = { status: 404, json: { error: { code: 'not_found', message: 'no such video' } } };

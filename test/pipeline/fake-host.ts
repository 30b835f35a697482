import type { Failure } from '../../src/pipeline/file/failure.ts';
import type { Answer, RemoteVideo, VideoHost, VideoLibrary } from '../../src/pipeline/file/ports.ts';
import { failure } from './some-facts.ts';

/** A service that processes in no time, and notes what it is asked. */
export class FakeHost {
  readonly videos = new Map<string, { title: string; status: string }>();
  readonly asked: string[] = [];
  /** Set by a test: what requests of this kind are answered with; null is the usual answer. */
  readonly failing = new Map<string, Failure>();
  /** What the account has. */
  readonly names = { channel: ['ch_main'], feed: ['feed_news'] };
  /** Uploads wait for it, when it is set. */
  uploadGate: Promise<void> | null = null;
  /** Set by a test: what happens to the videos before somebody looks at them. */
  beforeLook: () => void = () => undefined;
  sending = 0;
  #created = 0;
  mostSending = 0;

  readonly host: VideoHost = {
    create: async (facts) => {
      const refused = this.failing.get(`create in ${facts.plan?.channel ?? ''}`);
      if (refused !== undefined) return { ok: false, failure: refused };
      return this.#answer('create', () => {
        const videoId = `vid_${(this.#created = Math.max(this.#created, this.videos.size) + 1)}`;
        this.videos.set(videoId, { title: facts.plan?.title ?? '', status: 'pending' });
        return { videoId, uploadUrl: `u:${videoId}`, status: 'pending' };
      });
    },
    status: (videoId) => this.#video('status', videoId, ({ status }) => status),
    send: async (facts, hooks) => {
      this.sending += 1;
      this.mostSending = Math.max(this.mostSending, this.sending);
      hooks.onProgress(1);
      const cut = new Promise<void>((resolve) =>
        hooks.signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      await Promise.race([this.uploadGate ?? Promise.resolve(), cut]);
      this.sending -= 1;
      if (hooks.signal.aborted) return { ok: false, failure: failure('throttled', { code: 'aborted' }) };
      await hooks.beforeLastPart(facts.id);
      return this.#video('send', facts.videoId ?? '', (video) => {
        video.status = 'processing';
        return { sha256: facts.id };
      });
    },
    remove: (videoId) =>
      this.#answer('remove', () => {
        this.videos.delete(videoId);
        return null;
      }),
    amend: () => this.#answer('amend', () => null),
  };

  readonly library: VideoLibrary = {
    list: () =>
      this.#answer('list', () => {
        this.beforeLook();
        const videos = [...this.videos].map(([id, video]) => this.#processed(id, video));
        return { videos, perPage: 100, total: videos.length };
      }),
    get: (videoId) => {
      this.beforeLook();
      return this.#video('get', videoId, (video) => this.#processed(videoId, video));
    },
    publish: (feed) => this.#answer(`publish ${feed}`, () => null),
    probe: () => this.#answer('probe', () => null),
    names: (kind) => this.#answer(`${kind}s`, () => this.names[kind]),
  };

  count(request: string): number {
    return this.asked.filter((name) => name === request).length;
  }

  #processed(id: string, video: { title: string; status: string }): RemoteVideo {
    if (video.status === 'processing') video.status = 'ready';
    return { id, title: video.title, status: video.status };
  }

  #video<T>(name: string, id: string, answer: (video: { title: string; status: string }) => T): Promise<Answer<T>> {
    const video = this.videos.get(id);
    if (video !== undefined) return this.#answer(name, () => answer(video));
    this.asked.push(name);
    return Promise.resolve({ ok: false, failure: failure('gone') });
  }

  async #answer<T>(name: string, answer: () => T): Promise<Answer<T>> {
    this.asked.push(name);
    const why = this.failing.get(name) ?? this.failing.get('all');
    return why === undefined ? { ok: true, value: answer() } : { ok: false, failure: why };
  }
}

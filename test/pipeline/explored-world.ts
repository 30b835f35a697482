import { backoffMs } from '../../src/pipeline/file/backoff.ts';
import { stateOf, unbound } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { StaleRowError } from '../../src/pipeline/file/ports.ts';
import type { Answer, LocalFiles, SendHooks } from '../../src/pipeline/file/ports.ts';
import { createRunner } from '../../src/pipeline/steps/runner.ts';
import type { Runner } from '../../src/pipeline/steps/runner.ts';
import { createSweep } from '../../src/pipeline/rounds/sweep.ts';
import { createRows } from '../../src/pipeline/file/rows.ts';
import { createRecord } from '../../src/pipeline/steps/create.ts';
import type { CreateWorld } from '../../src/pipeline/steps/create.ts';
import { uploadFile } from '../../src/pipeline/steps/upload.ts';
import { silentLogger } from './silent-logger.ts';
import { failure, someFacts, somePlan } from './some-facts.ts';

/** What can become of one call. The first of each list is 'ok'; every other one is a fault. */
type Fate =
  | 'ok'
  /** Done, then the process dies. A crash before a call is the crash after the one before it. */
  | 'crash'
  /** Done, but the answer does not come. */
  | 'lost'
  /** Not done, and no answer comes. */
  | 'dropped'
  /** Not done, and that is certain. */
  | 'refused'
  /** No answer comes; it is done some calls later. */
  | 'late'
  | 'late, crash'
  /** Upload: cut before the last part left. */
  | 'cut'
  | 'address dead'
  /** Done, and while the answer is on its way the daemon is asked to stop at once. */
  | 'stop'
  | 'user deletes';

export type Choose = (fates: readonly Fate[]) => Fate;

/** Bugs that the judge must see: what the product does right, undone around it. */
export type Plant =
  | 'dying is not durable'
  | 'never asks'
  | 'binds after the upload'
  | 'replaces without deleting'
  | 'one token'
  | 'forgets tokens'
  | 'deletes without the file';

export interface Setting {
  readonly isImport?: boolean;
  /** The user may delete the local file at any moment. */
  readonly mayDelete?: boolean;
  /** After so many calls a late request is carried out. */
  readonly lateness?: number;
  /** So many questions the service answers with `pending` after it has the bytes. */
  readonly lag?: number;
  readonly plant?: Plant;
}

interface VideoRecord {
  readonly id: string;
  readonly token: string;
  status: 'pending' | 'processing' | 'ready';
  asked: number;
}

/** What the judge finds. */
export type Verdict =
  | 'duplicate'
  | 'lost'
  | 'stuck'
  | 'ready video deleted'
  | 'only copy deleted'
  | 'bytes before bound'
  | 'token used twice'
  | 'record unaccounted for'
  | 'upload repeated unasked';

const mostSteps = 200;

/** One file, one service and one disk, with a daemon that may die at every call. */
export class ExploredWorld {
  readonly #choose: Choose;
  readonly #setting: Setting;
  readonly #records = new Map<string, VideoRecord>();
  readonly #tokens = new Set<string>();
  readonly #later: { readonly at: number; readonly apply: () => unknown }[] = [];
  readonly #found = new Set<Verdict>();
  #row: Facts;
  #ticks = 0;
  #now = 1_000_000;
  #ids = 0;
  #isFileThere = true;

  constructor(choose: Choose, setting: Setting) {
    this.#choose = choose;
    this.#setting = setting;
    this.#row = someFacts({
      plan: { ...somePlan, publish: [] },
      ...(setting.isImport === true && { sourceUrl: 'https://example.com/clip.mp4' }),
    });
  }

  /** Lives through boots until the file has ended, then judges. */
  async play(): Promise<ReadonlySet<Verdict>> {
    let steps = 0;
    while (steps < mostSteps && this.#row.end === null) steps = await this.#boot(steps);
    for (const { apply } of this.#later) apply();
    this.#judge();
    return this.#found;
  }

  get end(): string {
    return `${stateOf(this.#row)}: ${this.#row.why ?? ''}`;
  }

  async #boot(from: number): Promise<number> {
    const died = Promise.withResolvers<'died'>();
    const daemon = this.#daemon(() => died.resolve('died'));
    let steps = from;
    for (; steps < mostSteps && this.#row.end === null; steps += 1) {
      if (this.#setting.mayDelete === true && this.#isFileThere && this.#choose(['ok', 'user deletes']) !== 'ok') {
        this.#isFileThere = false;
        if ((await Promise.race([daemon.runner.apply('f_1', { type: 'FILE_GONE' }), died.promise])) === 'died') break;
      }
      if ((await Promise.race([this.#step(daemon), died.promise])) === 'died' || daemon.isStopped()) break;
    }
    return steps + 1;
  }

  async #step(daemon: Daemon): Promise<void> {
    const facts = (await daemon.load()) ?? this.#row;
    const state = stateOf(facts);
    if (state === 'queued' || state === 'awaiting upload') {
      await daemon.runner.run('f_1');
      return;
    }
    if (state === 'retrying') {
      this.#now = Math.max(this.#now, facts.notBefore ?? 0);
      await daemon.runner.apply('f_1', { type: 'GO' });
    }
    this.#now += 20_000;
    if (state === 'processing') await daemon.sweep();
  }

  /** One process: the real runner and the real sweep over ports that may fail, and fall silent when it has died. */
  #daemon(die: () => void): Daemon {
    let isDead = false;
    let isStopped = false;
    /** What this process believes; durable but for planted bugs. */
    let own = this.#row;
    const silence = new Promise<never>(() => undefined);
    const call = async <T>(fates: readonly Fate[], apply: () => T): Promise<{ fate: Fate; value: T | null }> => {
      if (isDead) return silence;
      this.#tick();
      const fate = this.#choose(isStopped ? ['ok'] : fates);
      const value = isDone(fate) ? apply() : null;
      if (fate === 'late' || fate === 'late, crash') this.#later.push({ at: this.#ticks + this.#lateness, apply });
      if (fate === 'crash' || fate === 'late, crash') {
        isDead = true;
        die();
        return silence;
      }
      if (fate === 'stop') {
        isStopped = true;
        void runner.abort();
      }
      return { fate, value };
    };

    const save = async (facts: Facts): Promise<Facts> => {
      if (isDead) return silence;
      if (facts.rev !== own.rev) throw new StaleRowError(`expected ${facts.rev}, found ${own.rev}`);
      const saved = { ...facts, rev: facts.rev + 1 };
      await call(['ok', 'crash'], () => {
        own = saved;
        this.#row = this.#durable(saved);
      });
      return saved;
    };
    const load = (): Promise<Facts> => (isDead ? silence : Promise.resolve(own));
    const look = async (videoId: string): Promise<Answer<string>> => {
      const { fate, value } = await call(['ok', 'dropped'], () => this.#status(videoId));
      return fate === 'ok' && value !== null ? value : fail(inDoubt);
    };

    const status = (videoId: string): Promise<Answer<string>> => {
      if (this.#setting.plant === 'never asks' && !own.dying) return Promise.resolve({ ok: true, value: 'pending' });
      if (this.#setting.plant === 'replaces without deleting' && own.dying)
        return Promise.resolve(fail(failure('gone')));
      return look(videoId);
    };

    const clock = { now: () => this.#now, elapsed: () => this.#now };
    const local: LocalFiles = {
      check: async () => {
        const isBlind = this.#setting.plant === 'deletes without the file' && own.dying;
        return this.#isFileThere || isBlind ? null : failure('vanished');
      },
      hash: () => Promise.resolve({ ok: true, value: 'aa' }),
      dispose: () => Promise.resolve({ ok: true, value: null }),
    };
    const world: CreateWorld = {
      store: { twins: () => Promise.resolve([]) },
      passing: new Set(),
      host: {
        create: async (_facts, token, signal) => {
          const fates: readonly Fate[] = ['ok', 'crash', 'lost', 'dropped', 'refused', 'late', 'late, crash', 'stop'];
          const { fate, value } = await call(fates, () => this.#create(token));
          if (signal.aborted) return fail(aborted);
          if (value !== null && fate !== 'lost') return { ok: true, value };
          return fail(fate === 'refused' ? failure('offline') : inDoubt);
        },
        status,
        send: async (facts, hooks) => this.#send(facts, hooks, call),
        remove: async (videoId, signal) => {
          if (this.#setting.plant === 'replaces without deleting') return { ok: true, value: null };
          const fates: readonly Fate[] = ['ok', 'crash', 'lost', 'dropped', 'late', 'late, crash', 'stop'];
          const { fate } = await call(fates, () => this.#remove(videoId));
          if (signal.aborted) return fail(aborted);
          return fate === 'ok' || fate === 'stop' ? { ok: true, value: null } : fail(inDoubt);
        },
        amend: () => Promise.resolve({ ok: true, value: null }),
      },
      local,
      budget: { take: (_lane, signal) => Promise.resolve(!signal.aborted) },
      receipts: { append: () => Promise.resolve() },
      clock,
      newToken: () => (this.#setting.plant === 'one token' ? 'token' : `token ${(this.#ids += 1)}`),
      unconfirmed: { mayRisk: async () => true, waitUntil: () => null },
    };
    const events = { emit: () => undefined };
    const claim = async () => ({ facts: await load(), renew: async () => true, release: async () => undefined });
    const rows = createRows({
      store: { save, claim, insert: () => Promise.reject(new Error('nothing comes in')) },
      events,
    });
    const runner = createRunner({
      rows,
      store: { load },
      events,
      clock,
      steps: {
        creating: (row, signal) => createRecord(row, signal, world),
        uploading: (row, signal) => uploadFile(row, signal, { ...world, onProgress: () => undefined }),
      },
      policy: {
        attempts: 12,
        retryAt: (attempts, why) =>
          this.#now + backoffMs(attempts, why, { attempts: 12, firstMs: 10, maxMs: 100 }, 0.5),
        now: clock.now,
      },
      logger: silentLogger,
      ended: () => undefined,
      stuck: (_id, error) => {
        throw error;
      },
    });
    const sweep = createSweep({
      ...world,
      runner,
      logger: silentLogger,
      store: { due: () => Promise.resolve([own]) },
      library: {
        list: () => Promise.reject(new Error('one file needs no list')),
        get: async (id) => {
          const answer = await look(id);
          return answer.ok ? { ok: true, value: { id, status: answer.value } } : answer;
        },
      },
      settings: () => ({ poll: { intervalMs: 10, giveUpAfterMs: 86_400_000 }, requestsPerHour: 1_000_000 }),
      failed: async (why) => why,
    });
    const live = new AbortController().signal;
    return { runner, load, sweep: () => sweep.run(live), isStopped: () => isStopped };
  }

  async #send(facts: Facts, hooks: SendHooks, call: Call): Promise<Answer<{ sha256: string }>> {
    if (this.#row.videoId !== facts.videoId || this.#row.uploadUrl !== facts.uploadUrl)
      this.#found.add('bytes before bound');
    // The last part is held back until the hash is durable (design 5.6), so a cut before it is a body that never arrives.
    const { fate: first } = await call(['ok', 'cut', 'address dead', 'stop'], () => undefined);
    if (hooks.signal.aborted) return fail(aborted);
    if (first === 'cut') return fail(inDoubt);
    if (first === 'address dead' || !this.#records.has(facts.videoId ?? '')) return fail(failure('address dead'));
    await hooks.beforeLastPart('aa');
    const { fate, value } = await call(['ok', 'crash', 'lost', 'dropped', 'late', 'late, crash', 'stop'], () =>
      this.#receive(facts),
    );
    if (hooks.signal.aborted) return fail(aborted);
    return fate === 'ok' && value !== null ? value : fail(inDoubt);
  }

  get #lateness(): number {
    return this.#setting.lateness ?? 4;
  }

  #tick(): void {
    this.#ticks += 1;
    const due = this.#later.filter(({ at }) => at <= this.#ticks);
    this.#later.splice(0, this.#later.length, ...this.#later.filter(({ at }) => at > this.#ticks));
    for (const { apply } of due) apply();
  }

  /** What of a row is on disk. */
  #durable(facts: Facts): Facts {
    switch (this.#setting.plant) {
      case 'dying is not durable':
        return { ...facts, dying: false, addressDeadAt: null };
      case 'binds after the upload':
        return facts.uploadedAt === null ? { ...facts, ...unbound, intent: facts.intent } : facts;
      case 'forgets tokens':
        return { ...facts, intent: null, suspects: [] };
      default:
        return facts;
    }
  }

  #create(token: string): { videoId: string; uploadUrl: string | null; status: string } {
    if (this.#tokens.has(token)) this.#found.add('token used twice');
    this.#tokens.add(token);
    const id = `vid_${(this.#ids += 1)}`;
    const isImport = this.#setting.isImport === true;
    this.#records.set(id, { id, token, status: isImport ? 'processing' : 'pending', asked: 0 });
    return { videoId: id, uploadUrl: isImport ? null : `u:${id}`, status: 'pending' };
  }

  #receive(facts: Facts): Answer<{ sha256: string }> {
    const record = this.#records.get(facts.videoId ?? '');
    if (record === undefined) return fail(failure('address dead'));
    if (record.status !== 'pending') {
      // After an answer that never came, a video may turn out to have the bytes while they are sent again; not after a look.
      if (this.#setting.plant === 'never asks') this.#found.add('upload repeated unasked');
      return fail(inDoubt);
    }
    record.status = 'processing';
    return { ok: true, value: { sha256: 'aa' } };
  }

  #status(videoId: string): Answer<string> {
    const record = this.#records.get(videoId);
    if (record === undefined) return fail(failure('gone'));
    if (record.status === 'pending') return { ok: true, value: 'pending' };
    record.asked += 1;
    const lag = this.#setting.lag ?? 0;
    if (record.asked <= lag) return { ok: true, value: 'pending' };
    if (record.asked > lag + 1) record.status = 'ready';
    return { ok: true, value: record.status };
  }

  #remove(videoId: string): void {
    const status = this.#records.get(videoId)?.status;
    if (status === 'ready') this.#found.add('ready video deleted');
    if (status === 'processing' && !this.#isFileThere) this.#found.add('only copy deleted');
    this.#records.delete(videoId);
  }

  #judge(): void {
    const row = this.#row;
    const state = stateOf(row);
    const visible = [...this.#records.values()].filter(({ status }) => status !== 'pending');
    if (visible.length > 1) this.#found.add('duplicate');
    if (row.end === null) this.#found.add('stuck');
    if (!this.#isFine(state, visible.length)) this.#found.add(row.end === null ? 'stuck' : 'lost');
    if (state === 'done' && !visible.some(({ id }) => id === row.videoId)) this.#found.add('lost');
    const tokens = new Set([...row.suspects, row.intent]);
    const orphans = [...this.#records.values()].filter(({ id }) => id !== row.videoId);
    if (orphans.some(({ token }) => !tokens.has(token))) this.#found.add('record unaccounted for');
  }

  /** Every file ends done; one that was deleted before its bytes had left may be gone; an import in doubt asks a person. */
  #isFine(state: string, visible: number): boolean {
    if (state === 'done') return true;
    // Four addresses in a row that died: a person is asked.
    if (this.#row.lastFailure?.code === 'upload_address_dead' && state === 'failed') return visible === 0;
    if (this.#setting.isImport === true && state === 'held' && this.#row.intent !== null) return true;
    return !this.#isFileThere && visible === 0 && ['vanished', 'failed', 'held'].includes(state);
  }
}

interface Daemon {
  readonly runner: Runner;
  load(): Promise<Facts>;
  sweep(): Promise<void>;
  isStopped(): boolean;
}

type Call = <T>(fates: readonly Fate[], apply: () => T) => Promise<{ fate: Fate; value: T | null }>;

function isDone(fate: Fate): boolean {
  return fate === 'ok' || fate === 'crash' || fate === 'lost' || fate === 'stop';
}

const inDoubt: Failure = failure('transient', { inDoubt: true });
const aborted: Failure = failure('throttled', { code: 'aborted' });

function fail(why: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: why };
}

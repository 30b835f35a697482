import { createIntake } from '../../../src/intake/intake.ts';
import type { Intake } from '../../../src/intake/intake.ts';
import { backoffMs } from '../../../src/pipeline/file/backoff.ts';
import { feedsToPublish, stateOf, suspectsOf, unbound } from '../../../src/pipeline/file/facts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import { isSameVersion, looksTheSame } from '../../../src/pipeline/file/file-version.ts';
import type { Answer, LocalFiles, SendHooks, VideoHost, VideoLibrary } from '../../../src/pipeline/file/ports.ts';
import { createRows } from '../../../src/pipeline/file/rows.ts';
import { LedgerUnavailableError } from '../../../src/pipeline/file/store-errors.ts';
import { createPublish } from '../../../src/pipeline/rounds/publish.ts';
import { createPutAway } from '../../../src/pipeline/rounds/put-away.ts';
import { createSweep } from '../../../src/pipeline/rounds/sweep.ts';
import { createRecord } from '../../../src/pipeline/steps/create.ts';
import { createRunner } from '../../../src/pipeline/steps/runner.ts';
import type { Runner } from '../../../src/pipeline/steps/runner.ts';
import { uploadFile } from '../../../src/pipeline/steps/upload.ts';
import { MemoryStore } from '../../pipeline/memory-store.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { failure, somePlan, someVersion } from '../../pipeline/some-facts.ts';
import { someRoom } from '../../pipeline/some-room.ts';
import { act, deeds, isDeed } from './deeds.ts';
import type { Deed } from './deeds.ts';
import type { Choose, Explorable } from './explore.ts';
import { recordOf, service } from './service.ts';
import type { SpecId } from './specs.ts';
import type { WorldState } from './world-state.ts';
import { noQuota } from '../../pipeline/no-quota.ts';
import { noSizeLimits } from '../../pipeline/no-size-limits.ts';

/** Bugs that the judge must see: what the product does right, undone around it. */
export type Plant =
  | 'dying is not durable'
  | 'never asks'
  | 'binds after the upload'
  | 'replaces without deleting'
  | 'one token'
  | 'forgets tokens'
  | 'deletes what may have arrived'
  | 'no gate'
  | 'ignores the time of the inode'
  | 'puts away without a look'
  | 'counts outages'
  | 'publishes too early'
  | 'waits for ever'
  | 'gives no reason';

export interface Setting {
  readonly isImport?: boolean;
  /** What people may do at any moment; each counts as a fault. */
  readonly deeds?: readonly Deed[];
  /** The watcher may miss a change until its next look. */
  readonly mayMiss?: boolean;
  /** The ledger may refuse a write. */
  readonly mayRefuse?: boolean;
  /** After so many calls a late request is carried out. */
  readonly lateness?: number;
  /** So many questions the service answers with `pending` after it has the bytes. */
  readonly lag?: number;
  readonly afterReady?: Facts['afterReady'];
  readonly feeds?: readonly string[];
  readonly plant?: Plant;
}

export { deeds as allDeeds };

const folder = '/inbox';
const turnMs = 20_000;
const retry = { attempts: 12, firstMs: 10, maxMs: 100 } as const;
const plenty = {
  ringAt: () => undefined,
  room: () => someRoom(),
  wanted: async () => ({ creates: 0, publishes: 0 }),
};

/** One folder, one service, and a daemon that may die at every call: intake, steps and rounds are the real ones. */
export class ExploredWorld implements Explorable {
  readonly #setting: Setting;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  initial(): WorldState {
    const version = { ...someVersion, mtimeNs: 't#1', ctimeNs: 't#1', ino: 't#1', birthtimeNs: 't#1' };
    return {
      durable: [],
      believed: [],
      files: { 'clip.mp4': { version, content: 'content#1' } },
      taken: {},
      records: [],
      tokens: [],
      late: [],
      published: 0,
      now: 1_000_000,
      requests: 0,
      count: 1,
      found: [],
    };
  }

  async turn(state: WorldState, choose: Choose): Promise<void> {
    const died = Promise.withResolvers<'died'>();
    const turn = new Turn(state, { choose, setting: this.#setting, die: () => died.resolve('died') });
    const end = await Promise.race([turn.play(), died.promise]);
    if (end !== 'died' && !turn.isStopped) return;
    state.believed = [...state.durable];
    state.taken = null;
  }

  isOver(state: WorldState): boolean {
    return state.late.length === 0 && !isAnythingToSee(state, this.#setting) && state.durable.every(isSettled);
  }

  judge(state: WorldState): readonly SpecId[] {
    const { durable: rows, records, files } = state;
    const found: SpecId[] = [];
    const contents = records.flatMap(({ content }) => content ?? []);
    if (new Set(contents).size < contents.length) found.push('D1');
    for (const [path, { version, content }] of Object.entries(files)) {
      const isReady = records.some((record) => record.content === content && record.status === 'ready');
      const isTold = rows.some(
        (row) =>
          row.path === path &&
          isSameVersion(row.version, version) &&
          ['failed', 'held'].includes(stateOf(row)) &&
          row.why !== null,
      );
      const isImported =
        this.#setting.isImport === true && rows.some((row) => row.path === path && stateOf(row) === 'done');
      if (!isReady && !isTold && !isImported) found.push('L1');
    }
    for (const { id, token, content } of records)
      if (content === null && !rows.some((row) => row.videoId === id || suspectsOf(row).includes(token)))
        found.push('E1');
    for (const row of rows) {
      const state = stateOf(row);
      if (state === 'done' && recordOf({ records } as WorldState, row.videoId ?? '')?.status !== 'ready')
        found.push('L1');
      if (state === 'done' && feedsToPublish(row).length > 0) found.push('P1');
      if (state !== 'done' && row.why === null) found.push('W1');
      if (state === 'failed' && ['offline', 'suspended', 'throttled'].includes(row.lastFailure?.code ?? ''))
        found.push('A1');
    }
    return found;
  }
}

function isSettled({ end, disposal, afterReady }: Facts): boolean {
  return (
    end !== null && (end !== 'done' || afterReady.kind === 'keep' || (disposal !== 'pending' && disposal !== 'waiting'))
  );
}

function isAnythingToSee({ files, taken, durable }: WorldState, setting: Setting): boolean {
  const seen = taken ?? known(durable);
  const paths = new Set([...Object.keys(files), ...Object.keys(seen)]);
  return [...paths].some((path) => {
    const [now, before] = [files[path]?.version, seen[path]];
    return now === undefined || before === undefined ? now !== before : !isSame(now, before, setting);
  });
}

function isSame(one: Facts['version'], other: Facts['version'], { plant }: Setting): boolean {
  return plant === 'ignores the time of the inode' ? looksTheSame(one, other) : isSameVersion(one, other);
}

/** What the ledger knows of the folder, as the watcher is told at its start. */
function known(rows: readonly Facts[]): Record<string, Facts['version']> {
  const there = rows.filter((row) => !['vanished', 'superseded'].includes(stateOf(row)) && row.disposal !== 'deleted');
  return Object.fromEntries(there.map(({ path, version }) => [path, version]));
}

interface TurnOptions {
  readonly choose: Choose;
  readonly setting: Setting;
  readonly die: () => void;
}

const silence = new Promise<never>(() => undefined);

/** One turn of one process: people, then the watcher, then one step of each file. */
class Turn {
  readonly #state: WorldState;
  readonly #options: TurnOptions;
  readonly #store: MemoryStore;
  readonly #runner: Runner;
  readonly #intake: Intake;
  readonly #host: VideoHost & VideoLibrary;
  readonly #local: LocalFiles;
  readonly #rows;
  #isDead = false;
  isStopped = false;

  constructor(state: WorldState, options: TurnOptions) {
    this.#state = state;
    this.#options = options;
    this.#store = new MemoryStore(state.believed, () => state.now);
    const events = { emit: () => undefined, rowOf: () => null };
    const clock = { now: () => state.now, elapsed: () => state.now };
    this.#host = this.#makeHost();
    this.#local = this.#makeLocal();
    const store = {
      load: (id: string) => this.#alive(() => this.#store.load(id)),
      claim: (id: string) => this.#alive(() => this.#store.claim(id)),
      save: (facts: Facts) => this.#save(facts, () => this.#store.save(facts)),
      insert: (facts: Facts) => this.#save(facts, () => this.#store.insert(facts)),
    };
    this.#rows = createRows({ store, events });
    const steps = {
      store: this.#store,
      passing: new Set<string>(),
      binding: new Set<string>(),
      uploadHosts: { believe: () => undefined, isSpared: () => false, takesNewAddress: () => false },
      host: this.#host,
      local: this.#local,
      budget: { take: async (_: unknown, signal: AbortSignal) => !signal.aborted },
      receipts: { append: async () => undefined },
      clock,
      newToken: () => (options.setting.plant === 'one token' ? 'token#0' : `token#${(state.count += 1)}`),
      sizeLimits: noSizeLimits,
      quota: noQuota,
      unconfirmed: { mayRisk: async () => true, waitUntil: () => null },
    };
    this.#runner = createRunner({
      rows: this.#rows,
      store,
      events,
      clock,
      steps: {
        creating: (row, signal) => createRecord(row, signal, steps),
        uploading: (row, signal) =>
          uploadFile(row, signal, {
            ...steps,
            renew: (renewed, cut) => createRecord(renewed, cut, steps),
            deadMs: ({ addressDeadAt }) => state.now - (addressDeadAt ?? state.now),
            uploadsStartAt: () => null,
            onProgress: () => undefined,
            onResumed: () => undefined,
          }),
      },
      policy: {
        attempts: retry.attempts,
        retryAt: (attempts, why) =>
          state.now + backoffMs(attempts, why, retry, 0.5) + (options.setting.plant === 'waits for ever' ? 1e12 : 0),
        now: clock.now,
      },
      logger: silentLogger,
      ended: () => undefined,
      stuck: () => undefined,
    });
    this.#intake = createIntake({
      store: this.#store,
      rows: this.#rows,
      local: this.#local,
      runner: this.#runner,
      clock,
      newId: () => `file#${(state.count += 1)}`,
      exists: async (_, path) => path in state.files,
    });
  }

  async play(): Promise<void> {
    const { choose, setting } = this.#options;
    const deed = choose(['nothing', ...(setting.deeds ?? [])]);
    if (isDeed(deed)) act(this.#state, deed);
    await this.#look();
    for (const { id } of this.#store.all.slice()) if (!this.isStopped) await this.#step(id);
    this.#state.now += turnMs;
    // With nothing under way, what is late comes in.
    if (this.#state.durable.every(isSettled)) for (const late of this.#state.late.splice(0)) this.#arrive(late);
  }

  /** The watcher compares the folder with what it has handed over. */
  async #look(): Promise<void> {
    const { choose, setting } = this.#options;
    const state = this.#state;
    if (!isAnythingToSee(state, setting)) return;
    if (setting.mayMiss === true && choose(['looks', 'misses it']) === 'misses it') return;
    const taken = { ...(state.taken ?? known(this.#store.all)) };
    for (const [path, { version }] of Object.entries(state.files)) {
      const before = taken[path];
      if (before !== undefined && isSame(before, version, setting)) continue;
      if (await this.#offer(path, version)) taken[path] = version;
    }
    for (const path of Object.keys(taken)) {
      if (path in state.files) continue;
      const gone = await this.#tried(() => this.#intake.gone(folder, path));
      if (gone !== null && gone !== 'busy') delete taken[path];
    }
    state.taken = taken;
  }

  /** @returns whether it was taken */
  async #offer(path: string, version: Facts['version']): Promise<boolean> {
    const { setting } = this.#options;
    const arrival = {
      folder,
      path,
      version,
      flaw: null,
      sourceUrl: setting.isImport === true ? 'https://example.com/clip.mp4' : null,
      route: { kind: 'take' as const, plan: { ...somePlan, publish: setting.feeds ?? [] } },
      onDuplicate: 'skip' as const,
      onChange: 'upload' as const,
      owner: null,
      leaving: null,
      isWanted: false,
      afterReady: setting.afterReady ?? { kind: 'keep' as const },
    };
    const accepted = await this.#tried(() => this.#intake.accept(arrival));
    const decided = accepted === 'unread' ? await this.#tried(() => this.#intake.compare(arrival, never)) : accepted;
    return decided !== null && decided !== 'busy' && decided !== 'unread';
  }

  /** Null when the ledger refused: the watcher offers it again. */
  async #tried<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof LedgerUnavailableError) return null;
      throw error;
    }
  }

  async #step(id: string): Promise<void> {
    const facts = await this.#store.load(id);
    if (facts === null) return;
    const at = stateOf(facts);
    if (at === 'retrying') {
      this.#state.now = Math.max(this.#state.now, facts.notBefore ?? 0);
      await this.#tried(() => this.#runner.apply(id, { type: 'GO' }));
    } else if (at === 'queued' || at === 'awaiting upload') await this.#runner.run(id);
    else if (at === 'processing') await this.#tried(() => this.#sweep(facts));
    else if (at === 'awaiting publish') await this.#tried(() => this.#publish());
    else if (at === 'done' && (facts.disposal === 'pending' || facts.disposal === 'waiting'))
      await this.#tried(() => this.#putAway());
  }

  #sweep(facts: Facts): Promise<void> {
    return createSweep({
      ...this.#rounds(),
      store: { rows: async () => [facts] },
      receipts: { append: async () => undefined },
      settings: () => ({ poll: { intervalMs: 10, giveUpAfterMs: 86_400_000 } }),
      ...plenty,
      failed: async (why) => why,
    }).run(never);
  }

  #publish(): Promise<void> {
    return createPublish({
      ...this.#rounds(),
      store: this.#store,
      timing: () => ({ quietMs: 0, atMostMs: 0, retry }),
      ...plenty,
    }).run(never);
  }

  async #putAway(): Promise<void> {
    const putAway = createPutAway({
      ...this.#rounds(),
      store: this.#store,
      rows: this.#rows,
      isHosted: () => true,
      local: this.#local,
      retry: () => retry,
    });
    await putAway.run(never);
  }

  #rounds() {
    const { now } = this.#state;
    return {
      library: this.#host,
      runner: this.#runner,
      clock: { now: () => now, elapsed: () => now },
      events: { emit: () => undefined, rowOf: () => null },
      logger: silentLogger,
    };
  }

  /** All of it may have arrived, at an address that is dead by now. */
  #isInDoubt(videoId: string): boolean {
    return this.#store.all.some((row) => row.videoId === videoId && row.sha256 !== null && row.addressDeadAt !== null);
  }

  #alive<T>(work: () => Promise<T>): Promise<T> {
    return this.#isDead ? silence : work();
  }

  async #save<T>(facts: Facts, write: () => Promise<T>): Promise<T> {
    const fates = this.#options.setting.mayRefuse === true ? ['ok', 'crash', 'ledger refuses'] : ['ok', 'crash'];
    if (this.#isDead) return silence;
    const fate = this.isStopped ? 'ok' : this.#options.choose(fates);
    if (fate === 'ledger refuses') throw new LedgerUnavailableError('disk full');
    const written = await write();
    const saved = this.#store.row(facts.id);
    const others = this.#state.durable.filter(({ id }) => id !== facts.id);
    const index = this.#state.durable.findIndex(({ id }) => id === facts.id);
    this.#state.believed = [...this.#store.all];
    this.#state.durable = others.toSpliced(index < 0 ? others.length : index, 0, this.#durable(saved));
    if (fate === 'crash') return this.#crash();
    return written;
  }

  /** What of a row is on disk. */
  #durable(facts: Facts): Facts {
    switch (this.#options.setting.plant) {
      case 'dying is not durable':
        return { ...facts, dying: false, addressDeadAt: null };
      case 'binds after the upload':
        return facts.uploadedAt === null ? { ...facts, ...unbound, intent: facts.intent } : facts;
      case 'forgets tokens':
        return { ...facts, intent: null, suspects: [] };
      case 'gives no reason':
        return { ...facts, why: null };
      default:
        return facts;
    }
  }

  /** A request, or part of one: it arrives, or not, or late, and the process may die of it. */
  async #call<T>(
    fates: readonly string[],
    apply: () => T,
    late?: Omit<WorldState['late'][number], 'calls'>,
  ): Promise<{ fate: string; value: T | null }> {
    if (this.#isDead) return silence;
    this.#state.requests += 1;
    this.#arriveLate();
    const fate = this.#options.choose(this.isStopped ? ['ok'] : fates);
    const value = ['ok', 'crash', 'lost', 'stop'].includes(fate) ? apply() : null;
    if (fate.startsWith('late') && late !== undefined)
      this.#state.late.push({ ...late, calls: this.#options.setting.lateness ?? 4 });
    if (fate === 'crash' || fate === 'late and crash') return this.#crash();
    if (fate === 'stop') {
      this.isStopped = true;
      void this.#runner.abort();
    }
    return { fate, value };
  }

  #crash(): Promise<never> {
    this.#isDead = true;
    this.#options.die();
    return silence;
  }

  #arriveLate(): void {
    for (const late of this.#state.late) late.calls -= 1;
    const due = this.#state.late.filter(({ calls }) => calls <= 0);
    this.#state.late = this.#state.late.filter(({ calls }) => calls > 0);
    for (const late of due) this.#arrive(late);
  }

  #arrive({ what, of, content }: WorldState['late'][number]): void {
    if (what === 'create') service.create(this.#state, of, this.#options.setting.isImport === true);
    else if (what === 'remove') service.remove(this.#state, of);
    else service.receive(this.#state, of, content ?? '');
  }

  #makeHost(): VideoHost & VideoLibrary {
    const state = this.#state;
    const { plant, isImport = false, lag = 0 } = this.#options.setting;
    const isDying = (id: string): boolean => this.#store.all.some((row) => row.videoId === id && row.dying);
    const look = async (id: string): Promise<Answer<'pending' | 'processing' | 'ready'>> => {
      const { fate, value } = await this.#call(['ok', 'dropped', 'refused'], () => service.status(state, id, lag));
      return fate === 'ok' && value !== null ? value : fail(fate === 'refused' ? this.#offline() : inDoubt);
    };
    return {
      create: async (_, token) => {
        const fates = ['ok', 'crash', 'lost', 'dropped', 'refused', 'late', 'late and crash', 'stop'];
        const { fate, value } = await this.#call(fates, () => service.create(state, token, isImport), {
          what: 'create',
          of: token,
          content: null,
        });
        if (value === null || fate === 'lost') return fail(fate === 'refused' ? this.#offline() : inDoubt);
        const { id } = value;
        return { ok: true, value: { videoId: id, uploadUrl: isImport ? null : `u:${id}`, status: 'pending' } };
      },
      status: async (id) => {
        if (plant === 'never asks' && !isDying(id)) return { ok: true, value: 'pending' };
        if (plant === 'replaces without deleting' && isDying(id)) return fail(failure('gone'));
        if (plant === 'deletes what may have arrived' && this.#isInDoubt(id)) service.remove(state, id);
        return look(id);
      },
      send: (facts, hooks) => this.#send(facts, hooks),
      remove: async (id, signal) => {
        if (plant === 'replaces without deleting') return { ok: true, value: null };
        const fates = ['ok', 'crash', 'lost', 'dropped', 'late', 'late and crash', 'stop'];
        const { fate } = await this.#call(fates, () => service.remove(state, id), {
          what: 'remove',
          of: id,
          content: null,
        });
        if (signal.aborted) return fail(aborted);
        return fate === 'ok' || fate === 'stop' ? { ok: true, value: null } : fail(inDoubt);
      },
      amend: async () => ({ ok: true, value: null }),
      list: () => Promise.reject(new Error('one file needs no list')),
      probe: async () => ({ ok: true, value: null }),
      names: async () => fail(failure('permanent')),
      get: async (id) => {
        const answer = await look(id);
        if (!answer.ok) return answer;
        return { ok: true, value: { id, status: plant === 'publishes too early' ? 'ready' : answer.value } };
      },
      publish: async () => {
        const waiting = this.#store.all.filter((row) => stateOf(row) === 'awaiting publish');
        if (waiting.some(({ videoId }) => recordOf(state, videoId ?? '')?.status !== 'ready')) state.found.push('P1');
        const { fate } = await this.#call(['ok', 'crash', 'lost', 'dropped', 'refused'], () => (state.published = 1));
        return fate === 'ok' ? { ok: true, value: null } : fail(fate === 'refused' ? this.#offline() : inDoubt);
      },
    };
  }

  async #send(facts: Facts, hooks: SendHooks): Promise<Answer<{ sha256: string }>> {
    const state = this.#state;
    const { setting } = this.#options;
    const row = state.durable.find(({ id }) => id === facts.id);
    if (row?.videoId !== facts.videoId || row?.uploadUrl !== facts.uploadUrl) state.found.push('D3');
    const record = recordOf(state, facts.videoId ?? '');
    if (record?.mayHaveBody === true) state.found.push('D2');
    const opened = state.files[facts.path];
    if (opened === undefined) return fail(failure('vanished'));
    if (!isSame(opened.version, facts.version, setting)) return fail(failure('changed'));
    // The last part is held back until the hash is durable (design 5.6), so a cut before it is a body that never arrives.
    const { fate: first } = await this.#call(
      ['ok', 'cut', 'refused', 'address dead', 'stop', ...(setting.deeds ?? [])],
      () => undefined,
    );
    if (first === 'refused') return fail(this.#offline());
    if (isDeed(first)) act(state, first);
    if (hooks.signal.aborted) return fail(aborted);
    if (first === 'cut') return fail(inDoubt);
    if (first === 'address dead' || record === undefined) return fail(failure('address dead'));
    const body = this.#bodyOf(facts.path, opened.content, isDeed(first) ? first : null);
    if (body === null) return fail(failure('changed'));
    await hooks.beforeLastPart(body);
    record.mayHaveBody = true;
    const { fate, value } = await this.#call(
      ['ok', 'crash', 'lost', 'dropped', 'late', 'late and crash', 'stop'],
      () => service.receive(state, record.id, body),
      { what: 'receive', of: record.id, content: body },
    );
    if (hooks.signal.aborted) return fail(aborted);
    return fate === 'ok' && value === true ? { ok: true, value: { sha256: body } } : fail(inDoubt);
  }

  /** What is read when somebody did something in the middle of it; null when the gate sees it. */
  #bodyOf(path: string, content: string, deed: Deed | null): string | null {
    const inPlace: readonly (Deed | null)[] = ['overwrites', 'overwrites and sets the time back', 'appends'];
    if (!inPlace.includes(deed)) return deed === 'touches' ? null : content;
    if (this.#options.setting.plant !== 'no gate') return null;
    this.#state.found.push('M1');
    return `${content}|${this.#state.files[path]?.content}`;
  }

  #offline(): Failure {
    return this.#options.setting.plant === 'counts outages'
      ? failure('permanent', { code: 'offline' })
      : failure('offline');
  }

  #makeLocal(): LocalFiles {
    const state = this.#state;
    const { plant } = this.#options.setting;
    const check = (facts: Facts): Failure | null => {
      const file = state.files[facts.path];
      if (file === undefined) return failure('vanished');
      return isSame(file.version, facts.version, this.#options.setting) ? null : failure('changed');
    };
    return {
      check: async (facts) => check(facts),
      hash: async (facts) => {
        const missing = check(facts);
        return missing === null ? { ok: true, value: state.files[facts.path]?.content ?? '' } : fail(missing);
      },
      checksums: async () => ({ ok: true, value: [] }),
      dispose: async (facts) => {
        const missing = plant === 'puts away without a look' ? null : check(facts);
        if (missing !== null) return fail(missing);
        const content = state.files[facts.path]?.content ?? '';
        if (plant !== 'puts away without a look' && content !== facts.sha256)
          return fail(failure('permanent', { code: 'not_the_same' }));
        await this.#call(['ok', 'crash'], () => {
          const isSafe = state.records.some((record) => record.content === content && record.status === 'ready');
          if (!isSafe && content !== '') state.found.push('L2');
          delete state.files[facts.path];
        });
        return { ok: true, value: null };
      },
    };
  }
}

const never = new AbortController().signal;
const inDoubt: Failure = failure('transient', { inDoubt: true });
const aborted: Failure = failure('throttled', { code: 'aborted' });

function fail(why: Failure): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: why };
}

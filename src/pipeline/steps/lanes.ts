import PQueue from 'p-queue';
import type { QueueStore } from '../file/ports.ts';
import type { Queued } from '../file/queue.ts';
import type { Runner } from './runner.ts';
import { Turns } from './turns.ts';

/** Create requests are short, and the service's budget limits them anyway. */
const createConcurrency = 2;

/** The last starts from which a restart rebuilds the turns: enough for a few rounds through all priorities and folders. */
export const startsRemembered = 1_000;

/** How many files may be sent at once. */
export interface Limits {
  /** Uploads of all folders together, from 1. */
  readonly uploads: number;
  /** Of single folders, by path. */
  readonly folderUploads: ReadonlyMap<string, number>;
}

/** Why a file has to wait although it is its turn: all slots are taken, the free one is kept for small files, or its folder has its share. */
export type NoSlot = 'all' | 'kept for small' | 'folder';

export interface LanesWorld {
  readonly store: QueueStore;
  readonly runner: Pick<Runner, 'run'>;
  /** Whether further records may be created at present. */
  readonly mayCreate: () => Promise<boolean>;
  /** When uploads may start again by the time of day (epoch milliseconds); null: they may now. */
  readonly uploadsStartAt: () => number | null;
  /** Whether the folder does not answer: a step stuck there holds no slot, because it may be stuck for days. */
  readonly isOffLimits: (folder: string) => boolean;
  /** Whether a file could be sent now, and whether it may begin: its upload host may be away. */
  readonly uploadHosts: { isOpen(file: Queued): boolean; admit(file: Queued): boolean };
  /** Whether anything may begin here. */
  readonly mayTake: () => boolean;
  /** Whether a person wants nothing new of the folder to begin. */
  readonly isPaused: (folder: string) => boolean;
  /** A task ended. `wasOurs`: there may be more to do at once; false when another worker has the file. */
  readonly onEnd: (id: string, wasOurs: boolean) => void;
}

/**
 * Bounds the work: one p-queue for create requests and one for uploads, so that a create that waits for the budget holds no upload slot.
 * A queue gets only files that may start now. Order and backlog stay in the ledger, so a restart loses nothing.
 */
export class Lanes {
  readonly #world: LanesWorld;
  readonly #create: Lane;
  readonly #upload: Lane;
  #limits: Limits;
  /** Files that had a record at the last pump. */
  #ahead: readonly Queued[] = [];
  #isClosed = false;

  constructor(world: LanesWorld, limits: Limits) {
    this.#world = world;
    this.#limits = limits;
    const isStuck = ({ folder }: Queued): boolean => world.isOffLimits(folder);
    this.#create = new Lane(createConcurrency, isStuck);
    this.#upload = new Lane(limits.uploads, isStuck);
  }

  /** Starts files from the ledger while a lane has a free slot. Only running files are held in memory. */
  async pump(): Promise<void> {
    if (this.#isClosed) return;
    await this.#begin();
    const { uploadHosts, mayCreate, uploadsStartAt, isPaused } = this.#world;
    const isOpen = uploadsStartAt() === null;
    // The step that created a record may have a last line to write.
    const awaiting = (await this.#awaitingUpload()).filter(({ id }) => !this.#create.has(id));
    const mayRun = (file: Queued): boolean =>
      (isOpen || file.isSent) && uploadHosts.isOpen(file) && !isPaused(file.folder);
    this.#fill(this.#upload, awaiting, (file) => mayRun(file) && this.#whyNotSent(file) === null);
    this.#ahead = this.#countedAhead(awaiting.filter(({ id }) => !this.#upload.isStuck(id)));
    // A record without bytes is litter, and its address expires.
    if (!isOpen || this.#create.free() === 0 || !(await mayCreate())) return;
    const queued = await this.#world.store.heads('queued', this.#create.free(), this.#create.ids());
    this.#fill(this.#create, queued, (file) => !isPaused(file.folder) && this.#whyNotCreated(file) === null);
  }

  /** Why a file that is `queued` or `awaiting upload` cannot start next to the running ones; null when only its turn is missing. */
  whyNot(state: 'queued' | 'awaiting upload', file: Queued): NoSlot | null {
    return state === 'queued' ? this.#whyNotCreated(file) : this.#whyNotSent(file);
  }

  /** Starts nothing more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when all running steps have ended. */
  async drained(): Promise<void> {
    await Promise.all([this.#create.drained(), this.#upload.drained()]);
  }

  size(): number {
    return this.#create.size + this.#upload.size;
  }

  change(limits: Limits): void {
    this.#limits = limits;
    this.#upload.slots = limits.uploads;
  }

  /** The turns continue where they were before the restart. */
  async #begin(): Promise<void> {
    if (this.#create.turns !== null) return;
    const starts = await this.#world.store.lastStarts(startsRemembered);
    this.#create.turns ??= new Turns(starts);
    this.#upload.turns ??= new Turns(starts);
  }

  /** Behind files that wait for an upload host there may be others. */
  async #awaitingUpload(): Promise<readonly Queued[]> {
    const { store, uploadHosts, isPaused } = this.#world;
    const mayBeSent = (file: Queued): boolean => uploadHosts.isOpen(file) && !isPaused(file.folder);
    for (let each = 4 * this.#limits.uploads; ; each *= 4) {
      const files = await store.heads('awaiting upload', each, []);
      if (files.length < each || files.some(mayBeSent)) return files;
    }
  }

  /**
   * Those that wait for a host that is away count twice at most as slots: the others need not wait for that host, too. Those of a paused
   * folder do not count: no others of it get a record.
   */
  #countedAhead(awaiting: readonly Queued[]): readonly Queued[] {
    const { uploadHosts, isPaused } = this.#world;
    const waiting = awaiting.filter(({ id, folder }) => this.#upload.has(id) || !isPaused(folder));
    const isAway = (file: Queued): boolean => !uploadHosts.isOpen(file) && !this.#upload.has(file.id);
    const away = waiting.filter(isAway);
    return [...waiting.filter((file) => !isAway(file)), ...away.slice(2 * this.#limits.uploads)];
  }

  #whyNotSent(file: Queued): NoSlot | null {
    return whyNoSlot(file, this.#upload.running(), this.#limits) ?? (this.#upload.free() === 0 ? 'all' : null);
  }

  #whyNotCreated(file: Queued): NoSlot | null {
    return whyNotAhead(file, [...this.#ahead, ...this.#create.running()], this.#limits);
  }

  #fill(lane: Lane, files: readonly Queued[], mayStart: (file: Queued) => boolean): void {
    while (!this.#isClosed && this.#world.mayTake() && lane.free() > 0) {
      const next = lane.turns?.next(files.filter((file) => !lane.has(file.id) && mayStart(file)));
      if (next === null || next === undefined) return;
      this.#start(lane, next);
    }
  }

  #start(lane: Lane, file: Queued): void {
    const { runner, uploadHosts, onEnd } = this.#world;
    void lane
      .run(file, () => (lane === this.#create || uploadHosts.admit(file) ? runner.run(file.id) : Promise.resolve(true)))
      .then((wasOurs) => onEnd(file.id, wasOurs));
  }
}

/** Steps of one kind. The `concurrency` of the queue is the bound. */
class Lane {
  turns: Turns | null = null;
  slots: number;
  readonly #queue: PQueue;
  readonly #running = new Map<string, Queued>();
  readonly #isStuck: (file: Queued) => boolean;

  constructor(slots: number, isStuck: (file: Queued) => boolean) {
    this.slots = slots;
    this.#isStuck = isStuck;
    this.#queue = new PQueue({ concurrency: slots });
  }

  get size(): number {
    return this.#queue.pending + this.#queue.size;
  }

  /**
   * Files that would start at once. Stuck steps are added to the bound, so they cost no slot. A folder hangs and answers without an
   * event, so the bound is set at each question.
   */
  free(): number {
    this.#queue.concurrency = this.slots + this.#running.size - this.running().length;
    return Math.max(0, this.#queue.concurrency - this.size);
  }

  isStuck(id: string): boolean {
    const file = this.#running.get(id);
    return file !== undefined && this.#isStuck(file);
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  ids(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Files that hold a slot. */
  running(): readonly Queued[] {
    return [...this.#running.values()].filter((file) => !this.#isStuck(file));
  }

  /** @param task never rejects */
  async run(file: Queued, task: () => Promise<boolean>): Promise<boolean> {
    this.turns?.started(file);
    this.#running.set(file.id, file);
    return this.#queue.add(task).finally(() => this.#running.delete(file.id));
  }

  async drained(): Promise<void> {
    await this.#queue.onIdle();
  }
}

/** How many of the upload slots big files may have: one of two to seven is kept for small files, and one of each four from eight on. */
export function slotsForBig(uploads: number): number {
  return uploads === 1 ? 1 : uploads - Math.max(1, Math.floor(uploads / 4));
}

/**
 * Pure: why a file may not take a free slot next to these; null when it may. A running upload is never interrupted, so the slot for small
 * files has to be kept free of big ones. The queue bounds all uploads together.
 */
export function whyNoSlot(file: Queued, sending: readonly Queued[], limits: Limits): Exclude<NoSlot, 'all'> | null {
  return whyNot(file, sending, limits, 1);
}

/**
 * Pure: why a file gets no record yet, given the files that have one or are about to. Addresses expire, and a record without bytes is
 * litter, so there are at most twice as many as slots. Big files get theirs only when they can be sent: a request costs little compared with their upload.
 */
export function whyNotAhead(file: Queued, ahead: readonly Queued[], limits: Limits): NoSlot | null {
  return whyNot(file, ahead, limits, 2) ?? (ahead.length >= 2 * limits.uploads ? 'all' : null);
}

function whyNot(
  { folder, isBig }: Queued,
  taken: readonly Queued[],
  { uploads, folderUploads }: Limits,
  perSlot: number,
): 'folder' | 'kept for small' | null {
  const ofFolder = taken.filter((other) => other.folder === folder);
  const most = folderUploads.get(folder) ?? Infinity;
  if (ofFolder.length >= most * perSlot || (isBig && bigOf(ofFolder) >= most)) return 'folder';
  return isBig && bigOf(taken) >= slotsForBig(uploads) ? 'kept for small' : null;
}

function bigOf(files: readonly Queued[]): number {
  return files.filter(({ isBig }) => isBig).length;
}

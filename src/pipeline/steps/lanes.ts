import PQueue from 'p-queue';
import type { QueueStore } from '../file/ports.ts';
import type { Queued } from '../file/queue.ts';
import type { Runner } from './runner.ts';
import { Turns } from './turns.ts';

/** Maximum number of simultaneous create requests. They are short, and the request budget limits them anyway. */
const createConcurrency = 2;

/**
 * Number of recent starts from which turns are rebuilt after a restart: enough for a few rounds through all priorities
 * and folders.
 */
export const startsRemembered = 1_000;

/**
 * Number of files in each line among which records to delete are found while no record may be created. Files that had a
 * record arrived first.
 */
const searchedForRecords = 100;

export interface Limits {
  /** Maximum for all folders together, from 1. */
  readonly uploads: number;
  /** Maximum for individual folders, by path. */
  readonly folderUploads: ReadonlyMap<string, number>;
}

/**
 * Why a file has to wait although it is its turn: all slots are taken, the free one is reserved for small files, or its
 * folder has reached its limit.
 */
export type NoSlot = 'all' | 'kept for small' | 'folder';

export interface LanesWorld {
  readonly store: QueueStore;
  readonly runner: Pick<Runner, 'run'>;
  /** Whether more records may be created at present. */
  readonly mayCreate: () => Promise<boolean>;
  /** When the timetable allows uploads again (epoch milliseconds); null if they may start now. */
  readonly uploadsStartAt: () => number | null;
  /** Whether the folder is unresponsive. A step stuck there, perhaps for days, occupies no slot. */
  readonly isOffLimits: (folder: string) => boolean;
  /** Whether a file could be sent now, and whether it may start, given that its upload host may be unreachable. */
  readonly uploadHosts: { isOpen(file: Queued): boolean; admit(file: Queued): boolean; mayCreate(): boolean };
  /** Whether this host may accept new work; false while the operator is draining it. */
  readonly mayTake: () => boolean;
  readonly isPaused: (folder: string) => boolean;
  /**
   * Called when a task has ended. `wasOurs`: there may be more work immediately; false if another worker has the file.
   */
  readonly onEnd: (id: string, wasOurs: boolean) => void;
}

/**
 * Limits concurrent work with two p-queue instances, one for create requests and one for uploads, so that a create
 * waiting for request budget occupies no upload slot. A queue receives only files that may start now. Order and backlog
 * stay in the ledger, so a restart loses nothing.
 */
export class Lanes {
  readonly #world: LanesWorld;
  readonly #create: Lane;
  readonly #upload: Lane;
  #limits: Limits;
  /** Files that had a record when the lanes were last filled. */
  #ahead: readonly Queued[] = [];
  #isClosed = false;

  constructor(world: LanesWorld, limits: Limits) {
    this.#world = world;
    this.#limits = limits;
    const isStuck = ({ folder }: Queued): boolean => world.isOffLimits(folder);
    this.#create = new Lane(createConcurrency, isStuck);
    this.#upload = new Lane(limits.uploads, isStuck);
  }

  /** Starts files from the ledger while a lane has a free slot. Memory holds only running files. */
  async pump(): Promise<void> {
    if (this.#isClosed) return;
    await this.#begin();
    const { uploadHosts, mayCreate, uploadsStartAt, isPaused } = this.#world;
    const isOpen = uploadsStartAt() === null;
    // The step that created the record may still have a history line to write.
    const awaiting = (await this.#awaitingUpload()).filter(({ id }) => !this.#create.has(id));
    const mayRun = (file: Queued): boolean =>
      (isOpen || file.isSent) && uploadHosts.isOpen(file) && !isPaused(file.folder);
    this.#fill(this.#upload, awaiting, (file) => mayRun(file) && this.#whyNotSent(file) === null);
    this.#ahead = this.#countedAhead(awaiting.filter(({ id }) => !this.#upload.isStuck(id)));
    // No record is created before uploads may start: an empty record is litter, and its address expires.
    if (!isOpen || this.#create.free() === 0) return;
    const isAccepted = await mayCreate();
    if (!isAccepted && !uploadHosts.mayCreate()) return;
    const each = isAccepted ? this.#create.free() : searchedForRecords;
    const queued = await this.#world.store.heads('queued', each, this.#create.ids());
    // A queued file with an address has a record to delete, which may make room for others.
    const mayStart = (file: Queued): boolean => (isAccepted || file.uploadUrl !== null) && !isPaused(file.folder);
    this.#fill(this.#create, queued, (file) => mayStart(file) && this.#whyNotCreated(file) === null);
  }

  /**
   * Returns why a file that is `queued` or `awaiting upload` cannot start alongside the running ones; null if it only
   * has to wait its turn.
   */
  whyNot(state: 'queued' | 'awaiting upload', file: Queued): NoSlot | null {
    return state === 'queued' ? this.#whyNotCreated(file) : this.#whyNotSent(file);
  }

  close(): void {
    this.#isClosed = true;
  }

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

  async #begin(): Promise<void> {
    if (this.#create.turns !== null) return;
    const starts = await this.#world.store.lastStarts(startsRemembered);
    this.#create.turns ??= new Turns(starts);
    this.#upload.turns ??= new Turns(starts);
  }

  /**
   * Returns enough waiting files to find some that can be sent now, because those may be queued behind files that wait
   * for an upload host.
   */
  async #awaitingUpload(): Promise<readonly Queued[]> {
    const { store, uploadHosts, isPaused } = this.#world;
    const mayBeSent = (file: Queued): boolean => uploadHosts.isOpen(file) && !isPaused(file.folder);
    for (let each = 4 * this.#limits.uploads; ; each *= 4) {
      const files = await store.heads('awaiting upload', each, []);
      if (files.length < each || files.some(mayBeSent)) return files;
    }
  }

  /**
   * Returns the files counted as having a record. The first files with an unreachable upload host, up to twice the
   * number of slots, are not counted, so that other files need not wait for that host. Files in a paused folder do not
   * count, because no other file of that folder gets a record.
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

/** Steps of one kind, limited by the queue's `concurrency`. */
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
   * Returns how many files can start immediately. Stuck steps raise the limit, so they occupy no slot. Folders hang and
   * recover without an event, so every call sets the limit.
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

/**
 * Returns how many upload slots big files may use. With two to seven slots, one is reserved for small files; from eight
 * on, one in four.
 */
export function slotsForBig(uploads: number): number {
  return uploads === 1 ? 1 : uploads - Math.max(1, Math.floor(uploads / 4));
}

/**
 * Returns why a file may not take a free slot alongside these; null if it may. A running upload is never interrupted,
 * so big files must stay out of the slot reserved for small ones. The queue limits the total. Pure.
 */
export function whyNoSlot(file: Queued, sending: readonly Queued[], limits: Limits): Exclude<NoSlot, 'all'> | null {
  return whyNot(file, sending, limits, 1);
}

/**
 * Returns why a file gets no record yet, given the files that have one or soon will. Addresses expire and empty records
 * are litter, so there are at most twice as many records as slots. A big file gets its record only when it can be sent,
 * because a request costs little compared with its upload. Only urgent files count for an urgent one, whose record must
 * be there when the next slot is free. Pure.
 */
export function whyNotAhead(file: Queued, others: readonly Queued[], limits: Limits): NoSlot | null {
  const ahead = file.urgency === null ? others : others.filter(({ urgency }) => urgency !== null);
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

import PQueue from 'p-queue';
import type { QueueStore } from '../file/ports.ts';
import type { Queued } from '../file/queue.ts';
import type { Runner } from './runner.ts';
import { Turns } from './turns.ts';

/** Returns how many create requests run at the same time: half as many as uploads, because they are short. */
const createsFor = (uploads: number): number => Math.min(8, Math.max(2, Math.floor(uploads / 2)));

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
 *
 * @param initial limits until `change`
 */
export function createLanes(world: LanesWorld, initial: Limits) {
  const { store, uploadHosts, isPaused } = world;
  const isStuck = ({ folder }: Queued): boolean => world.isOffLimits(folder);
  const create = createLane(createsFor(initial.uploads), isStuck);
  const upload = createLane(initial.uploads, isStuck);
  let limits = initial;
  /** Files that had a record when the lanes were last filled. */
  let ahead: readonly Queued[] = [];
  let hasTurns = false;
  let isClosed = false;

  const begin = async (): Promise<void> => {
    if (hasTurns) return;
    const starts = await store.lastStarts(startsRemembered);
    for (const lane of [create, upload]) lane.begin(starts);
    hasTurns = true;
  };

  /**
   * Returns enough waiting files to find some that can be sent now, because those may be queued behind files that wait
   * for an upload host.
   */
  const awaitingUpload = async (): Promise<readonly Queued[]> => {
    const mayBeSent = (file: Queued): boolean => uploadHosts.isOpen(file) && !isPaused(file.folder);
    for (let each = 4 * limits.uploads; ; each *= 4) {
      const files = await store.heads('awaiting upload', each, []);
      if (files.length < each || files.some(mayBeSent)) return files;
    }
  };

  /**
   * Returns the files counted as having a record. The first files with an unreachable upload host, up to twice the
   * number of slots, are not counted, so that other files need not wait for that host. Files in a paused folder do not
   * count, because no other file of that folder gets a record.
   */
  const countedAhead = (awaiting: readonly Queued[]): readonly Queued[] => {
    const waiting = awaiting.filter(({ id, folder }) => upload.has(id) || !isPaused(folder));
    const isAway = (file: Queued): boolean => !uploadHosts.isOpen(file) && !upload.has(file.id);
    return [...waiting.filter((file) => !isAway(file)), ...waiting.filter(isAway).slice(2 * limits.uploads)];
  };

  const whyNotSent = (file: Queued): NoSlot | null =>
    whyNoSlot(file, upload.running(), limits) ?? (upload.free() === 0 ? 'all' : null);

  const whyNotCreated = (file: Queued): NoSlot | null => whyNotAhead(file, [...ahead, ...create.running()], limits);

  const fill = (lane: Lane, files: readonly Queued[], mayStart: (file: Queued) => boolean): void => {
    if (isClosed) return;
    while (world.mayTake() && lane.free() > 0) {
      const next = lane.next(files.filter((file) => !lane.has(file.id) && mayStart(file)));
      if (next === null) return;
      const isAdmitted = (): boolean => lane === create || uploadHosts.admit(next);
      void lane
        .run(next, async () => !isAdmitted() || world.runner.run(next.id))
        .then((wasOurs) => world.onEnd(next.id, wasOurs));
    }
  };

  return {
    /** Starts files from the ledger while a lane has a free slot. Memory holds only running files. */
    pump: async (): Promise<void> => {
      if (isClosed) return;
      await begin();
      const isOpen = world.uploadsStartAt() === null;
      // The step that created the record may still have a history line to write.
      const awaiting = (await awaitingUpload()).filter(({ id }) => !create.has(id));
      const mayRun = (file: Queued): boolean =>
        (isOpen || file.isSent) && uploadHosts.isOpen(file) && !isPaused(file.folder);
      fill(upload, awaiting, (file) => mayRun(file) && whyNotSent(file) === null);
      ahead = countedAhead(awaiting.filter(({ id }) => !upload.isStuck(id)));
      // No record is created before uploads may start: an empty record is litter, and its address expires.
      if (!isOpen || create.free() === 0) return;
      const isAccepted = await world.mayCreate();
      if (!isAccepted && !uploadHosts.mayCreate()) return;
      const queued = await store.heads('queued', isAccepted ? create.free() : searchedForRecords, create.ids());
      // A queued file with an address has a record to delete, which may make room for others.
      const mayStart = (file: Queued): boolean => (isAccepted || file.uploadUrl !== null) && !isPaused(file.folder);
      fill(create, queued, (file) => mayStart(file) && whyNotCreated(file) === null);
    },
    /**
     * Returns why a file that is `queued` or `awaiting upload` cannot start alongside the running ones; null if it only
     * has to wait its turn.
     */
    whyNot: (state: 'queued' | 'awaiting upload', file: Queued): NoSlot | null =>
      state === 'queued' ? whyNotCreated(file) : whyNotSent(file),
    close: (): void => {
      isClosed = true;
    },
    drained: async (): Promise<void> => {
      await Promise.all([create.drained(), upload.drained()]);
    },
    size: (): number => create.size() + upload.size(),
    slots: (): number => limits.uploads,
    /** Whether as many files are being sent as the slots allow, apart from those reserved for small files. */
    isFull: (): boolean => upload.running().length >= slotsForBig(limits.uploads),
    change: (changed: Limits): void => {
      limits = changed;
      create.change(createsFor(changed.uploads));
      upload.change(changed.uploads);
    },
  };
}

type Lane = ReturnType<typeof createLane>;

/** Creates a lane for steps of one kind, limited by the queue's `concurrency`. */
function createLane(initial: number, isStuck: (file: Queued) => boolean) {
  const queue = new PQueue({ concurrency: initial });
  const started = new Map<string, Queued>();
  let slots = initial;
  let turns = new Turns();
  const size = (): number => queue.pending + queue.size;
  const running = (): readonly Queued[] => [...started.values()].filter((file) => !isStuck(file));
  return {
    size,
    running,
    begin: (starts: readonly Queued[]): void => {
      turns = new Turns(starts);
    },
    change: (to: number): void => {
      slots = to;
    },
    /**
     * Returns how many files can start immediately. Stuck steps raise the limit, so they occupy no slot. Folders hang
     * and recover without an event, so every call sets the limit.
     */
    free: (): number => {
      queue.concurrency = slots + started.size - running().length;
      return Math.max(0, queue.concurrency - size());
    },
    isStuck: (id: string): boolean => {
      const file = started.get(id);
      return file !== undefined && isStuck(file);
    },
    has: (id: string): boolean => started.has(id),
    ids: (): readonly string[] => [...started.keys()],
    next: (waiting: readonly Queued[]): Queued | null => turns.next(waiting),
    /** @param task never rejects */
    run: (file: Queued, task: () => Promise<boolean>): Promise<boolean> => {
      turns.started(file);
      started.set(file.id, file);
      return queue.add(task).finally(() => started.delete(file.id));
    },
    drained: (): Promise<void> => queue.onIdle(),
  };
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

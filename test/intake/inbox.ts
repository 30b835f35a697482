import { mkdir } from 'node:fs/promises';
import { expect } from 'vitest';
import type { FolderConfig } from '../../src/config/config.ts';
import { isClosed, isReadable } from '../../src/disk/accepted-file.ts';
import { isThere } from '../../src/disk/local-files.ts';
import { Folders } from '../../src/intake/folders.ts';
import { createIntake } from '../../src/intake/intake.ts';
import { createLeftBehind, createStoppedFiles } from '../../src/intake/stopped-files.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Events } from '../../src/pipeline/events.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { decide } from '../../src/pipeline/file/machine.ts';
import { setback } from '../../src/pipeline/file/outcome.ts';
import type { Outcome } from '../../src/pipeline/file/outcome.ts';
import type { Answer, LocalFiles } from '../../src/pipeline/file/ports.ts';
import { createRows } from '../../src/pipeline/file/rows.ts';
import type { Row, Rows } from '../../src/pipeline/file/rows.ts';
import { createPutAway } from '../../src/pipeline/rounds/put-away.ts';
import { createRunner } from '../../src/pipeline/steps/runner.ts';
import { failure, ready } from '../pipeline/some-facts.ts';
import { recordingLogger } from '../pipeline/silent-logger.ts';
import { TestClock } from '../pipeline/test-clock.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';
import { someFolderConfig } from '../support/folder-config.ts';
import { filesOfQuietFolders } from '../disk/quiet-folder.ts';

const policy = { attempts: 3, retryAt: () => 9e15, now: () => 50 };

export interface InboxOptions {
  readonly config?: Partial<FolderConfig>;
  /** Names of watched folders beside it, with the same configuration. */
  readonly beside?: readonly string[];
  /** Stands before the hash of a file. */
  readonly onHash?: (facts: Facts, signal: AbortSignal) => Promise<unknown>;
}

/** A watched folder with everything that takes files in: real files, the real watcher, the real ledger. Nothing is ever sent. */
export async function openInbox(options: InboxOptions = {}): Promise<Inbox> {
  const scratch = await scratchDirectory();
  for (const name of ['in', ...(options.beside ?? [])]) await mkdir(scratch.file(name));
  return new Inbox(scratch, await openLedger(scratch.file('state')), options);
}

export class Inbox implements AsyncDisposable {
  readonly ledger: Ledger;
  readonly path: string;
  readonly log = recordingLogger();
  /** Files that were hashed, and how many at the same time at most. */
  readonly hashed: string[] = [];
  mostHashing = 0;
  readonly #scratch: ScratchDirectory;
  readonly #options: InboxOptions;
  #folders: Folders | null = null;
  #rows: Rows | null = null;
  #hashing = 0;
  #ids = 0;

  constructor(scratch: ScratchDirectory, ledger: Ledger, options: InboxOptions) {
    this.#scratch = scratch;
    this.path = scratch.file('in');
    this.ledger = ledger;
    this.#options = options;
  }

  at(name: string): string {
    return `${this.path}/${name}`;
  }

  get folders(): Folders {
    if (this.#folders === null) throw new Error('the folder is not watched');
    return this.#folders;
  }

  /** How many offers were put off because a step has the row. */
  busy(): number {
    return this.log.lines.filter(({ fields }) => (fields['err'] as Error | undefined)?.name === 'BusyError').length;
  }

  rows(): Promise<readonly Facts[]> {
    return this.ledger.rows({ group: 'any', limit: 100_000 });
  }

  async start(): Promise<void> {
    const { ledger } = this;
    // As the daemon does.
    const events: Events = {
      emit: (event) => {
        if (event.type === 'file') this.#folders?.written(event);
      },
    };
    const rows = createRows({ store: ledger, events });
    const local = this.#local();
    const unreachable = (): never => expect.unreachable();
    const runner = createRunner({
      rows,
      store: ledger,
      steps: { creating: unreachable, uploading: unreachable },
      policy,
      events,
      clock: new TestClock(),
      logger: this.log,
      ended: () => undefined,
      stuck: unreachable,
    });
    const newId = (): string => `f_${(this.#ids += 1)}`;
    const intake = createIntake({ store: ledger, rows, local, runner, clock: new TestClock(), newId, exists: isThere });
    this.#rows = rows;
    this.#folders = new Folders({
      config: { folders: this.#configs() },
      intake,
      ledger,
      events,
      owner: null,
      roots: { ...ledger.roots, expected: (...asked) => ledger.roots.expected(...asked, rows.held()) },
      leftBehind: createLeftBehind({ store: ledger, rows, logger: this.log }),
      stoppedFiles: createStoppedFiles({
        store: ledger,
        runner,
        isReadable: (facts) => isReadable(facts, () => true),
        isClosed: (facts) => isClosed(facts, () => true),
      }),
      doubtRows: async () => undefined,
      logger: this.log,
      broke: unreachable,
      tookIn: () => undefined,
    });
    await this.#folders.start();
  }

  /** Everything on disk was seen, and nothing is left to do with it. */
  async settled(): Promise<void> {
    await until('nothing settles', () => !this.folders.isSettling());
    await this.rescan();
    await until('nothing settles', () => !this.folders.isSettling());
  }

  rescan(): Promise<void> {
    return this.folders.rescan();
  }

  async stop(): Promise<void> {
    await this.#folders?.[Symbol.asyncDispose]();
    this.#folders = null;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Steps that work on all rows. Each function lets one of them find out what its file is now, and end. */
  async holdAll(step: 'creating' | 'uploading'): Promise<readonly (() => Promise<void>)[]> {
    const all = await this.rows();
    const begun: Promise<void>[] = [];
    const ends = all.map(({ id }) => {
      const { promise: go, resolve: end } = Promise.withResolvers<void>();
      const { promise: isBegun, resolve: begin } = Promise.withResolvers<void>();
      begun.push(isBegun);
      const done = this.#rows?.claim(id, async (row) => {
        const before = await this.#local().hash(row.facts, new AbortController().signal);
        begin();
        await go;
        const outcome = step === 'creating' ? await this.#create(row) : await this.#upload(row, before);
        await row.write(decide(step, { facts: row.facts, policy }, outcome).facts);
      });
      return async () => {
        end();
        await done;
      };
    });
    await Promise.all(begun);
    return ends;
  }

  /** Every file was sent and its video is ready, so that `after_ready` is due. */
  async finishAll(): Promise<void> {
    for (const { id } of await this.rows())
      await this.#rows?.claim(id, async (row) => {
        if (row.facts.end !== null) return;
        const sent = await this.#local().hash(row.facts, new AbortController().signal);
        if (sent.ok)
          await row.write({
            ...ready,
            sha256: sent.value,
            uploadedAt: 3,
            end: 'done',
            endedAt: 4,
            disposal: 'pending',
          });
      });
  }

  /** What `after_ready` says is done with finished files. @param done called when the disk is changed and the row does not say so yet */
  async putAway(done: (facts: Facts) => Promise<void>, stop = new AbortController().signal): Promise<void> {
    const local = this.#local();
    const rows = this.#rows;
    if (rows === null) throw new Error('the folder is not watched');
    const { run } = createPutAway({
      store: this.ledger,
      rows,
      local: {
        dispose: async (facts, signal, isHosted) => {
          const answer = await local.dispose(facts, signal, isHosted);
          await done(facts);
          return answer;
        },
      },
      clock: new TestClock(),
      logger: this.log,
      retry: () => ({ attempts: 3, firstMs: 1, maxMs: 1 }),
      isHosted: () => true,
    });
    while ((await run(stop)) > 0 && !stop.aborted);
  }

  /** A step takes the file of the newest row for changed or vanished. */
  async giveUp(end: 'superseded' | 'vanished'): Promise<void> {
    const row = (await this.rows()).at(-1);
    await this.#rows?.claim(row?.id ?? '', (held) => held.write({ end, why: end }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.ledger[Symbol.asyncDispose]();
    await this.#scratch[Symbol.asyncDispose]();
  }

  async #create(row: Row): Promise<Outcome> {
    const missing = await this.#local().check(row.facts);
    if (missing !== null) return setback(missing);
    await row.write({ intent: null, videoId: 'vid_1', uploadUrl: 'u:1' });
    return { type: 'bound' };
  }

  /** What was read before is what was sent; before the gate it has to be the content of now. */
  async #upload(row: Row, before: Answer<string>): Promise<Outcome> {
    const hasPassed = row.facts.sha256 !== null;
    const now = await this.#local().hash(row.facts, new AbortController().signal);
    const isSame = before.ok && now.ok && now.value === before.value;
    const isGone = !now.ok && now.failure.kind === 'vanished';
    if (!hasPassed && !isSame && !isGone) return setback(failure('changed'));
    const sha256 = before.ok ? before.value : '';
    await row.write({ sha256, uploadedAt: 3, processingSince: 3, remoteStatus: 'processing' });
    return { type: 'arrived' };
  }

  #configs(): readonly FolderConfig[] {
    const { config, beside = [] } = this.#options;
    return ['in', ...beside].map((name) => folderConfig(this.#scratch.file(name), config));
  }

  #local(): LocalFiles {
    const local = filesOfQuietFolders({
      whyAway: async (folder, missing) => this.#folders?.whyAway(folder, missing) ?? null,
    });
    return {
      ...local,
      hash: async (facts, signal) => {
        this.hashed.push(facts.path);
        this.#hashing += 1;
        this.mostHashing = Math.max(this.mostHashing, this.#hashing);
        try {
          await this.#options.onHash?.(facts, signal);
          return await local.hash(facts, signal);
        } finally {
          this.#hashing -= 1;
        }
      },
    };
  }
}

export function folderConfig(path: string, other: Partial<FolderConfig> = {}): FolderConfig {
  return someFolderConfig(path, { watch: 'polling', rescanMs: 600_000, ...other });
}

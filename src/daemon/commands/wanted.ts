import type { Facts } from '../../pipeline/file/facts.ts';
import type { FileSelection } from '../../pipeline/file/selection.ts';
import { aborted } from '../../pipeline/wake-up.ts';
import { firstNames } from '../../view/words/text.ts';
import type { Daemon } from '../daemon.ts';

/** The files that a command acts on: those named, and those matching a selection. */
export interface WantedFiles {
  /** Ids, video ids, paths or file names. */
  readonly names: readonly string[];
  readonly selection?: FileSelection;
}

/** The files that `ignore` or `first` marks. */
export interface MarkWanted extends WantedFiles {
  /** Who gave the command; recorded in the row or its history. */
  readonly by: string;
  /** Takes the mark away. */
  readonly isUndone?: boolean;
}

/** A named file that a command refuses, and why. */
export interface Refused {
  readonly name: string;
  readonly why: string;
}

/** Selected files that a command skips, grouped by reason. */
export interface Left {
  readonly why: string;
  readonly files: number;
  /** Absolute paths of the first few files. */
  readonly examples: readonly string[];
}

export interface CommandResult {
  readonly v: 1;
  /** True: nothing was done; the result shows what would be. */
  readonly planned: boolean;
  /** Number of files affected. */
  readonly files: number;
  /** The cost in requests from the hourly budget. */
  readonly requests: number;
  readonly refused: readonly Refused[];
  readonly left: readonly Left[];
}

export interface FilesResult extends CommandResult {
  /** Paths of the first few files, relative to their folders. */
  readonly examples: readonly string[];
}

export interface CommandOptions {
  /** Only report what would be done. */
  readonly isPlanned?: boolean;
}

/** A file that a command may act on. `name`: as a person gave it; null: selected. */
export interface WantedFile {
  readonly facts: Facts;
  readonly name: string | null;
}

/** Rows per slice. */
const atOnce = 500;

/** Yields each file once. Reports names that match no file or several. */
export async function* wantedFiles(
  { ledger, rows }: Pick<Daemon, 'ledger' | 'rows'>,
  { names, selection }: WantedFiles,
  refuse: (name: string, why: string) => void,
): AsyncGenerator<WantedFile> {
  const seen = new Set<string>();
  for (const name of new Set(names)) {
    const found = await ledger.find(name);
    const [facts] = found;
    if (facts === undefined) refuse(name, 'no such file: `dropcast ls` lists paths, names and ids');
    else if (found.length > 1) refuse(name, `${found.length} files match: use an id or a longer path`);
    else if (!seen.has(facts.id)) {
      seen.add(facts.id);
      yield { facts, name };
    }
  }
  if (selection === undefined) return;
  const working = rows.held();
  for (let after: string | undefined; ;) {
    const { ids, next } = await ledger.selection.ids({ ...selection, working }, atOnce, after);
    for (const id of ids) {
      const facts = seen.has(id) ? null : await ledger.load(id);
      if (facts !== null) yield { facts, name: null };
    }
    if (next === null) return;
    after = next;
  }
}

/** Maximum number of example files per reason. */
const mostExamples = 10;

/** Maximum number of reasons listed separately: some contain an id, or text from the service. */
const mostReasons = 20;

/** Collects the files that a command acts on, refuses or skips. */
export class Answers {
  readonly done: Facts[] = [];
  readonly refused: Refused[] = [];
  readonly #left = new Map<string, { files: number; readonly examples: string[] }>();

  readonly refuse = (name: string, why: string): void => {
    this.refused.push({ name, why });
  };

  /** Refuses a named file; counts a selected one. */
  leave({ facts, name }: WantedFile, why: string): void {
    if (name !== null) return this.refuse(name, why);
    const reason = this.#left.has(why) || this.#left.size < mostReasons ? why : 'for other reasons';
    const left = this.#left.get(reason) ?? { files: 0, examples: [] };
    left.files += 1;
    if (left.examples.length < mostExamples) left.examples.push(`${facts.folder}/${facts.path}`);
    this.#left.set(reason, left);
  }

  get left(): readonly Left[] {
    return Array.from(this.#left, ([why, left]) => ({ why, ...left }));
  }

  result(isPlanned: boolean): Omit<FilesResult, 'requests'> {
    const { done, refused, left } = this;
    const examples = firstNames(done).map(({ path }) => path);
    return { v: 1, planned: isPlanned, files: done.length, examples, refused, left };
  }
}

/** Longest wait in milliseconds for a file's row or a folder's disk. */
const longestMs = 5_000;

/** Wait in milliseconds for further files of a folder that has already timed out. */
const briefMs = 10;

/**
 * Limits how long one command waits for rows held by steps. The client gives up after 30 s, regardless of how many
 * files and folders are involved.
 */
export class Patience {
  readonly #inVain = new Set<string>();

  /** @param work receives a signal that fires on timeout, and must then finish promptly */
  async during<T>(folder: string, work: (isOver: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController();
    const limitMs = this.#inVain.has(folder) ? briefMs : longestMs / (1 + this.#inVain.size);
    const timer = setTimeout(() => {
      this.#inVain.add(folder);
      over.abort();
    }, limitMs);
    try {
      return await work(over.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Repeats a write that returns null while a step holds the row. @returns null if that took too long */
  async untilFree<T>(folder: string, write: () => Promise<T | null>): Promise<T | null> {
    return this.during(folder, async (isOver) => {
      for (;;) {
        const written = await write();
        if (written !== null || isOver.aborted) return written;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
  }

  /** @returns null when the disk did not respond in time */
  async forDisk<T>(folder: string, calls: () => Promise<T>): Promise<T | null> {
    return this.during(folder, (isOver) => Promise.race([calls(), aborted(isOver).then(() => null)]));
  }
}

/** Why nothing was changed. */
export const diskHangs = 'its folder does not answer: nothing was changed, repeat this once it does';

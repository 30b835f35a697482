import type { Facts } from '../../pipeline/file/facts.ts';
import type { FileSelection } from '../../pipeline/file/selection.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Daemon } from '../daemon.ts';

/** Which files a command acts on: those of these names, and those that have something in common. */
export interface WantedFiles {
  /** Ids, video ids, paths or file names. */
  readonly names: readonly string[];
  readonly selection?: FileSelection;
}

/** Files that a command leaves alone, by name, with the reason. */
export interface Refused {
  readonly name: string;
  readonly why: string;
}

/** Files that were selected and left alone, by reason. */
export interface Left {
  readonly why: string;
  readonly files: number;
  /** Paths of the first of them, absolute. */
  readonly examples: readonly string[];
}

export interface CommandResult {
  readonly v: 1;
  /** Whether nothing was done: this is what would be. */
  readonly planned: boolean;
  /** How many files it concerns. */
  readonly files: number;
  /** The cost in requests of the hourly budget. */
  readonly requests: number;
  readonly refused: readonly Refused[];
  readonly left: readonly Left[];
}

export interface CommandOptions {
  /** Says what would be done, and does nothing. */
  readonly isPlanned?: boolean;
}

/** A file that a command may act on. `name`: as a person named it; null: it was selected. */
export interface WantedFile {
  readonly facts: Facts;
  readonly name: string | null;
}

/** Rows of one slice. */
const atOnce = 500;

/** Finds each file once. Reports names that match no file, or several. */
export async function* wantedFiles(
  {
    ledger,
    rows,
  }: { readonly ledger: Pick<Ledger, 'find' | 'load' | 'selection'>; readonly rows?: Pick<Daemon['rows'], 'held'> },
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
  const working = rows?.held() ?? [];
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

/** Files that are named for each reason. */
const mostExamples = 10;

/** Reasons that are listed separately: some contain an id, or words of the service. */
const mostReasons = 20;

/** Collects what a command refuses and leaves. */
export class Answers {
  readonly refused: Refused[] = [];
  readonly #left = new Map<string, { files: number; readonly examples: string[] }>();

  readonly refuse = (name: string, why: string): void => {
    this.refused.push({ name, why });
  };

  /** A file that was named is refused, one that was selected is counted. */
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
}

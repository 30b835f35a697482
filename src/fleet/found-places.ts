import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessHung } from '../unless-hung.ts';
import type { Logger } from '../log/logger.ts';
import { markFileOf, removeProof, seesProof, writeProof } from '../watch/root-mark.ts';
import type { MarkFile, RootProof } from '../watch/root-mark.ts';
import type { AskedProof, Host, ProofAnswer, Proofs } from '../view/hosts/fleet-view.ts';
import { localPlace, placeOfShare } from './places.ts';
import type { WatchedShare } from './places.ts';

/** A configured folder. */
export interface ConfiguredFolder {
  readonly path: string;
  readonly share?: string;
}

interface FoundPlace {
  readonly path: string;
  readonly place: string;
  /** Fingerprint of the mark that was proved. Another mark needs another proof. */
  readonly mark: string;
}

export interface FoundPlacesWorld {
  readonly self: string;
  readonly stateDir: string;
  readonly logger: Logger;
  folders(): readonly ConfiguredFolder[];
  /** Id of the fleet's ledger. */
  ledger(): string;
  known(): readonly Host[];
  /** Called when a folder has become another place, before other hosts learn of it. */
  changed(): Promise<void>;
}

interface Open {
  readonly asked: AskedProof | null;
  readonly why: string;
}

/**
 * Folders without `share` that are the same place on several hosts. A mark alone proves nothing, because copying a
 * folder copies its mark. Instead, this host writes a file next to the mark, and a running host that watches the place
 * must see that exact file. Proofs are kept (docs/decisions/0073-a-place-is-proved-by-a-living-host.md).
 */
export class FoundPlaces implements AsyncDisposable {
  readonly #world: FoundPlacesWorld;
  #found: readonly FoundPlace[];
  readonly #open = new Map<string, Open>();
  #answers: readonly ProofAnswer[] = [];
  #looking: Promise<void> | null = null;

  constructor(world: FoundPlacesWorld, found: readonly FoundPlace[]) {
    this.#world = world;
    this.#found = found;
  }

  all(): readonly FoundPlace[] {
    return this.#found;
  }

  /** This host's questions and answers. */
  words(): Proofs {
    return { asked: [...this.#open.values()].flatMap(({ asked }) => asked ?? []), answers: this.#answers };
  }

  /** Returns why a folder is not proved to be the place that its mark names. */
  whyUnproven(folder: string): string | null {
    return this.#open.get(folder)?.why ?? null;
  }

  /** Answers other hosts' questions, asks its own, and adopts proved places. Never rejects. */
  look(): Promise<void> {
    return (this.#looking ??= this.#look()
      .catch((err: unknown) => this.#world.logger.warn('Cannot check which folders are shared', { err }))
      .finally(() => {
        this.#looking = null;
      }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await unlessHung(Promise.all([this.#looking, ...[...this.#open.keys()].map((folder) => this.#close(folder))]));
  }

  async #look(): Promise<void> {
    const living = this.#world
      .known()
      .filter((host) => host.isHeard && !host.isStopped && host.name !== this.#world.self);
    await this.#answer(living);
    const folders = this.#world.folders().filter(({ path, share }) => share === undefined && !this.#isFound(path));
    for (const { path } of folders) await this.#ask(path, living);
    for (const folder of this.#open.keys()) if (!folders.some(({ path }) => path === folder)) await this.#close(folder);
  }

  async #answer(living: readonly Host[]): Promise<void> {
    const answers: ProofAnswer[] = [];
    for (const { name, doing } of living) {
      for (const asked of doing.proofs?.asked ?? []) {
        const isSame = await this.#isSame(name, asked);
        if (isSame !== null) answers.push({ nonce: asked.nonce, isSame });
      }
    }
    this.#answers = answers;
  }

  /** Checks whether this host sees the asker's proof file. @returns null if this host does not read the place now */
  async #isSame(asker: string, asked: AskedProof): Promise<boolean | null> {
    const folder = this.#world.folders().find((each) => this.#placeOf(each) === asked.place);
    if (folder === undefined) return null;
    const mark = await this.#ownMark(folder.path);
    if (mark?.place !== asked.place) return null;
    if (!(await seesProof(folder.path, asker, asked))) return false;
    // From now on, other hosts write rows for this folder, too.
    if (folder.share === undefined) await this.#take(folder.path, asked.place, mark);
    return true;
  }

  async #ask(folder: string, living: readonly Host[]): Promise<void> {
    const { self } = this.#world;
    const mark = await this.#ownMark(folder);
    const place = mark?.place ?? null;
    if (mark === null || place === null || place === localPlace(self, folder) || this.#isTaken(place))
      return this.#close(folder);
    const asked = await this.#asked(folder, place);
    if (asked === null) return;
    const others = living.filter(({ doing }) => doing.places.includes(place));
    const answers = others.map(({ name, doing }) => ({ name, isSame: answerTo(asked, doing.proofs) }));
    if (answers.some(({ isSame }) => isSame === true)) {
      await this.#take(folder, place, mark);
      return this.#close(folder);
    }
    this.#open.set(folder, { asked, why: whyOf(place, answers) });
  }

  /** Returns the pending question, or asks a new one. */
  async #asked(folder: string, place: string): Promise<AskedProof | null> {
    const before = this.#open.get(folder)?.asked;
    const { self } = this.#world;
    if (before?.place === place && (await seesProof(folder, self, before))) return before;
    try {
      const proof: RootProof = await writeProof(folder, self);
      return { place, ...proof };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
      const why = `dropcast cannot prove that both are one folder, because this host cannot write there (${code})`;
      this.#open.set(folder, { asked: null, why: `${why}; declare the share on all hosts that watch it` });
      return null;
    }
  }

  async #take(path: string, place: string, mark: MarkFile): Promise<void> {
    if (this.#isFound(path)) return;
    const found = [...this.#found.filter((each) => each.path !== path), { path, place, mark: mark.fingerprint }];
    // The proof is saved first, so that the folder does not become local again after a restart.
    await save(this.#world.stateDir, found);
    this.#found = found;
    await this.#world.changed();
    this.#world.logger.info('The folder is shared with other hosts', { folder: path, place });
  }

  async #close(folder: string): Promise<void> {
    const asked = this.#open.get(folder)?.asked ?? null;
    this.#open.delete(folder);
    if (asked !== null) await this.#withdraw(folder);
  }

  /** Removes the proof file. A leftover file is harmless: the next question replaces it. */
  async #withdraw(folder: string): Promise<void> {
    await removeProof(folder, this.#world.self).catch(() => undefined);
  }

  /** Returns the folder's mark if it belongs to this fleet, otherwise null. */
  async #ownMark(folder: string): Promise<MarkFile | null> {
    const mark = await markFileOf(folder);
    return mark?.ledger === this.#world.ledger() ? mark : null;
  }

  #isFound(folder: string): boolean {
    return this.#found.some(({ path }) => path === folder);
  }

  /** Whether a folder of this host already is the place. Two folders on one host cannot be the same place. */
  #isTaken(place: string): boolean {
    return this.#world.folders().some((folder) => this.#placeOf(folder) === place);
  }

  #placeOf({ path, share }: ConfiguredFolder): string {
    if (share !== undefined) return placeOfShare(share);
    return this.#found.find((each) => each.path === path)?.place ?? localPlace(this.#world.self, path);
  }
}

/** Loads earlier proofs. A folder with a new mark needs another proof; an unmounted folder keeps its place. */
export async function openFoundPlaces(world: FoundPlacesWorld): Promise<FoundPlaces> {
  return new FoundPlaces(world, await readFoundPlaces(world.stateDir));
}

/** Reads the proofs saved in a state directory. */
export async function readFoundPlaces(stateDir: string): Promise<readonly FoundPlace[]> {
  const kept: FoundPlace[] = [];
  for (const found of await load(stateDir)) {
    const mark = await unlessHung(markFileOf(found.path).catch(() => null));
    if (mark === null || mark.fingerprint === found.mark) kept.push(found);
  }
  return kept;
}

/** Returns the folders that other hosts may watch, too: declared as shares, or proved to be shared. */
export function sharedOf(
  folders: readonly ConfiguredFolder[],
  found: readonly WatchedShare[],
): readonly WatchedShare[] {
  return folders.flatMap(({ path, share }) => {
    const place = share === undefined ? found.find((each) => each.path === path)?.place : placeOfShare(share);
    return place === undefined ? [] : [{ path, place }];
  });
}

function answerTo({ nonce }: AskedProof, proofs: Proofs | undefined): boolean | null {
  return proofs?.answers.find((answer) => answer.nonce === nonce)?.isSame ?? null;
}

function whyOf(place: string, answers: readonly { readonly name: string; readonly isSame: boolean | null }[]): string {
  const names = answers.map(({ name }) => name).join(', ');
  if (answers.length === 0)
    return `no other host that watches ${place} runs now, so nothing proves that both are one folder; start dropcast on such a host, or declare the share on all hosts that watch it`;
  const denies = answers.filter(({ isSame }) => isSame === false).map(({ name }) => name);
  if (denies.length > 0)
    return `${denies.join(', ')} watches another folder as ${place}, so this one seems to be a copy; if it is, remove its file .dropcast`;
  return `${names} was asked whether both are one folder, and has not answered yet`;
}

function fileIn(stateDir: string): string {
  return join(stateDir, 'found-places.json');
}

async function load(stateDir: string): Promise<readonly FoundPlace[]> {
  const text = await readFile(fileIn(stateDir), 'utf8').catch(() => '[]');
  try {
    const saved = JSON.parse(text) as unknown;
    return Array.isArray(saved) ? saved.filter(isFoundPlace) : [];
  } catch {
    return [];
  }
}

function isFoundPlace(value: unknown): value is FoundPlace {
  const found = value as Partial<FoundPlace> | null;
  return [found?.path, found?.place, found?.mark].every((text) => typeof text === 'string');
}

async function save(stateDir: string, found: readonly FoundPlace[]): Promise<void> {
  const path = fileIn(stateDir);
  await writeFile(`${path}.new`, JSON.stringify(found), { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

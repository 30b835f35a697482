import { isSameVersion } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { isGivenUp, stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { decide } from '../pipeline/file/machine.ts';
import type { Claims, Clock, FileStore, IntakeStore, LocalFiles } from '../pipeline/file/ports.ts';
import { createRows } from '../pipeline/file/rows.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import type { Runner } from '../pipeline/steps/runner.ts';
import { createIntake } from './intake.ts';

export type RehearsalLedger = Pick<IntakeStore, 'atPath' | 'atLocation' | 'pathsNamed'> & Pick<FileStore, 'load'>;

export type Rehearsal = ReturnType<typeof createRehearsal>;

/**
 * Creates an intake that decides like the real one but writes nothing. `rows` returns the rows that would have changed.
 *
 * @param ledger the current rows; null for none
 * @param world.local reads a file if only its content decides
 */
export function createRehearsal(
  ledger: RehearsalLedger | null,
  world: {
    readonly clock: Clock;
    readonly local: Pick<LocalFiles, 'hash' | 'checksums'>;
    exists(folder: string, path: string): Promise<boolean>;
  },
) {
  const store = new Overlay(ledger);
  const rows = createRows({ store, events: { emit: () => undefined } });
  let ids = 0;
  const intake = createIntake({
    ...world,
    store,
    rows,
    runner: { apply: (id, event) => apply(rows, world.clock, id, event) },
    newId: () => `new ${(ids += 1)}`,
  });
  return { intake, ledger: store as RehearsalLedger, rows: () => store.changed() };
}

/** Applies the machine's decision without running a step or emitting an event. */
async function apply(rows: Rows, clock: Clock, id: string, event: Parameters<Runner['apply']>[1]) {
  const policy = { attempts: 1, retryAt: () => clock.now(), now: () => clock.now() };
  const applied = await rows.claim(id, async (row) => {
    const before = row.facts;
    const after = await row.write(decide(stateOf(before), { facts: before, policy }, event).facts);
    return after === before ? 'ignored' : 'applied';
  });
  return applied ?? 'busy';
}

/** Keeps changed rows in memory, on top of the ledger's rows. */
class Overlay implements RehearsalLedger, Claims {
  readonly #below: RehearsalLedger | null;
  readonly #rows = new Map<string, Facts>();
  readonly #byPath = new Map<string, string[]>();
  readonly #byInode = new Map<string, string[]>();

  constructor(below: RehearsalLedger | null) {
    this.#below = below;
  }

  changed(): readonly Facts[] {
    return [...this.#rows.values()];
  }

  async load(id: string): Promise<Facts | null> {
    return this.#rows.get(id) ?? (await this.#below?.load(id)) ?? null;
  }

  async atPath(folder: string, path: string): Promise<Facts | null> {
    const isThere = (facts: Facts): boolean => facts.folder === folder && facts.path === path;
    const here = this.#those(this.#byPath.get(`${folder}/${path}`)).filter(isThere);
    const present = here.findLast((facts) => !isGivenUp(facts));
    if (present !== undefined) return present;
    const below = this.#now(await this.#below?.atPath(folder, path), isThere);
    return below === null || isGivenUp(below) ? (here.at(-1) ?? below) : below;
  }

  async atLocation(version: FileVersion): Promise<Facts | null> {
    const isSame = (facts: Facts): boolean =>
      stateOf(facts) !== 'superseded' && isSameVersion({ ...facts.version, ctimeNs: version.ctimeNs }, version);
    const above = this.#those(this.#byInode.get(version.ino)).findLast(isSame);
    return above ?? this.#now(await this.#below?.atLocation(version), isSame);
  }

  async pathsNamed(folder: string, stem: string): Promise<readonly string[]> {
    const below = (await this.#below?.pathsNamed(folder, stem)) ?? [];
    const isNamed = ({ folder: other, path }: Facts): boolean =>
      other === folder && (path === stem || path.startsWith(`${stem}.`));
    const above = this.changed().filter(isNamed);
    return [...new Set([...below, ...above.map(({ path }) => path)])];
  }

  async claim(id: string): ReturnType<Claims['claim']> {
    const facts = await this.load(id);
    return facts === null
      ? null
      : {
          facts,
          lost: new AbortController().signal,
          renew: async () => true,
          sends: () => undefined,
          release: async () => undefined,
        };
  }

  async insert(facts: Facts): Promise<void> {
    this.#put(facts);
  }

  async save(facts: Facts): Promise<Facts> {
    const saved = { ...facts, rev: facts.rev + 1 };
    this.#put(saved);
    return saved;
  }

  #put(facts: Facts): void {
    this.#rows.set(facts.id, facts);
    add(this.#byPath, `${facts.folder}/${facts.path}`, facts.id);
    add(this.#byInode, facts.version.ino, facts.id);
  }

  #those(ids: readonly string[] = []): readonly Facts[] {
    return ids.flatMap((id) => this.#rows.get(id) ?? []);
  }

  /** Returns a ledger row with its changes, if it still matches the query. */
  #now(facts: Facts | null | undefined, isFound: (facts: Facts) => boolean): Facts | null {
    if (facts === null || facts === undefined) return null;
    const now = this.#rows.get(facts.id);
    if (now === undefined) return facts;
    return isFound(now) ? now : null;
  }
}

function add(index: Map<string, string[]>, key: string, id: string): void {
  const ids = index.get(key) ?? [];
  if (!ids.includes(id)) index.set(key, [...ids, id]);
}

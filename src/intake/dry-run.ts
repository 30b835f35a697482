import { isSameVersion } from '../pipeline/file/file-version.ts';
import { isGivenUp, stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { decide } from '../pipeline/file/machine.ts';
import type { Clock, FileStore, IntakeStore, LocalFiles } from '../pipeline/file/ports.ts';
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
  const { store, changed } = overlay(ledger);
  const rows = createRows({ store, events: { emit: () => undefined } });
  let ids = 0;
  const intake = createIntake({
    ...world,
    store,
    rows,
    runner: { apply: (id, event) => apply(rows, world.clock, id, event) },
    newId: () => `new ${(ids += 1)}`,
  });
  return { intake, ledger: store as RehearsalLedger, rows: changed };
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
function overlay(below: RehearsalLedger | null) {
  const rows = new Map<string, Facts>();
  const byPath = new Map<string, string[]>();
  const byInode = new Map<string, string[]>();

  const put = (facts: Facts): Facts => {
    rows.set(facts.id, facts);
    add(byPath, `${facts.folder}/${facts.path}`, facts.id);
    add(byInode, facts.version.ino, facts.id);
    return facts;
  };
  const those = (ids: readonly string[] = []): readonly Facts[] => ids.flatMap((id) => rows.get(id) ?? []);
  const load = async (id: string): Promise<Facts | null> => rows.get(id) ?? (await below?.load(id)) ?? null;

  /** Returns a ledger row with its changes, if it still matches the query. */
  const changed = (facts: Facts | null | undefined, isFound: (facts: Facts) => boolean): Facts | null => {
    const now = facts && rows.get(facts.id);
    return now && !isFound(now) ? null : (now ?? facts ?? null);
  };

  const store: RehearsalLedger & Parameters<typeof createRows>[0]['store'] = {
    load,
    atPath: async (folder, path) => {
      const isThere = (facts: Facts): boolean => facts.folder === folder && facts.path === path;
      const here = those(byPath.get(`${folder}/${path}`)).filter(isThere);
      const present = here.findLast((facts) => !isGivenUp(facts));
      if (present !== undefined) return present;
      const known = changed(await below?.atPath(folder, path), isThere);
      return known === null || isGivenUp(known) ? (here.at(-1) ?? known) : known;
    },
    atLocation: async (version) => {
      const isSame = (facts: Facts): boolean =>
        stateOf(facts) !== 'superseded' && isSameVersion({ ...facts.version, ctimeNs: version.ctimeNs }, version);
      const above = those(byInode.get(version.ino)).findLast(isSame);
      return above ?? changed(await below?.atLocation(version), isSame);
    },
    pathsNamed: async (folder, stem) => {
      const known = (await below?.pathsNamed(folder, stem)) ?? [];
      const isNamed = ({ folder: other, path }: Facts): boolean =>
        other === folder && (path === stem || path.startsWith(`${stem}.`));
      return [...new Set([...known, ...[...rows.values()].filter(isNamed).map(({ path }) => path)])];
    },
    claim: async (id) => {
      const facts = await load(id);
      const { signal: lost } = new AbortController();
      return facts && { facts, lost, renew: async () => true, sends: () => undefined, release: async () => undefined };
    },
    insert: async (facts) => void put(facts),
    save: async (facts) => put({ ...facts, rev: facts.rev + 1 }),
  };
  return { store, changed: (): readonly Facts[] => [...rows.values()] };
}

function add(index: Map<string, string[]>, key: string, id: string): void {
  const ids = index.get(key) ?? [];
  if (!ids.includes(id)) index.set(key, [...ids, id]);
}

import { ends, statesIn } from '../../../src/view/stages.ts';
import { fleetInvariants } from '../fleet/judge.ts';
import { notingRows } from '../fleet/observed.ts';
import { memberNames } from '../fleet/schedule.ts';
import { specs } from '../model/specs.ts';
import { judgedSpecs, needsEnd, violationsOf } from '../simulation/judge.ts';
import type { Evidence } from '../simulation/judge.ts';
import type { Lived } from '../simulation/life.ts';
import { storedRows } from '../simulation/machine/database.ts';
import { askPostgres } from '../simulation/machine/postgres.ts';
import { beginsAt } from '../simulation/machine/timeline.ts';

/** One life, as the page replays it. Times are simulated milliseconds since its beginning. */
export interface Recording {
  readonly seed: number;
  readonly isFleet: boolean;
  readonly endsAt: number;
  /** The states that files were in, in the order of a file's life. */
  readonly states: readonly string[];
  readonly hosts: readonly Track[];
  readonly files: readonly Track[];
  readonly events: readonly Happening[];
  readonly lights: readonly Light[];
  /** The state of each file by its id, read from the ledger after the end. */
  readonly ledger: Readonly<Record<string, string>>;
}

type Track = { readonly id: string; readonly name: string; readonly moves: readonly Move[] };
type Move = { readonly at: number; readonly state: string; readonly why: string | null };
type Kind = 'fault' | 'deed' | 'host' | 'note';
type Happening = { readonly at: number; readonly kind: Kind; readonly text: string };
/** `brokenAt` is null when the invariant holds until the end. */
type Light = Pick<Track, 'id'> & { readonly says: string; readonly brokenAt: number | null; readonly found: string };
type Row = Readonly<Record<string, unknown>>;

/** The lines of the simulation's log that the page shows, and how it words them. */
const shownLines: readonly (readonly [Kind, RegExp, string])[] = [
  ['fault', /^(?:killed|disk|reboot|clock) .*/, '$&'],
  ['fault', /^fault [\d.]+ s: (.*)/, '$1'],
  ['fault', /^request (.*) \((?!ok\))(.*)\)/, '$2: $1'],
  ['deed', /^(?:people|operator|meddler) (?!nothing).*/, '$&'],
  ['host', /^(?:boot|started|stopped|died|ended|no start|calm) .*/, '$&'],
  ['note', /^(?:reached|warn|error) (.*)/, '$1'],
];
const hostStates: Row = { boot: 'starting', started: 'running', died: 'killed', ended: 'stopped' };
const states = new Set([...Object.values(statesIn).flat(), 'retrying', ...ends, 'not in the ledger']);

/** Records the next life that this process plays. */
export async function startRecorder(isFleet: boolean) {
  if (isFleet) await askPostgres(notingRows(beginsAt));
  const hosts = (isFleet ? memberNames : ['host']).map((name) => ({ id: name, name, moves: [] as Move[] }));
  const [events, rows, puts]: [Happening[], Row[], Row[]] = [[], [], []];
  const [seen, brokenSince] = [new Map<unknown, string>(), new Map<string, number>()];
  let look: (() => Evidence) | null = null;

  const hear = (line: string): void => {
    const [, time, text = ''] = /^(\d+\.\d{3}) (.*)/.exec(line) ?? [];
    const [at, [word = '', name, , video]] = [Number(time), text.split(' ')];
    for (const [kind, pattern, wording] of shownLines)
      if (pattern.test(text)) events.push({ at, kind, text: text.replace(pattern, wording) });
    const host = isFleet ? hosts.find(({ id }) => id === name) : hosts[0];
    if (word in hostStates) host?.moves.push({ at, state: String(hostStates[word]), why: null });
    if (text.startsWith('service put begins')) puts.push({ at, state: 'uploading', video_id: video });
    if (look === null || !/^(?:ledger|service|boot|died)$/.test(word)) return;
    // A killed process sends nothing: its files are again in the states of their rows.
    if (word === 'died') seen.clear();
    readRows(at);
    const broken = new Set(violationsOf(look()).map(({ invariant }) => invariant));
    for (const id of judgedSpecs) if (!broken.has(id)) brokenSince.delete(id);
    for (const id of broken) brokenSince.set(id, brokenSince.get(id) ?? at);
  };

  const readRows = (at: number): void => {
    const stored = new Map(storedRows('file').map((row) => [row['id'], row]));
    for (const id of new Set([...seen.keys(), ...stored.keys()])) {
      const row: Row = stored.get(id) ?? { id, state: 'not in the ledger' };
      const shown = JSON.stringify([row['path'], row['state'], row['why'], row['video_id']]);
      if (seen.get(id) !== shown) rows.push({ ...row, at });
      seen.set(id, shown);
    }
  };

  const end = async ({ seed, elapsedMs: endsAt, violations }: Lived): Promise<Recording> => {
    if (isFleet) rows.push(...(await askPostgres('SELECT * FROM noted.file ORDER BY ctid')));
    const last = isFleet ? await askPostgres('SELECT * FROM dropcast.file') : storedRows('file');
    const files = [...Map.groupBy(rows, ({ id }) => String(id))].map(([id, own]) => {
      const { folder, path } = own.findLast((row) => row['path'] !== undefined) ?? {};
      return { id, name: `${String(folder)}/${String(path)}`, moves: movesOf(own, puts) };
    });
    const lightOf = (id: string): Light => {
      const { found = '' } = violations.find(({ invariant }) => invariant === id) ?? {};
      const says = id in specs ? `: ${specs[id as keyof typeof specs].says}` : '';
      // The judge of a fleet looks at the end only, and names the moment.
      const named = id in specs ? undefined : /\b(?:at|before) (\d+)/.exec(found)?.[1];
      const since = needsEnd.has(id) ? endsAt : Number(named ?? brokenSince.get(id) ?? endsAt);
      return { id, says, brokenAt: found === '' ? null : since, found };
    };
    const life = { seed, isFleet, endsAt, hosts, files, events };
    return {
      ...life,
      states: [...states].filter((state) => files.some(({ moves }) => moves.some((move) => move.state === state))),
      lights: [...judgedSpecs, ...(isFleet ? Object.keys(fleetInvariants) : [])].map(lightOf),
      ledger: Object.fromEntries(last.map(({ id, state }) => [String(id), String(state)])),
    };
  };
  return { hear, end, watch: (gather: () => Evidence): void => void (look = gather) };
}

/** A row does not say that its bytes are being sent; the requests of its video do. */
function movesOf(rows: readonly Row[], puts: readonly Row[]): readonly Move[] {
  const own = puts.filter((put) => rows.some((row) => row['video_id'] === put['video_id']));
  const moves: Move[] = [];
  for (const { at, state, why } of [...rows, ...own].toSorted(
    (one, other) => Number(one['at']) - Number(other['at']),
  )) {
    const before = moves.at(-1);
    const move = { at: Number(at), state: String(state), why: typeof why === 'string' ? why : null };
    if (state === 'uploading' && before?.state !== 'awaiting upload') continue;
    if (before?.state !== move.state || before.why !== move.why) moves.push(move);
  }
  return moves;
}

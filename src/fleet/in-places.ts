import { fromPlace, toPlace } from './places.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { withFolder } from '../pipeline/expectation.ts';
import type { LedgerSnapshot } from '../ledger/snapshot.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Claim } from '../pipeline/file/ports.ts';
import type { RowsWanted } from '../pipeline/file/row-groups.ts';
import type { FileFilter, FileSelection, SelectionStore } from '../pipeline/file/selection.ts';
import type { RootRows } from '../ledger/records.ts';
import type { Places } from './places.ts';

/**
 * A fleet's ledger as one host sees it. This host's folders have their local paths; all other folders have place names,
 * which are not paths. A query for files to read returns only files in folders that this host can see. Every port is
 * written out, so a new port does not compile until its folders are handled.
 */
export function inPlaces(ledger: Ledger, places: Places): Ledger {
  const { placeOf, folderOf, visible } = places;
  const here = fromPlace(places);
  const there = toPlace(places);
  const all = async (rows: Promise<readonly Facts[]>): Promise<readonly Facts[]> => (await rows).map(here);
  const found = (facts: Facts | null): Facts | null => (facts === null ? null : here(facts));
  const named = <T extends { readonly folder: string }>(row: T): T => ({ ...row, folder: folderOf(row.folder) });
  return {
    // Rows and claims
    load: async (id) => found(await ledger.load(id)),
    save: async (facts, note) => here(await ledger.save(there(facts), note)),
    rows: (wanted) => all(ledger.rows(wantedThere(wanted, places))),
    count: (where, most) => ledger.count(filterThere(where, places), most),
    counts: async ({ where, ...wanted }) =>
      (await ledger.counts({ ...wanted, where: filterThere(where, places) })).map((one) =>
        'folder' in one ? { ...one, folder: folderOf(String(one.folder)) } : one,
      ),
    claim: async (id) => {
      const claim = await ledger.claim(id);
      return claim === null ? null : claimHere(claim, here(claim.facts));
    },

    // Queues. All files in a queue are in one folder, so dropping other hosts' folders drops whole queues.
    heads: async (...asked) => (await ledger.heads(...asked)).map(named).filter(({ folder }) => places.isHere(folder)),
    lastStarts: async (limit) => (await ledger.lastStarts(limit)).map(named),
    before: ledger.before,
    lines: async (without) => (await ledger.lines(without)).map(named),

    // Rounds
    waiting: ledger.waiting,
    feedsDue: ledger.feedsDue,
    noteFeedDue: ledger.noteFeedDue,
    noteFeedAnswer: ledger.noteFeedAnswer,
    fullMarks: async (folders) => (await ledger.fullMarks(folders.map(placeOf))).map(named),

    // Pauses
    pauses: async () =>
      (await ledger.pauses()).map((pause) => ({
        ...pause,
        folder: pause.folder === null ? null : folderOf(pause.folder),
      })),
    savePause: (pause, event) =>
      ledger.savePause({ ...pause, folder: pause.folder === null ? null : placeOf(pause.folder) }, event),
    dropPause: (folder, event) => ledger.dropPause(folder === null ? null : placeOf(folder), event),

    note: ledger.note,
    saveNote: ledger.saveNote,

    // Arrivals
    atPath: async (folder, path) => found(await ledger.atPath(placeOf(folder), path)),
    atLocation: async (version, seen = visible()) => found(await ledger.atLocation(version, seen)),
    insert: (facts, instead) => ledger.insert(there(facts), instead),
    pathsNamed: (folder, stem) => ledger.pathsNamed(placeOf(folder), stem),
    firstStart: (folder) => ledger.firstStart(placeOf(folder)),
    saveFirstStart: (folder, record) => ledger.saveFirstStart(placeOf(folder), record),

    // Leftovers and adoption
    unanswered: ledger.unanswered,
    createdSince: ledger.createdSince,
    noteDeletion: ledger.noteDeletion,
    deletionsSince: ledger.deletionsSince,
    listing: ledger.listing,
    addListed: ledger.addListed,
    listed: ledger.listed,
    forgetListing: ledger.forgetListing,
    beginAudit: (run) => ledger.beginAudit({ ...run, folder: run.folder === null ? null : placeOf(run.folder) }),
    addAudited: ledger.addAudited,
    addFindings: ledger.addFindings,
    listedNear: ledger.listedNear,
    unknownVideos: ledger.unknownVideos,
    countFindings: ledger.countFindings,
    findings: ledger.findings,

    // Views
    totals: ledger.totals,
    doneAfter: ledger.doneAfter,
    find: (name) => all(ledger.find(nameThere(name, places))),
    history: ledger.history,
    lastPassage: ledger.lastPassage,
    passages: ledger.passages,
    lastStates: ledger.lastStates,
    keepEvents: ledger.keepEvents,
    events: ledger.events,
    countFile: (expectation, id, at) => ledger.countFile(withFolder(expectation, placeOf), id, at),
    countedFiles: (expectation, since) => ledger.countedFiles(withFolder(expectation, placeOf), since),
    forgetCounted: ledger.forgetCounted,
    known: (folder, tell) =>
      ledger.known(placeOf(folder), (file) =>
        tell({ ...file, version: here({ folder: placeOf(folder), version: file.version }).version }),
      ),
    movedBy: (folder) => ledger.movedBy(placeOf(folder)),
    snapshot: async (query) => snapshotHere(await ledger.snapshot(query), here),
    latestLines: ledger.latestLines,
    latestPublished: ledger.latestPublished,

    budget: ledger.budget,
    roots: rootsIn(ledger.roots, places),
    counter: ledger.counter,
    selection: selectionIn(ledger.selection, places),
    news: ledger.news,
    id: ledger.id,
    repairs: ledger.repairs,
    verify: ledger.verify,
    backUp: ledger.backUp,
    [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose](),
  };
}

/**
 * Translates the folders in a row query. Every group is named, so a new group does not compile until its folders are
 * handled.
 */
function wantedThere(wanted: RowsWanted, places: Places): RowsWanted {
  const { placeOf, visible } = places;
  switch (wanted.group) {
    case 'any':
      return { ...wanted, where: filterThere(wanted.where ?? {}, places) };
    case 'twins':
      return { ...wanted, of: toPlace(places)(wanted.of) };
    case 'to put away':
    case 'waiting for disk':
      return { ...wanted, seen: wanted.seen ?? visible() };
    case 'expired':
      return { ...wanted, folders: wanted.folders.map(placeOf) };
    case 'crowding':
      return { ...wanted, mark: { ...wanted.mark, folder: placeOf(wanted.mark.folder) } };
    case 'came in':
    case 'stopped by disk':
      return { ...wanted, folder: placeOf(wanted.folder) };
    default:
      return wanted satisfies RowsWanted<OfNoFolder>;
  }
}

type OfNoFolder =
  | ('in state' | 'retrying' | 'due' | 'stranded')
  | ('to amend' | 'abandoned' | 'unrouted' | 'too large' | 'to compare' | 'to adopt');

/**
 * Returns the claim with translated facts. The claim may be a class instance, so its methods are called on the
 * original.
 */
function claimHere(claim: Claim, facts: Facts): Claim {
  return {
    facts,
    lost: claim.lost,
    renew: () => claim.renew(),
    sends: () => claim.sends(),
    release: () => claim.release(),
  };
}

/** Stores root records per host, because a share's directory differs between hosts. */
function rootsIn(roots: RootRows, { ownName, placeOf }: Places): RootRows {
  return {
    load: (folder) => roots.load(ownName(folder)),
    save: (folder, record) => roots.save(ownName(folder), record),
    expected: (folder, ...rest) => roots.expected(placeOf(folder), ...rest),
  };
}

function selectionIn(selection: SelectionStore, places: Places): SelectionStore {
  const here = fromPlace(places);
  const there = (wanted: FileSelection): FileSelection => filterThere(wanted, places);
  return {
    page: async (wanted, range) => {
      const page = await selection.page(there(wanted), range);
      return { ...page, files: page.files.map(here) };
    },
    facets: async (wanted) => {
      const facets = await selection.facets(there(wanted));
      const folders = facets.folders.map(({ value, files }) => ({ value: places.folderOf(value), files }));
      return { ...facets, folders };
    },
    ids: (wanted, most, after) => selection.ids(there(wanted), most, after),
  };
}

function snapshotHere(snapshot: LedgerSnapshot, here: ReturnType<typeof fromPlace>): LedgerSnapshot {
  return {
    ...snapshot,
    working: snapshot.working.map(here),
    needing: snapshot.needing.map(here),
    causes: snapshot.causes.map((cause) => ({
      ...cause,
      first: here(cause.first),
      examples: cause.examples.map(here),
    })),
  };
}

/** Translates the folders in a filter. */
function filterThere(filter: FileFilter, places: Places): FileFilter {
  const { folder, text, paused } = filter;
  return {
    ...filter,
    ...(folder !== undefined && { folder: places.placeOf(folder) }),
    ...(text !== undefined && { text: nameThere(text, places) }),
    ...(paused !== undefined && { paused: paused.map(places.placeOf) }),
  };
}

/** Translates a path typed by a person to the name of its place. */
function nameThere(name: string, { shared, placeOf, isHere }: Places): string {
  if (!isHere(name)) return name;
  const inner = shared()
    .map(({ folder }) => folder)
    .filter((folder) => name === folder || name.startsWith(folder.endsWith('/') ? folder : `${folder}/`))
    .toSorted((one, other) => other.length - one.length)[0];
  return inner === undefined ? placeOf(name) : `${placeOf(inner)}${name.slice(inner.length)}`;
}

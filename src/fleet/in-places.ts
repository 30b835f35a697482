import { fromPlace, toPlace } from './places.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { withFolder } from '../ledger/expectation-key.ts';
import type { LedgerSnapshot } from '../ledger/snapshot.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Claim } from '../pipeline/file/ports.ts';
import type { FileSelection, SelectionStore } from '../pipeline/file/selection.ts';
import type { NewsRows } from '../ledger/news-rows.ts';
import type { RootRows } from '../ledger/records.ts';
import type { Places } from './places.ts';

/**
 * The ledger of a fleet as one host sees it: its own folders have the paths that they have here, and all others the name of their
 * place, which is no path. Whoever asks for files to read gets those of folders that this host can see. Every port is written out: a new
 * one does not compile until somebody has thought of its folders.
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
    due: (...asked) => all(ledger.due(...asked)),
    count: ledger.count,
    twins: (facts, passing) => all(ledger.twins(there(facts), passing)),
    stranded: (twin) => all(ledger.stranded(twin)),
    claim: async (id) => {
      const claim = await ledger.claim(id);
      return claim === null ? null : claimHere(claim, here(claim.facts));
    },

    // Queues: the files of a queue are of one folder, so that leaving out whole queues leaves those of the others whole.
    heads: async (...asked) => (await ledger.heads(...asked)).map(named).filter(({ folder }) => places.isHere(folder)),
    lastStarts: async (limit) => (await ledger.lastStarts(limit)).map(named),
    before: ledger.before,
    lines: async (without) => (await ledger.lines(without)).map(named),

    // Rounds
    waiting: ledger.waiting,
    isExpecting: ledger.isExpecting,
    feedsDue: ledger.feedsDue,
    noteFeedDue: ledger.noteFeedDue,
    noteFeedAnswer: ledger.noteFeedAnswer,
    toAmend: (limit) => all(ledger.toAmend(limit)),
    toDispose: (limit, seen = visible()) => all(ledger.toDispose(limit, seen)),
    waitingForDisk: (limit, seen = visible()) => all(ledger.waitingForDisk(limit, seen)),
    expired: (now, folders, limit) => all(ledger.expired(now, folders.map(placeOf), limit)),
    fullMarks: async (folders) => (await ledger.fullMarks(folders.map(placeOf))).map(named),
    oldestKept: (mark, limit, without) =>
      all(ledger.oldestKept({ ...mark, folder: placeOf(mark.folder) }, limit, without)),
    deletions: ledger.deletions,

    // Pauses
    pauses: async () =>
      (await ledger.pauses()).map((pause) => ({
        ...pause,
        folder: pause.folder === null ? null : folderOf(pause.folder),
      })),
    savePause: (pause, event) =>
      ledger.savePause({ ...pause, folder: pause.folder === null ? null : placeOf(pause.folder) }, event),
    dropPause: (folder, event) => ledger.dropPause(folder === null ? null : placeOf(folder), event),
    countUnfinished: (paused) => ledger.countUnfinished(paused.map(placeOf)),

    // What comes in
    atPath: async (folder, path) => found(await ledger.atPath(placeOf(folder), path)),
    atLocation: async (version, seen = visible()) => found(await ledger.atLocation(version, seen)),
    insert: (facts, instead) => ledger.insert(there(facts), instead),
    pathsNamed: (folder, stem) => ledger.pathsNamed(placeOf(folder), stem),
    unrouted: () => all(ledger.unrouted()),
    stoppedByDisk: (folder, after, most) => all(ledger.stoppedByDisk(placeOf(folder), after, most)),
    firstStart: (folder) => ledger.firstStart(placeOf(folder)),
    saveFirstStart: (folder, record) => ledger.saveFirstStart(placeOf(folder), record),

    // Leftovers and adoption
    unanswered: ledger.unanswered,
    abandoned: (ends, limit) => all(ledger.abandoned(ends, limit)),
    hasVideo: ledger.hasVideo,
    noteDeletion: ledger.noteDeletion,
    deletionsSince: ledger.deletionsSince,
    toCompare: (limit) => all(ledger.toCompare(limit)),
    toAdopt: () => all(ledger.toAdopt()),
    countToAdopt: ledger.countToAdopt,
    listing: ledger.listing,
    addListed: ledger.addListed,
    listed: ledger.listed,
    forgetListing: ledger.forgetListing,

    // Views
    counts: ledger.counts,
    waitingSince: ledger.waitingSince,
    backlog: ledger.backlog,
    feedsAhead: ledger.feedsAhead,
    list: (filter) => all(ledger.list(filter)),
    find: (name) => all(ledger.find(nameThere(name, places))),
    history: ledger.history,
    known: (folder, tell) =>
      ledger.known(placeOf(folder), (file) =>
        tell({ ...file, version: here({ folder: placeOf(folder), version: file.version }).version }),
      ),
    movedBy: (folder) => ledger.movedBy(placeOf(folder)),
    hasSentTo: ledger.hasSentTo,
    snapshot: async (query) => snapshotHere(await ledger.snapshot(query), here),
    ended: ledger.ended,
    latestLines: ledger.latestLines,
    latestPublished: ledger.latestPublished,

    budget: ledger.budget,
    roots: rootsIn(ledger.roots, places),
    counter: ledger.counter,
    selection: selectionIn(ledger.selection, places),
    news: newsIn(ledger.news, places),
    id: ledger.id,
    repairs: ledger.repairs,
    verify: ledger.verify,
    backUp: ledger.backUp,
    [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose](),
  };
}

/** Whatever kind of object grants it. */
function claimHere(claim: Claim, facts: Facts): Claim {
  return {
    facts,
    lost: claim.lost,
    renew: () => claim.renew(),
    sends: () => claim.sends(),
    release: () => claim.release(),
  };
}

/** Which directory a share is differs from host to host: each remembers its own. */
function rootsIn(roots: RootRows, { ownName, placeOf }: Places): RootRows {
  return {
    load: (folder) => roots.load(ownName(folder)),
    save: (folder, record) => roots.save(ownName(folder), record),
    expected: (folder, ...rest) => roots.expected(placeOf(folder), ...rest),
  };
}

function selectionIn(selection: SelectionStore, places: Places): SelectionStore {
  const here = fromPlace(places);
  const there = (wanted: FileSelection): FileSelection => ({
    ...wanted,
    ...(wanted.folder !== undefined && { folder: places.placeOf(wanted.folder) }),
    ...(wanted.text !== undefined && { text: nameThere(wanted.text, places) }),
  });
  return {
    page: async (wanted, range) => {
      const page = await selection.page(there(wanted), range);
      return { ...page, files: page.files.map(here) };
    },
    count: (wanted, newerThan) => selection.count(there(wanted), newerThan),
    facets: async (wanted) => {
      const facets = await selection.facets(there(wanted));
      const folders = facets.folders.map(({ value, files }) => ({ value: places.folderOf(value), files }));
      return { ...facets, folders };
    },
    ids: (wanted, most, after) => selection.ids(there(wanted), most, after),
  };
}

function newsIn(news: NewsRows, places: Places): NewsRows {
  const here = fromPlace(places);
  return {
    recall: news.recall,
    commit: news.commit,
    waiting: news.waiting,
    countWaiting: news.countWaiting,
    markTried: news.markTried,
    markRefused: news.markRefused,
    trim: news.trim,
    lastPassage: news.lastPassage,
    passages: news.passages,
    lastStates: news.lastStates,
    filesById: async (ids) => (await news.filesById(ids)).map(here),
    keepEvents: news.keepEvents,
    events: news.events,
    eventsAfter: news.eventsAfter,
    totals: news.totals,
    cameIn: async (folder, since) => (await news.cameIn(places.placeOf(folder), since)).map(here),
    countFile: (expectation, id, at) => news.countFile(withFolder(expectation, places.placeOf), id, at),
    countedFiles: (expectation, since) => news.countedFiles(withFolder(expectation, places.placeOf), since),
    forgetCounted: news.forgetCounted,
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

/** A path as a person writes it, by the name of the place that it lies in. */
function nameThere(name: string, { shared, placeOf, isHere }: Places): string {
  if (!isHere(name)) return name;
  const inner = shared()
    .map(({ folder }) => folder)
    .filter((folder) => name === folder || name.startsWith(folder.endsWith('/') ? folder : `${folder}/`))
    .toSorted((one, other) => other.length - one.length)[0];
  return inner === undefined ? placeOf(name) : `${placeOf(inner)}${name.slice(inner.length)}`;
}

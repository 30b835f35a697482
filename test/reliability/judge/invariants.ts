import type { Evidence, RecordOnService, Version } from './evidence.ts';
import { illegalStep } from './histories.ts';

export interface Violation {
  readonly invariant: Invariant;
  /** File or record. */
  readonly what: string;
  readonly evidence: string;
}

/** What must hold whatever happened on the way. Each names the file or record that breaks it, and how. */
export const invariants = {
  'every file on disk is ready, or a person is notified': ({ disk, versions, records, rows, allows }) =>
    disk.flatMap(({ path, sha256 }) => {
      const version = versions.find((one) => one.path === path && one.isLeft && one.sha256 === sha256);
      if (version === undefined || version.isForeign === true || isReady(records, sha256)) return [];
      const row = rows.findLast((one) => one.path === path);
      if (row === undefined) return [found(path, 'it is on disk, not on the service, and has no row')];
      const isTold = ['failed', 'held'].includes(row.state) && row.why !== null;
      if (isTold && allows.needsPerson.includes(path)) return [];
      return [found(path, `it is on disk and not on the service; its row is ${row.state}: ${row.why ?? 'no reason'}`)];
    }),

  'no content is lost': ({ versions, disk, records }) =>
    versions
      .filter(({ isLeft, sha256 }) => isLeft && !disk.some((file) => file.sha256 === sha256))
      .filter(({ sha256, isForeign }) => isForeign === true || !isReady(records, sha256))
      .map(({ path, sha256 }) => found(path, `${short(sha256)} is neither on disk nor ready on the service`)),

  'no content is a video twice': ({ records, versions, allows }) =>
    [...new Set(versions.map(({ sha256 }) => sha256))].flatMap((sha256) => {
      const holders = alive(records).filter(({ bodies, status }) => bodies.includes(sha256) && status !== 'failed');
      const most = allows.duplicates ? versions.filter((one) => one.sha256 === sha256).length : 1;
      const ids = holders.map(({ id }) => id).join(', ');
      return holders.length > most ? [found(pathsOf(versions, sha256), `${ids} all have ${short(sha256)}`)] : [];
    }),

  'no record gets a second complete body': ({ records }) =>
    records
      .filter(({ bodies }) => bodies.length > 1)
      .map(({ id, title, bodies }) => found(`${id} (${title})`, `${bodies.length} complete bodies`)),

  'no mixture of two versions is sent': ({ records, versions }) =>
    records
      .filter(({ isForeign }) => !isForeign)
      .flatMap(({ id, title, bodies }) =>
        bodies
          .filter((body) => !versions.some(({ sha256 }) => sha256 === body))
          .map((body) => found(`${id} (${title})`, `${short(body)} was never dropped`)),
      ),

  'no file that is known to be incomplete is sent': ({ records, versions }) =>
    versions
      .filter(({ isBroken }) => isBroken === true)
      .filter(({ sha256 }) => records.some(({ bodies }) => bodies.includes(sha256)))
      .map(({ path }) => found(path, 'it was sent')),

  'exit code 0 means that no person is needed': ({ exits, rows, disk }) => {
    const last = exits.findLast(({ command }) => command.startsWith('once'));
    if (last?.code !== 0) return [];
    return rows
      .filter(({ state, path }) => ['failed', 'held'].includes(state) && disk.some((file) => file.path === path))
      .filter(({ path, id }) => rows.findLast((row) => row.path === path)?.id === id)
      .map(({ path, state, why }) =>
        found(path, `it is ${state} (${why ?? 'no reason'}), and ${last.command} ended with 0`),
      );
  },

  'a video has the title of its file': ({ records, versions }) =>
    alive(records)
      .filter(({ isForeign }) => !isForeign)
      .flatMap(({ id, title, bodies }) => {
        const titles = versions.filter(({ sha256 }) => bodies.includes(sha256)).flatMap((one) => one.titles);
        return titles.length === 0 || titles.includes(title)
          ? []
          : [found(id, `${title} instead of ${titles.join(', ')}`)];
      }),

  'every empty record is in use or listed': ({ records, rows, listed }) => {
    const free = [...listed];
    const take = ({ id, title }: RecordOnService): boolean => {
      const byId = free.findIndex(({ videoId }) => videoId === id);
      const at = byId >= 0 ? byId : free.findIndex((one) => one.videoId === null && one.title === title);
      if (at >= 0) free.splice(at, 1);
      return at >= 0;
    };
    return alive(records)
      .filter(({ bodies, isForeign, status }) => bodies.length === 0 && !isForeign && status === 'pending')
      .filter(({ id }) => !rows.some((row) => row.videoId === id && !isOver(row.state)))
      .filter((record) => !take(record))
      .map(({ id, title }) => found(`${id} (${title})`, 'it is empty, no living row has it, and nothing lists it'));
  },

  'requests stay under their bound': ({ journal, records, allows }) => {
    const about = records.map(({ id, title }) => ({
      what: `${id} (${title})`,
      count: journal.filter(({ path }) => path.includes(id)).length,
    }));
    return [
      ...about
        .filter(({ count }) => count > allows.requestsPerVideo)
        .map(({ what, count }) => found(what, `${count} requests, at most ${allows.requestsPerVideo} are allowed`)),
      ...(journal.length > allows.requests
        ? [found('all', `${journal.length} requests, allowed ${allows.requests}`)]
        : []),
    ];
  },

  'only its own empty or failed records are deleted': ({ journal, records }) =>
    journal
      .filter(({ method, status }) => method === 'DELETE' && status !== null)
      .flatMap(({ path, status }) => {
        const record = records.find(({ id }) => path.endsWith(id));
        if (record === undefined || record.isForeign) return [found(path, 'it was not made by dropcast')];
        return status === 'pending' || status === 'failed' ? [] : [found(path, `it was ${status ?? 'unknown'}`)];
      }),

  'every process ends, in time and with an exit code that says how': ({ exits, allows }) =>
    exits.flatMap(({ command, code, signal, sent, stderr, isStuck }) => {
      if (isStuck) return [found(command, `it did not end; last words: ${stderr.slice(-300)}`)];
      if (signal !== sent && signal !== null) return [found(command, `it ended with ${signal}: ${stderr.slice(-300)}`)];
      if (/dropcast crashed|\n\s+at .+:\d+/.test(stderr))
        return [found(command, `it crashed: ${stderr.slice(0, 600)}`)];
      const isFine = code === null || code === 0 || allows.exitCodes.includes(code);
      return isFine ? [] : [found(command, `exit code ${code}: ${stderr.slice(-300)}`)];
    }),

  'rows move only along the edges of the machine': ({ history }) =>
    [...history].flatMap(([file, states]) => {
      const step = illegalStep(states);
      return step === null ? [] : [found(file, `${step} (${states.join(' → ')})`)];
    }),

  'each export has every finished video once': ({ exports, rows }) =>
    [...exports].flatMap(([name, text]) => {
      // Not those in addresses.
      const listed = [...text.matchAll(/(?<!\/)\bvid_\w+/g)].map(([id]) => id);
      const ids = listed.filter((id, n) => listed.indexOf(id) === n);
      const done = rows.flatMap(({ state, videoId }) => (state === 'done' ? (videoId ?? []) : []));
      return [
        ...(ids.length < listed.length ? [found(name, `it has a video twice: ${text}`)] : []),
        ...done.filter((id) => !ids.includes(id)).map((id) => found(name, `it does not have ${id}: ${text}`)),
      ];
    }),

  'each finished video has a whole link file next to it': ({ linkFiles, rows }) => {
    if (linkFiles === null) return [];
    const done = rows.filter(({ state }) => state === 'done');
    const expected = new Map(done.map(({ path, videoId }) => [`${path}.dropcast.json`, videoId]));
    return [
      ...[...expected].filter(([path, id]) => linkFiles.get(path) !== id).map(([path]) => found(path, 'it is missing')),
      ...[...linkFiles.keys()].filter((path) => path.endsWith('.link')).map((path) => found(path, 'it is left behind')),
    ];
  },

  'the key never goes to the upload host': ({ leaks }) => leaks.map((id) => found(id, 'its upload carried the key')),
} satisfies Record<string, (evidence: Evidence) => readonly Omit<Violation, 'invariant'>[]>;

export type Invariant = keyof typeof invariants;

/** Pure: every breach of an invariant. */
export function violationsOf(evidence: Evidence): readonly Violation[] {
  return (Object.keys(invariants) as Invariant[]).flatMap((invariant) =>
    invariants[invariant](evidence).map((one) => ({ invariant, ...one })),
  );
}

function found(what: string, evidence: string): Omit<Violation, 'invariant'> {
  return { what, evidence };
}

function alive(records: readonly RecordOnService[]): readonly RecordOnService[] {
  return records.filter(({ isDeleted }) => !isDeleted);
}

function isReady(records: readonly RecordOnService[], sha256: string): boolean {
  return alive(records).some(({ status, bodies }) => status === 'ready' && bodies.includes(sha256));
}

function isOver(state: string): boolean {
  return ['done', 'failed', 'held', 'skipped', 'vanished', 'superseded'].includes(state);
}

function pathsOf(versions: readonly Version[], sha256: string): string {
  return versions
    .filter((one) => one.sha256 === sha256)
    .map(({ path }) => path)
    .join(', ');
}

function short(sha256: string): string {
  return sha256.slice(0, 12);
}

import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { serviceOf } from '../config/installed-service.ts';
import { diskOf, freedBy } from '../disk/file-system.ts';
import { isClosed, isReadable } from '../disk/accepted-file.ts';
import { mediaDuration, createLocalFiles, isThere } from '../disk/local-files.ts';
import { requireWatched } from '../disk/held-directory.ts';
import type { IsWatched } from '../disk/held-directory.ts';
import { Folders } from '../intake/folders.ts';
import { createIntake } from '../intake/intake.ts';
import { createDoubtRows } from '../intake/first-start.ts';
import { createStoppedFiles, createLeftBehind } from '../intake/stopped-files.ts';
import type { Logger } from '../log/logger.ts';
import { createConductor } from '../pipeline/conductor.ts';
import type { ConductorSettings } from '../pipeline/conductor.ts';
import type { Clock, LocalFiles } from '../pipeline/file/ports.ts';
import { createRows } from '../pipeline/file/rows.ts';
import { OpenWriters } from '../watch/open-writers.ts';
import type { FolderClaimant } from '../watch/root-mark.ts';
import type { EventStream } from './events.ts';
import type { ServiceConnection } from './service-connection.ts';
import type { State } from './state/open-state.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import { folderAway } from '../pipeline/pause.ts';

interface AssemblyWorld extends State {
  readonly owner: FolderClaimant;
  /** Whether a folder is watched; a reload may change the answer. See `requireWatched`. */
  readonly isWatched: IsWatched;
  readonly service: ServiceConnection;
  readonly events: EventStream;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Builds the parts that a file passes through: folders → intake → rows → conductor. */
export function assemble(config: Config, { ledger, service, sharing, ...world }: AssemblyWorld) {
  const { events, clock, logger, receipts, isWatched } = world;
  const rows = createRows({ store: ledger, events });
  // The folders need the intake and the local files need the folders, so both are looked up lazily.
  const writers = new OpenWriters();
  const files = createLocalFiles({
    whyAway: (folder, missing) => folders.whyAway(folder, missing),
    // Called once no process can open the file by its name any longer. 0 forces a new pass over /proc: an older one may
    // have missed a writer.
    writerOf: async (version) => (await writers.of(version, 0))?.command ?? null,
    isSidecarUsed: (folder, sidecar) => folders.isSidecarUsed(folder, sidecar),
    isWatched,
    service: serviceOf(config.file),
  });
  const whyNotTouched = (folder: string): string | null => sharing.whyNotHere(folder) ?? folders.whyOffLimits(folder);
  const local = keptOff(files, whyNotTouched);
  const { host, budget } = service;
  const conductor = createConductor(
    {
      store: ledger,
      rows,
      host,
      library: host,
      local,
      budget,
      receipts,
      events,
      clock,
      logger,
      diskOf,
      freedBy: async (facts) => freedBy(requireWatched(facts, isWatched)),
      uploadsStartAt: () => service.times.startAt(),
      quota: () => service.quota(),
      mayTake: sharing.mayTake,
      turn: sharing,
      elsewhere: sharing.elsewhere({ load: ledger.load, hash: local.hash }),
      isOffLimits: (folder) => whyNotTouched(folder) !== null,
      durationOf: async (facts) => {
        const { folder, path } = requireWatched(facts, isWatched);
        return mediaDuration(folder, path);
      },
      takeBackNote: `undo:${config.ledger === null ? '' : config.hostName}`,
      isArchiveSeen: () => folders.isArchiveSeen(),
      newToken: () => randomBytes(16).toString('hex'),
    },
    settingsOf(config),
  );
  const intake = createIntake({
    store: ledger,
    rows,
    local,
    runner: conductor,
    clock,
    newId: () => `f_${randomBytes(6).toString('hex')}`,
    exists: isThere,
  });
  const stopped = createStoppedFiles({
    store: ledger,
    runner: conductor,
    isReadable: (facts) => isReadable(facts, isWatched),
    isClosed: (facts) => isClosed(facts, isWatched),
  });
  const folders: Folders = new Folders({
    config,
    intake,
    ledger,
    events,
    logger,
    owner: world.owner,
    roots: { ...ledger.roots, expected: (...asked) => ledger.roots.expected(...asked, rows.held()) },
    leftBehind: createLeftBehind({ store: ledger, rows, logger }),
    stoppedFiles: async (folder) => {
      conductor.folderSeen(folder);
      return stopped(folder);
    },
    doubtRows: createDoubtRows({ selection: ledger.selection, rows, now: () => clock.now() }),
    broke: (error) => conductor.broke('intake', error),
    tookIn: () => conductor.tookIn(),
  });
  return { rows, conductor, folders, local };
}

/** Extracts the conductor's settings from a configuration. */
export function settingsOf(config: Config): ConductorSettings {
  return {
    uploads: config.uploads.concurrency,
    isAuto: config.uploads.isAuto,
    maxSizeBytes: config.uploads.maxSizeBytes,
    folderUploads: new Map(
      config.folders.flatMap(({ path, uploads }): [string, number][] =>
        uploads === undefined ? [] : [[path, uploads]],
      ),
    ),
    retry: config.retry,
    poll: config.poll,
    publish: config.publish,
    isMarking: config.service.isMarking,
    deletesIn: config.folders.filter(({ afterReady }) => afterReady.kind === 'delete').map(({ path }) => path),
  };
}

/**
 * Leaves files alone in folders that are off limits; their rows wait, as in a folder that is away. Folders are off
 * limits if another dropcast owns them, even for files in our ledger; if they do not respond, because each call would
 * block a thread and a slot; and if only other fleet hosts can read them, because a file missing here proves nothing.
 *
 * @param whyOffLimits returns why nothing in a folder may be touched, or null
 */
export function keptOff(local: LocalFiles, whyOffLimits: (folder: string) => string | null): LocalFiles {
  const offLimits = (folder: string): Failure | null => {
    const why = whyOffLimits(folder);
    return why === null ? null : { kind: 'suspended', code: folderAway, message: `${folder}: ${why}` };
  };
  const unless = async <T extends { readonly folder: string }, A>(
    file: T,
    work: (file: T) => Promise<A>,
  ): Promise<A | { readonly ok: false; readonly failure: Failure }> => {
    const failure = offLimits(file.folder);
    return failure === null ? await work(file) : { ok: false, failure };
  };
  return {
    check: async (facts) => offLimits(facts.folder) ?? (await local.check(facts)),
    hash: (facts, ...how) => unless(facts, (file) => local.hash(file, ...how)),
    checksums: (file) => unless(file, local.checksums),
    dispose: (facts, ...how) => unless(facts, (file) => local.dispose(file, ...how)),
  };
}

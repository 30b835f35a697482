import { posix } from 'node:path';
import type { FolderConfig } from '../../config/config.ts';
import { mayHaveArrived, stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { isIgnored } from '../../pipeline/file/reasons.ts';
import type { Daemon } from '../daemon.ts';
import { heldWords } from '../../view/hosts/host-words.ts';
import { Answers, diskHangs, Patience, wantedFiles } from './wanted.ts';
import type { CommandOptions, MarkWanted, WantedFile } from './wanted.ts';

export type IgnoreResult = Awaited<ReturnType<typeof ignore>>;

/** One request to look, one to delete, one to verify. */
const requestsPerRecord = 3;

/** Marks files that should not be uploaded as `skipped` and records who asked. Uploads in progress are aborted. */
export async function ignore(daemon: Daemon, wanted: MarkWanted, { isPlanned = false }: CommandOptions = {}) {
  const answers = new Answers();
  const patience = new Patience();
  const { isUndone = false, by } = wanted;
  for await (const file of wantedFiles(daemon, wanted, answers.refuse)) {
    const { facts } = file;
    const act = async () => (isUndone ? takeBack(daemon, patience, facts) : doIgnore(daemon, patience, facts, by));
    const why = isUndone ? (isIgnored(facts) ? null : 'not ignored') : whyNot(file);
    const refusal = why ?? (isPlanned ? null : await act());
    if (refusal === null) answers.done.push(file.facts);
    else answers.leave(file, refusal);
  }
  const { done } = answers;
  const empty = done.filter(({ videoId, uploadedAt }) => videoId !== null && uploadedAt === null).length;
  return {
    ...answers.result(isPlanned),
    // Undoing costs requests too, because a file then needs a new record.
    requests: empty * requestsPerRecord,
    /** Empty records that are deleted on the service. */
    records: isUndone ? 0 : empty,
    /** Ids of the files now ignored, or no longer ignored. */
    done: done.map(({ id }) => id),
    excludes: isUndone ? [] : await excludesOf(daemon, done),
  };
}

function whyNot({ facts, name }: WantedFile): string | null {
  if (isIgnored(facts)) return 'already ignored';
  switch (stateOf(facts)) {
    case 'failed':
    case 'held':
      return null;
    case 'queued':
    case 'awaiting upload':
    case 'retrying':
      return mayHaveArrived(facts) ? whyTooLate : null;
    case 'processing':
    case 'awaiting publish':
      return whyTooLate;
    case 'done':
      // Results for a selection are grouped by reason, so its text must not contain an id.
      return `done: its video is on the service; \`dropcast videos delete ${name === null ? 'ID' : facts.videoId}\` deletes it there`;
    default:
      return `${stateOf(facts)}: nothing to ignore`;
  }
}

const whyTooLate = 'it was sent completely: delete its video on the service if you do not want it';

async function doIgnore({ conductor, fleet }: Daemon, patience: Patience, { id, folder }: Facts, by: string) {
  const event = { type: 'IGNORE', by } as const;
  const applied = await patience.during(folder, (isOver) => conductor.interrupt(id, event, isOver));
  if (applied === 'applied') return null;
  return applied === 'busy' ? heldWords(fleet, id) : whyTooLate;
}

async function takeBack({ conductor, folders, fleet }: Daemon, patience: Patience, facts: Facts) {
  const { id, folder, plan } = facts;
  // The rules and the sidecar may have changed since.
  if ((await patience.forDisk(folder, () => folders.reroute(facts))) === null) return diskHangs;
  const applied = await patience.during(folder, (isOver) => conductor.interrupt(id, { type: 'UNIGNORE' }, isOver));
  if (applied === 'applied') return null;
  if (applied === 'busy') return heldWords(fleet, id);
  return plan === null ? 'no rule matches it: add one, then repeat this' : 'its state has just changed';
}

/** Minimum number of files that share an extension: fewer may be a coincidence. */
const leastAlike = 2;

/**
 * Returns patterns for a folder's `exclude:`, for extensions that several of these files share and that no file in
 * progress or done in their folder has.
 */
async function excludesOf(daemon: Pick<Daemon, 'config' | 'ledger'>, files: readonly Facts[]) {
  const alike = Map.groupBy(files, ({ folder, path }) => `${folder}\0${posix.extname(path)}`);
  const excludes: { folder: string; key: string; pattern: string }[] = [];
  for (const [name, { length }] of alike) {
    const [path = '', ending = ''] = name.split('\0');
    const folder = daemon.config().folders.find((one) => one.path === path);
    if (folder === undefined || ending === '' || length < leastAlike || (await isWanted(daemon, folder, ending)))
      continue;
    excludes.push({ folder: path, key: folder.key, pattern: `**/*${ending}` });
  }
  return excludes;
}

async function isWanted(
  { ledger }: Pick<Daemon, 'ledger'>,
  { path: folder }: FolderConfig,
  ending: string,
): Promise<boolean> {
  const states = ['processing', 'awaiting publish', 'done'];
  return (await ledger.count({ folder, states, text: ending })) > 0;
}

import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { errnoOf } from '../errno.ts';
import { shellWord } from '../shell-word.ts';
import { markName, readMark, readSmallFile } from './root-mark.ts';
import type { FleetFolders, FolderClaimant, FolderOwner, FoundMark } from './root-mark.ts';

/** File in a state directory that names its ledger, because an open ledger cannot be read. */
const ledgerIdName = 'ledger.id';

/** Returns the owner that this process writes into its marks. Never throws: details that cannot be read stay empty. */
export async function folderOwner(stateDir: string, ledger: string): Promise<FolderOwner> {
  const machine = (await readFile('/etc/machine-id', 'utf8').catch(() => '')).trim();
  return {
    ledger,
    stateDir: await realpath(stateDir).catch(() => stateDir),
    // Hashed, because machine-id(5) asks that the id be kept confidential.
    host: machine === '' ? null : createHash('sha256').update(`dropcast ${machine}`).digest('hex').slice(0, 32),
    hostName: hostname(),
  };
}

type MarkVerdict =
  | { readonly is: 'free' | 'ours' }
  /** The owner is gone from this machine. */
  | { readonly is: 'stale'; readonly text: string; readonly owner: FolderOwner }
  /** The mark is ours, but predates the ledger's move to a fleet. */
  | { readonly is: 'without place'; readonly text: string; readonly owner: FolderOwner }
  | { readonly is: 'foreign'; readonly why: string };

/** Decides whose mark this is. Only owners on this machine can be proven gone. */
export async function judge(folder: string, found: FoundMark, us: FolderClaimant): Promise<MarkVerdict> {
  if (found.is === 'none') return { is: 'free' };
  const path = join(folder, markName);
  // The message must not advise removing the mark, which may be ours.
  if (found.is === 'unclear' && found.isUnread === true)
    return {
      is: 'foreign',
      why: `${path} says which dropcast watches it, and ${found.why}; dropcast keeps trying`,
    };
  if (found.is === 'unclear') return foreign(`${path} may be another dropcast's: ${found.why}`, folder);
  const { owner, text } = found;
  const isHere = owner.host === us.host;
  const isSameLedger = owner.ledger === us.ledger;
  const fleet = us.fleet ?? null;
  if (isSameLedger && fleet !== null && owner.place !== undefined) return judgePlace(folder, owner.place, fleet);
  const other = `the dropcast with the state directory ${owner.stateDir}${isHere && us.host !== null ? '' : ` on ${owner.hostName}`}`;
  const isSameHost = isHere || owner.host === null || us.host === null;
  if (isSameLedger && isSameHost && (await isSameDirectory(owner.stateDir, us.stateDir)))
    return fleet === null ? { is: 'ours' } : { is: 'without place', text, owner };
  if (isHere && us.host !== null && (await isGone(owner))) return { is: 'stale', text, owner };
  return foreign(isSameLedger ? `${other}, a copy of ours, watches it` : `${other} watches it`, folder);
}

/** Judges a fleet's mark. Every host of the fleet may watch the place; a mark for another place is never taken over. */
function judgePlace(folder: string, place: string, fleet: FleetFolders): MarkVerdict {
  const expected = fleet.placeOf(folder);
  if (place === expected) return { is: 'ours' };
  const unproven = fleet.whyUnproven?.(folder) ?? null;
  if (unproven !== null) return { is: 'foreign', why: `its mark says that it is ${place} of this fleet: ${unproven}` };
  return {
    is: 'foreign',
    why: `its mark says that it is ${place} of this fleet, and this host expects ${expected} there: perhaps another file system is mounted; if this is the right one, correct share of the folder on the hosts that watch it, or start dropcast again if it was not mounted then`,
  };
}

/** Returns why a directory below or above one of ours belongs to another dropcast, or null. */
export async function whyForeign(directory: string, us: FolderClaimant): Promise<string | null> {
  const found = await readMark(directory);
  const { ledger, place } = found.is === 'mark' ? found.owner : {};
  if (ledger === us.ledger && place !== undefined && us.fleet?.watched().includes(place) === true) return null;
  if (ledger === us.ledger && place !== undefined && us.fleet)
    return `hosts of this fleet watch it as ${place}; watch it on this host too`;
  const verdict = await judge(directory, found, us);
  return verdict.is === 'foreign' ? verdict.why : null;
}

/** Returns why an ancestor of a folder, on the same file system, belongs to another dropcast, or null. */
export async function whyInside(folder: string, us: FolderClaimant): Promise<string | null> {
  const real = await realpath(folder);
  const { dev } = await stat(real, { bigint: true });
  for (let above = dirname(real), below = real; above !== below; below = above, above = dirname(above)) {
    const found = await stat(above, { bigint: true }).catch(() => null);
    if (found?.dev !== dev) return null;
    const why = await whyForeign(above, us);
    if (why !== null) return `it is inside ${above}, and ${why}`;
  }
  return null;
}

function foreign(why: string, folder: string): MarkVerdict {
  return {
    is: 'foreign',
    why: `${why}; to take it over, stop that one permanently and run \`rm ${shellWord(join(folder, markName))}\``,
  };
}

/**
 * Whether an owner's state directory no longer exists, or now has another ledger or none. An unreadable one may still
 * exist. The path comes from the mark and is untrusted: any user who can write to the folder may have chosen it.
 */
async function isGone({ stateDir, ledger }: FolderOwner): Promise<boolean> {
  try {
    return (await readSmallFile(join(stateDir, ledgerIdName)))?.trim() !== ledger;
  } catch (error) {
    const code = errnoOf(error);
    return code === 'ENOENT' || code === 'ENOTDIR';
  }
}

async function isSameDirectory(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)));
  return first !== null && second !== null && first?.dev === second?.dev && first?.ino === second?.ino;
}

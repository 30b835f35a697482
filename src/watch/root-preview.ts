import { unlessHung } from '../unless-hung.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { KnownFiles, RootStore } from './ports.ts';
import { noAnswer, whyMissing } from './root.ts';
import { RootCheck } from './root-check.ts';
import { recordOf } from './root-memory.ts';
import { isOfLostLedger, markOf, whyBehind } from './root-claim.ts';
import { isAhead, readMark } from './root-mark.ts';
import type { FolderOwner } from './root-mark.ts';
import { judge } from './root-owner.ts';

/** What a first look goes by. */
export interface RootPreviewWorld {
  readonly roots: Pick<RootStore, 'load'>;
  readonly known: KnownFiles;
  /** Whose ledger it is. */
  readonly owner: FolderOwner;
  readonly counter: LedgerPreview['counter'];
}

interface LedgerPreview {
  readonly roots: Pick<RootStore, 'load'>;
  readonly owner: FolderOwner;
  /** How far it is. */
  readonly counter: { load(): Promise<number> };
}

/**
 * Why a ledger does not know all files that were taken in from a folder: it is older than the mark, or was when a watcher last looked, or it is
 * another one than that which is gone. Or null.
 */
export async function whyLedgerBehind(path: string, { roots, owner, counter }: LedgerPreview): Promise<string | null> {
  const found = await readMark(path);
  const mark = found.is === 'mark' ? found.owner : null;
  const lost =
    mark !== null && isOfLostLedger(mark, owner) && (await judge(path, found, owner)).is === 'stale' ? mark : null;
  const isBehind =
    lost !== null ||
    recordOf(await roots.load(path))?.doubt?.is === 'older' ||
    (mark?.ledger === owner.ledger && isAhead(mark.counter ?? 0, await counter.load()));
  return isBehind ? whyBehind(path, lost, owner) : null;
}

/** Known files that are looked for. */
const mostFiles = 10_000;

/** Why a watcher would freeze a folder at its first look, or null. Marks nothing and notes nothing. */
export async function whyFrozenAtStart(
  path: string,
  { roots, known, owner, counter }: RootPreviewWorld,
): Promise<string | null> {
  const { identity = null, doubt = null } = recordOf(await roots.load(path)) ?? {};
  const devices = new Set<string>();
  const files = new Map<string, FileVersion>();
  await known.known(path, ({ path: name, version }) => {
    devices.add(version.dev);
    if (files.size < mostFiles) files.set(name, version);
  });
  const check = new RootCheck({ path, mark: () => markOf(path, owner.ledger) });
  check.remember(identity, devices);
  if (doubt?.is === 'resumed') check.trustNext();
  const isAnswered = doubt?.is === 'resumed' && doubt.isOlder === true;
  const verdict = (await unlessHung(check.look(files))) ?? noAnswer;
  if (!verdict.isSound) return verdict.why;
  const behind = isAnswered ? null : await whyLedgerBehind(path, { roots, owner, counter });
  if (behind !== null) return behind;
  return doubt?.is === 'missing' ? whyMissing(path, 'most') : null;
}

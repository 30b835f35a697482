import { unlessHung } from '../unless-hung.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { KnownFiles, RootStore } from './ports.ts';
import { noAnswer, whyMissing } from './root.ts';
import { RootCheck } from './root-check.ts';
import { recordOf } from './root-memory.ts';
import { markOf, whyBehind } from './root-claim.ts';
import { isAhead, readMark } from './root-mark.ts';

/** What a first look goes by. */
export interface RootPreviewWorld {
  readonly roots: Pick<RootStore, 'load'>;
  readonly known: KnownFiles;
  /** The random id of the ledger. */
  readonly ledgerId: string;
  readonly counter: LedgerPreview['counter'];
}

interface LedgerPreview {
  readonly roots: Pick<RootStore, 'load'>;
  readonly id: string;
  /** How far it is. */
  readonly counter: { load(): Promise<number> };
}

/** Whether a ledger is older than the mark that it left in a folder, or was when a watcher last looked. */
export async function isLedgerBehind(path: string, { roots, id, counter }: LedgerPreview): Promise<boolean> {
  if (recordOf(await roots.load(path))?.doubt?.is === 'older') return true;
  const found = await readMark(path);
  return found.is === 'mark' && found.owner.ledger === id && isAhead(found.owner.counter ?? 0, await counter.load());
}

/** Known files that are looked for. */
const mostFiles = 10_000;

/** Why a watcher would freeze a folder at its first look, or null. Marks nothing and notes nothing. */
export async function whyFrozenAtStart(
  path: string,
  { roots, known, ledgerId, counter }: RootPreviewWorld,
): Promise<string | null> {
  const { identity = null, doubt = null } = recordOf(await roots.load(path)) ?? {};
  const devices = new Set<string>();
  const files = new Map<string, FileVersion>();
  await known.known(path, ({ path: name, version }) => {
    devices.add(version.dev);
    if (files.size < mostFiles) files.set(name, version);
  });
  const check = new RootCheck({ path, mark: () => markOf(path, ledgerId) });
  check.remember(identity, devices);
  if (doubt?.is === 'resumed') check.trustNext();
  const isAnswered = doubt?.is === 'resumed' && doubt.isOlder === true;
  const verdict = (await unlessHung(check.look(files))) ?? noAnswer;
  if (!verdict.isSound) return verdict.why;
  if (!isAnswered && (await isLedgerBehind(path, { roots, id: ledgerId, counter }))) return whyBehind(path);
  return doubt?.is === 'missing' ? whyMissing(path, 'most') : null;
}

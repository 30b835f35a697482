import { sidecarState } from './inventory.ts';
import type { Inventory } from './inventory.ts';
import type { KnownFile } from './ports.ts';
import { TakenFiles } from './taken-files.ts';

/** Tells the files that the ledger has now. */
export type TellKnown = (tell: (file: KnownFile) => void) => Promise<void>;

/**
 * The ledger may have lost rows: takes over what it says of each file.
 *
 * @returns paths of files that the sink took and that the ledger does not have as they are
 */
export async function lostFiles({ taken, waiting }: Inventory, tellKnown: TellKnown): Promise<readonly string[]> {
  const known = new TakenFiles();
  await tellKnown(({ path, version, state }) => {
    known.set(path, version);
    known.setState(path, state);
  });
  const lost = [...taken.entries()].filter(
    ([path, version]) => taken.state(path) !== sidecarState && !known.isSame(path, version),
  );
  for (const [path, version] of known.entries()) {
    // What is not there is missed by the next scan.
    if (!taken.has(path) && !waiting.has(path)) taken.set(path, version);
    taken.setState(path, known.state(path));
  }
  return lost.map(([path]) => path);
}

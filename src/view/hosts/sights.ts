import type { FleetView, HostSights, SeenFolder } from './fleet-view.ts';
import type { FolderStatus } from '../../intake/folder-status.ts';
import type { Conductor } from '../../pipeline/conductor.ts';
import { withFolder, type ExpectationState, type ExpectationView } from '../../pipeline/expectation.ts';
import { isAtWork } from './host-view.ts';

/** The problems that one host sees. */
export interface Sight extends HostSights {
  /** Null on a single host. */
  readonly host: string | null;
}

interface Here {
  readonly conductor: Pick<Conductor, 'pause' | 'createsPauses'> & {
    readonly names: Pick<Conductor['names'], 'unknown'>;
  };
  readonly folders: { status(): readonly Pick<FolderStatus, 'path' | 'state' | 'why'>[] };
  readonly expectations: { list(): readonly ExpectationView[] };
}

/**
 * Returns the current problems as each running host sees them. Silent hosts and releases without this report contribute
 * none.
 */
export function sightsNow(here: Here & { readonly fleet: Pick<FleetView, 'known'> | null }): readonly Sight[] {
  if (here.fleet === null) return [{ host: null, ...sightOf(here) }];
  return here.fleet
    .known()
    .filter(isAtWork)
    .flatMap(({ name, doing: { sees } }) => (sees === undefined ? [] : [{ host: name, ...sees }]));
}

/** States of an expectation that are reported and persist until the host reports another. */
const told: ReadonlySet<ExpectationState> = new Set(['missing', 'late', 'recovered']);

/** Returns what this host reports to the others. Pure. @param placeOf maps a folder to its name in rows */
export function sightToTell(here: Here, placeOf: (folder: string) => string): HostSights {
  const sight = sightOf(here);
  const expected = sight.expected.filter(({ state }) => told.has(state));
  return { ...sight, expected: expected.map((view) => ({ ...view, key: withFolder(view.key, placeOf) })) };
}

function sightOf({ conductor, folders, expectations }: Here): HostSights {
  const unscanned = folders
    .status()
    .flatMap<SeenFolder>(({ path, state, why }) =>
      state === 'starting' || state === 'frozen' ? [{ path, state, why }] : [],
    );
  return {
    pause: conductor.pause(),
    creates: conductor.createsPauses(),
    unknown: conductor.names.unknown(),
    folders: unscanned,
    expected: expectations.list(),
  };
}

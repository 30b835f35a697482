import type { FleetView, HostSights, SeenFolder } from './fleet-view.ts';
import type { FolderStatus } from '../../intake/folder-status.ts';
import type { Conductor } from '../../pipeline/conductor.ts';
import { withFolder } from '../../pipeline/expectation.ts';
import type { ExpectationState, ExpectationView } from '../../pipeline/expectation.ts';
import { isAtWork } from './host-view.ts';

/** What a host sees. */
export interface Sight extends HostSights {
  /** Null: on a single host. */
  readonly host: string | null;
}

interface Here {
  readonly conductor: Pick<Conductor, 'pause'> & { readonly names: Pick<Conductor['names'], 'unknown'> };
  readonly folders: { status(): readonly Pick<FolderStatus, 'path' | 'state' | 'why'>[] };
  readonly expectations: { list(): readonly ExpectationView[] };
}

/** What is wrong, as each host sees it that works. A silent one sees nothing, and neither does a release that does not tell. */
export function sightsNow(here: Here & { readonly fleet: Pick<FleetView, 'known'> | null }): readonly Sight[] {
  if (here.fleet === null) return [{ host: null, ...sightOf(here) }];
  return here.fleet
    .known()
    .filter(isAtWork)
    .flatMap(({ name, doing: { sees } }) => (sees === undefined ? [] : [{ host: name, ...sees }]));
}

/** What is told of an expectation, and is over only when the host says so. */
const told: ReadonlySet<ExpectationState> = new Set(['missing', 'late', 'recovered']);

/** Pure: what this host tells the others. @param placeOf the name of a folder in rows */
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
    unknown: conductor.names.unknown(),
    folders: unscanned,
    expected: expectations.list(),
  };
}

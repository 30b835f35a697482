import { localPlace } from '../places.ts';
import type { WatchedShare } from '../shared-folders.ts';
import type { CopyOptions } from '../copy/copy-ledger.ts';

type Translated = CopyOptions['translated'];

interface HostFolders {
  readonly hostName: string;
  /** Declared as shares, or proved to be some. */
  readonly shared: readonly WatchedShare[];
}

/** What a fleet calls the folders of this host: `nas1:` for a share, `ingest1:/srv/in` for a folder of its own. */
export function toPlaces({ hostName, shared }: HostFolders): Translated {
  const shares = new Map(shared.map(({ path, place }) => [path, place]));
  return (folder, table) => {
    // It came from a fleet before, and was no folder of this host.
    if (!folder.startsWith('/')) return folder;
    const place = shares.get(folder);
    // Which directory it is says each host for itself.
    return place === undefined || table === 'root' ? localPlace(hostName, folder) : place;
  };
}

/** The folders of this host. Those of other hosts keep their names, which are no paths: nobody watches them here. */
export function toFolders({ hostName, shared }: HostFolders): Translated {
  const own = localPlace(hostName, '');
  const shares = new Map(shared.map(({ path, place }) => [place, path]));
  return (place, table) => {
    const share = shares.get(place);
    if (share !== undefined && table !== 'root') return share;
    const folder = place.startsWith(`${own}/`) ? place.slice(own.length) : place;
    // What it was called before it became a share is another place.
    const isBefore = table !== 'root' && shared.some(({ path }) => path === folder);
    return isBefore ? place : folder;
  };
}

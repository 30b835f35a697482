import type { FolderStatus } from '../../../src/intake/folder-status.ts';
import { sumOfAccounts } from '../../../src/watch/accounts.ts';

/** A folder that is watched and empty. */
export function someFolder(some: Partial<FolderStatus> = {}): FolderStatus {
  return {
    path: '/srv/inbox',
    state: 'watching',
    why: null,
    paths: { seen: 0, settling: 0, offered: 0, ignored: 0, refused: 0 },
    accounts: sumOfAccounts([]),
    refused: null,
    refused_paths: [],
    left_out: { files: 0, media: 0, extensions: [], paths: [] },
    by: 'events',
    last_event_at: null,
    last_scan_at: null,
    last_scan_ms: null,
    next_scan_at: null,
    is_scanning: false,
    done_marker: null,
    without_marker: 0,
    lone_sidecars: { files: 0, first: [] },
    ...some,
  };
}

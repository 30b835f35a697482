import type { Facts } from '../../../pipeline/file/facts.ts';
import type { Plan } from '../../../routing/plan.ts';

/**
 * What may be shown of a field:
 *
 * - `plain`: a number, or a word in the form of an identifier, a duration or a time, if it does not look like a key;
 * - `id`: the same, but random identifiers do look like keys;
 * - `echo`: like `plain`, but from the service, which may repeat what it was sent;
 * - `ours`: a sentence that dropcast's source contains literally;
 * - `name`: a path or a title, as a pseudonym unless the operator wants names;
 * - `origin`: scheme, host and port of an address;
 * - `counts`: numbers by key;
 * - `set`: whether there is a value.
 */
export type Kind = 'plain' | 'id' | 'echo' | 'ours' | 'name' | 'origin' | 'counts' | 'set';

export type AllowedFields = Readonly<Record<string, Kind>>;

/** Everything of a row. The compiler asks for a decision about each new member. */
const row = {
  ...of('id', 'id intent suspects videoId'),
  ...of('name', 'folder path title tags'),
  ...of('echo', 'remoteStatus'),
  ...of('counts', 'published'),
  ...of('set', 'sourceUrl uploadUrl uploadHeaders sha256 embedUrl why owner description'),
  ...of('plain', 'rev version plan onDuplicate afterReady discoveredAt uploadSession createdAt'),
  ...of('plain', 'uploadStartedAt uploadedAt processingSince addressDeadAt dying replacements readyAt'),
  ...of('plain', 'attempts notBefore end lastFailure endedAt amendment disposal firstAt linkFile rule'),
  ...of('plain', 'channel publish priority readyBy chosenChannel refusedChannel sidecar proofs'),
} satisfies Record<keyof Facts | keyof Plan, Kind>;

/** @param names separated by one space each, so that the compiler can split them */
function of<S extends string>(kind: Kind, names: S): Record<Words<S>, Kind> {
  return kinds(kind, names) as Record<Words<S>, Kind>;
}

type Words<S extends string> = S extends `${infer First} ${infer Rest}` ? First | Words<Rest> : S;

const plain = (names: string): AllowedFields => kinds('plain', names);

function kinds(kind: Kind, names: string): AllowedFields {
  return Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, kind]),
  );
}

/** Fields of rows, failures, log lines and views, with everything they consist of. */
const common: AllowedFields = {
  ...row,
  // Rows and their history.
  ...plain(`facts history at state next GO RETRY FILE_GONE FILE_CHANGED REMOTE_GONE GIVE_UP kind
    failure retryAfterMs inDoubt feed likeness count isSure sizeLimit from mostBytes triedAt over account trouble since
    dev ino birthtimeNs size mtimeNs ctimeNs protocol offset reach`),
  // Log lines and events.
  ...plain(`v time level class attempt backend day event type seq missed files folders intervalMs messages method most
    ms operation pid port retryInMs stalledMs until uploads waited work name err host`),
  // The status.
  ...plain(`daemon running started_at settling waits cause paused waiting outlook expectations deaf_targets accounts
    working adoption deletions creates_wait_until requests needs_you causes more fleet hosts schema slots heard_at
    here draining frozen clock_ahead_ms away_since bytes_per_second stalled_since done_at upload queue before starts_at
    ready_at not_before stage sent times discovered created upload_started uploaded ready ended
    comparing ignored refused seen sidecars unaccounted compared share videos next_at arrived live key
    is_scanning last_event_at last_scan_at last_scan_ms next_scan_at done_marker left_out extensions media
    lone_sidecars without_marker offered refused_paths used limit left`),
  ...kinds('counts', 'counts known'),
  ...kinds('echo', 'code status remote_status'),
  ...kinds('id', 'file video video_id twin requestId'),
  ...kinds('name', 'paths first match examples'),
  ...kinds('set', 'message text note why what by address source_url embed_url'),
};

/** The list of what may go into a bundle. Anything that is not on it stays out, so new fields are left out at first. */
export const allowed = {
  common,
  failures: { ...common, file: 'name' },
  findings: { ...plain('findings level isHung'), ...kinds('ours', 'name skipped why') },
  configuration: {
    ...plain(`folders existing on_change on_duplicate after_ready delete after when_full done_marker settle rescan watch
      uploads rules channel publish priority ready_by expect count days grace until quiet at_most
      retry attempts first max poll interval give_up_after log format level concurrency protocol bandwidth max_size
      stall_timeout window content_type service idempotency_key marker quota minutes per resets size videos requests_per_hour
      webhook_scheme webhook_header type on every idle_days daily_at tls status listen ledger`),
    // Names of targets may be names of people.
    ...kinds('name', 'path include exclude match title tags move state_dir notify others'),
    ...kinds('origin', 'base_url'),
    ...kinds(
      'set',
      `api_key webhook_secret send_key_to url topic headers password token user smtp command name from to fail timeout
      description ca host_name hosts socket share by zone`,
    ),
  },
} as const satisfies Readonly<Record<string, AllowedFields>>;

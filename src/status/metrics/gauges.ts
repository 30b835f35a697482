import { Gauge, type Registry } from 'prom-client';
import type { Daemon } from '../../daemon/daemon.ts';
import { filesIn } from '../../view/stages.ts';
import { hostView } from '../../view/hosts/host-view.ts';
import { isObstacle, type Wait } from '../../view/waits.ts';
import { feedsOf } from '../../view/outlook.ts';
import { fileStates, targetTypes, type Counted } from './counters.ts';

/**
 * Creates gauges for the current state. Each scrape reads memory and, for counts and ages of files, indexes in the
 * ledger.
 *
 * @returns a function that updates the gauges; if the ledger cannot be read, values from it become NaN and the others
 *   stay correct
 */
export function createGauges(registry: Registry, daemon: Daemon, counted: Counted): () => Promise<void> {
  const gauge: CreateGauge = (name, help, labelNames = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const all: readonly (() => void | Promise<void>)[] = [
    createFileGauges(gauge, daemon),
    createWorkGauges(gauge, daemon),
    createPlaceGauges(gauge, daemon, counted),
    createExpectationGauge(gauge, daemon),
    createMessageGauge(gauge, daemon),
    createHostGauges(gauge, daemon),
  ];
  return async () => {
    for (const update of all) await update();
  };
}

type CreateGauge = <Label extends string = never>(
  name: string,
  help: string,
  labelNames?: readonly Label[],
) => Gauge<Label>;

function createFileGauges(gauge: CreateGauge, daemon: Daemon): () => Promise<void> {
  const states = gauge('dropcast_files', 'Files by state, as in status.', ['state']);
  const needsYou = gauge('dropcast_needs_you', 'Files that need you.');
  const ledger = gauge(
    'dropcast_ledger_up',
    '1 when the ledger could be read; 0 when not, and numbers of files are NaN.',
  );
  const oldest = gauge(
    'dropcast_oldest_waiting_timestamp_seconds',
    'When the oldest unfinished file arrived; NaN when none waits.',
  );
  const success = gauge('dropcast_last_success_timestamp_seconds', 'When the last file was done; 0 when none was.');
  return async () => {
    try {
      if (daemon.fleet !== null && daemon.fleet.awaySince() !== null) throw new Error('the database is away');
      const picture = await daemon.picture({ isFresh: true });
      const since = await daemon.ledger.totals('waiting since');
      const { counts, settling, stages } = picture;
      const shown: Readonly<Record<string, number>> = { ...counts, settling, queued: filesIn(stages, 'queued') };
      for (const state of fileStates) states.set({ state }, shown[state] ?? 0);
      needsYou.set(picture.needs_you.files);
      oldest.set(since.oldest === null ? Number.NaN : since.oldest / 1_000);
      success.set((since.done ?? 0) / 1_000);
      ledger.set(1);
    } catch {
      // NaN keeps old values from looking current. The reason is in the log.
      for (const state of fileStates) states.set({ state }, Number.NaN);
      for (const each of [needsYou, oldest, success]) each.set(Number.NaN);
      ledger.set(0);
    }
  };
}

function createWorkGauges(gauge: CreateGauge, daemon: Daemon): () => void {
  const paused = gauge(
    'dropcast_paused',
    '1 while the work named by holds (everything, uploads or new files) is waiting for the service.',
    ['holds'],
  );
  const limit = gauge('dropcast_api_budget_limit', 'Requests allowed per hour.');
  const remaining = gauge('dropcast_api_budget_remaining', 'Requests that may be sent now.');
  const byPeople = gauge('dropcast_paused_by_people', 'Pauses set by people, of everything or of a folder.', ['holds']);
  const unknown = gauge('dropcast_unknown_names', 'Channels and feeds that files need and the service does not have.', [
    'kind',
  ]);
  const open = gauge('dropcast_upload_window_open', '0 at times of day when no upload may start.');
  return () => {
    const waits = daemon.waits();
    const count = (isMeant: (wait: Wait) => boolean): number => waits.filter(isMeant).length;
    open.set(1 - count(({ cause }) => cause === 'upload window'));
    const byPerson = waits.filter(({ cause }) => cause === 'paused');
    const ofAll = byPerson.filter(({ holds }) => holds === 'everything').length;
    byPeople.set({ holds: 'everything' }, ofAll);
    byPeople.set({ holds: 'folder' }, byPerson.length - ofAll);
    for (const kind of ['channel', 'feed'] as const)
      unknown.set(
        { kind },
        count(({ cause }) => cause === `unknown ${kind}`),
      );
    for (const holds of ['everything', 'uploads', 'new files'] as const)
      paused.set(
        { holds },
        count((wait) => isObstacle(wait) && wait.holds === holds),
      );
    const { limit: perHour, used, blockedUntil, reported } = daemon.gate.snapshot();
    limit.set(perHour);
    const left = Math.max(0, Math.min(perHour - used, reported?.left ?? Infinity));
    remaining.set(blockedUntil > Date.now() ? 0 : left);
  };
}

const expectationStates = ['expected', 'arrived', 'live', 'missing', 'late', 'recovered'] as const;

function createExpectationGauge(gauge: CreateGauge, { expectations }: Daemon): () => void {
  const today = gauge('dropcast_expectations', 'Expectations of today by state, as in status.', ['state']);
  return () => {
    const all = expectations.list();
    for (const state of expectationStates) today.set({ state }, all.filter((each) => each.state === state).length);
  };
}

/** Labelled by target type, because target names identify people. */
function createMessageGauge(gauge: CreateGauge, daemon: Daemon): () => Promise<void> {
  const waiting = gauge('dropcast_notifications_waiting', 'Messages that no target of this type has accepted yet.', [
    'type',
  ]);
  return async () => {
    const counts = await daemon.ledger.news.countWaiting().catch(() => null);
    for (const type of targetTypes) waiting.set({ type }, counts === null ? Number.NaN : 0);
    for (const { name, type } of daemon.config().notify)
      if (type !== 'heartbeat') waiting.inc({ type }, counts?.get(name) ?? 0);
  };
}

/** Every host reports the whole fleet, so a silent host is still counted. */
function createHostGauges(gauge: CreateGauge, { fleet }: Daemon): () => void {
  if (fleet === null) return () => undefined;
  const hosts = gauge('dropcast_hosts', '1 for a host of the fleet that runs, 0 for one that is silent or stopped.', [
    'host',
    'version',
  ]);
  const heard = gauge('dropcast_host_heard_timestamp_seconds', 'When a host was last heard from.', ['host']);
  const slots = gauge('dropcast_host_upload_slots', 'Maximum simultaneous uploads of a host.', ['host']);
  const uploads = gauge('dropcast_host_uploads', 'Uploads under way on a host.', ['host']);
  const draining = gauge('dropcast_host_draining', '1 while a host is being drained.', ['host']);
  return () => {
    for (const each of [hosts, heard, slots, uploads, draining]) each.reset(); // hosts come and go
    for (const { name: host, version, state, ...view } of fleet.known().map((each) => hostView(each, fleet.self))) {
      hosts.set({ host, version }, state === 'silent' || state === 'stopped' ? 0 : 1);
      heard.set({ host }, view.heard_at / 1_000);
      slots.set({ host }, view.slots);
      uploads.set({ host }, view.uploads);
      draining.set({ host }, view.draining === null ? 0 : 1);
    }
  };
}

function createPlaceGauges(gauge: CreateGauge, daemon: Daemon, { lastFound }: Counted): () => void {
  const up = gauge('dropcast_watch_root_up', '1 when the files of a folder are found, 0 when it is frozen.', ['root']);
  const lastEvent = gauge(
    'dropcast_watch_root_last_event_timestamp_seconds',
    'When a complete file was last found in a folder; 0 when none was since the start.',
    ['root'],
  );
  const dirty = gauge(
    'dropcast_feed_dirty_since_timestamp_seconds',
    'Since when a ready file has been waiting for its feed to be published; NaN when none waits.',
    ['feed'],
  );
  return () => {
    for (const each of [up, lastEvent, dirty]) each.reset(); // folders and feeds come and go with a reload
    const frozen = new Set(daemon.waits().flatMap(({ cause, what }) => (cause === 'folder' ? what : [])));
    for (const { path: root } of daemon.config().folders) {
      up.set({ root }, frozen.has(root) ? 0 : 1);
      lastEvent.set({ root }, lastFound.get(root) ?? 0);
    }
    const waits = new Map(daemon.conductor.feedsWaiting().map(({ feed, since }) => [feed, since]));
    for (const feed of feedsOf(daemon.config())) {
      const since = waits.get(feed);
      dirty.set({ feed }, since === undefined ? Number.NaN : since / 1_000);
    }
  };
}

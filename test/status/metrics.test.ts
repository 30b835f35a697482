import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/status/metrics/metrics.ts';
import { created, failure, ready, someFacts, uploaded } from '../pipeline/some-facts.ts';
import { FakeFleet, someHost, someUpload } from '../fleet/fake-fleet.ts';
import { needs } from '../support/needs.ts';
import { measuredDaemon, valuesOf } from './measured-daemon.ts';

const versions = { version: '1.2.3', node: '26.10.0' };

function open() {
  const { daemon, events, state, messageTargets } = measuredDaemon();
  const metrics = createMetrics(daemon, versions);
  return { events, state, messageTargets, metrics, values: async () => valuesOf(await metrics.text()) };
}

test('two simultaneous requests, at first and later, get the same answer, and each all of it', async () => {
  const { events, values } = open();
  events.emit({ type: 'request', operation: 'create video', status: 201, ms: 200 });
  for (let n = 0; n < 2; n += 1) {
    const all = (await Promise.all([values(), values(), values()])).map((told) =>
      [...told].filter(([name]) => name.startsWith('dropcast_')),
    );
    expect(all[0]?.length).toBeGreaterThan(50);
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
    expect(all[0]).toContainEqual(['dropcast_api_requests_total{operation="create video",code="201"}', 1]);
  }
});

test('what could not be loaded for the first scrape is loaded for the next one', async () => {
  let isBroken = true;
  const { daemon } = measuredDaemon();
  const metrics = createMetrics(daemon, {
    ...versions,
    get version() {
      if (isBroken) throw new Error('too many open files');
      return '1';
    },
  });
  await expect(metrics.text()).rejects.toThrow('too many open files');
  isBroken = false;
  expect(await metrics.text()).toContain('dropcast_build_info');
});

describe('gauges say what is now', () => {
  test('the hosts of a fleet, also what silent ones said last, and nothing of them on a single host', async () => {
    const work = [{ id: 'f_1', upload: someUpload }];
    const fleet = new FakeFleet(
      someHost('a', { doing: { slots: 4, places: [], work } }),
      someHost('b', { version: '0.2.0', isHeard: false, heardAt: 7_000, draining: { since: 1, by: 'ana' } }),
    );
    const values = valuesOf(await createMetrics(measuredDaemon(fleet).daemon, versions).text());
    const told = [...values].filter(([name]) => name.startsWith('dropcast_host'));
    expect(told.filter(([name]) => !name.includes('heard') || name.includes('"b"'))).toEqual([
      ['dropcast_hosts{host="a",version="0.3.0"}', 1],
      ['dropcast_hosts{host="b",version="0.2.0"}', 0],
      ['dropcast_host_heard_timestamp_seconds{host="b"}', 7],
      ['dropcast_host_upload_slots{host="a"}', 4],
      ['dropcast_host_upload_slots{host="b"}', 4],
      ['dropcast_host_uploads{host="a"}', 1],
      ['dropcast_host_uploads{host="b"}', 0],
      ['dropcast_host_draining{host="a"}', 0],
      ['dropcast_host_draining{host="b"}', 1],
    ]);
    const alone = await createMetrics(measuredDaemon().daemon, versions).text();
    expect(alone).not.toContain('dropcast_host');
  });

  test('files by state, with a zero where there are none', async () => {
    const { state, values } = open();
    state.counts = { queued: 4, 'awaiting publish': 2, done: 9, 'not put away': 1 };
    const now = await values();
    expect(now.get('dropcast_files{state="queued"}')).toBe(4);
    expect(now.get('dropcast_files{state="awaiting publish"}')).toBe(2);
    expect(now.get('dropcast_files{state="uploading"}')).toBe(1);
    expect(now.get('dropcast_files{state="settling"}')).toBe(2);
    expect(now.get('dropcast_files{state="failed"}')).toBe(0);
    expect(now.get('dropcast_needs_you')).toBe(3);
    expect([...now.keys()].filter((key) => key.includes('put away'))).toEqual([]);
  });

  test('what waits since when, and when the last file was done', async () => {
    const { state, values } = open();
    expect((await values()).get('dropcast_oldest_waiting_timestamp_seconds')).toBeNaN();
    expect((await values()).get('dropcast_last_success_timestamp_seconds')).toBe(0);
    state.since = { oldest: 1_500, done: 2_500 };
    expect((await values()).get('dropcast_oldest_waiting_timestamp_seconds')).toBe(1.5);
    expect((await values()).get('dropcast_last_success_timestamp_seconds')).toBe(2.5);
  });

  test.each(['everything', 'uploads'] as const)('a pause that holds %s', async (holds) => {
    const { state, values } = open();
    state.moment = { pause: { holds } };
    const now = await values();
    expect(now.get('dropcast_paused{holds="everything"}')).toBe(holds === 'everything' ? 1 : 0);
    expect(now.get('dropcast_paused{holds="uploads"}')).toBe(holds === 'uploads' ? 1 : 0);
    state.moment = {};
    expect((await values()).get(`dropcast_paused{holds="${holds}"}`)).toBe(0);
  });

  test('what people paused, what the service does not have, and whether the time of day allows uploads', async () => {
    const { state, values } = open();
    expect((await values()).get('dropcast_upload_window_open')).toBe(1);
    const pausedBy = (folder: string | null) => ({ folder, since: 1, until: null, by: 'anna' });
    state.moment = { people: [pausedBy(null), pausedBy('/in'), pausedBy('/b')], unknown: ['feed'], startAt: 9 };
    const now = await values();
    expect(now.get('dropcast_paused_by_people{holds="everything"}')).toBe(1);
    expect(now.get('dropcast_paused_by_people{holds="folder"}')).toBe(2);
    expect(now.get('dropcast_unknown_names{kind="channel"}')).toBe(0);
    expect(now.get('dropcast_unknown_names{kind="feed"}')).toBe(1);
    expect(now.get('dropcast_upload_window_open')).toBe(0);
  });

  test('what is expected, and the messages that wait by type of target', async () => {
    const { state, values } = open();
    state.expectations = [{ state: 'missing' }, { state: 'missing' }, { state: 'live' }];
    state.notify = [
      { name: 'phone', type: 'ntfy' },
      { name: 'other phone', type: 'ntfy' },
      { name: 'beat', type: 'heartbeat' },
    ];
    state.messages = new Map([
      ['phone', 2],
      ['other phone', 3],
    ]);
    const now = await values();
    expect(now.get('dropcast_expectations{state="missing"}')).toBe(2);
    expect(now.get('dropcast_expectations{state="live"}')).toBe(1);
    expect(now.get('dropcast_expectations{state="late"}')).toBe(0);
    expect(now.get('dropcast_notifications_waiting{type="ntfy"}')).toBe(5);
    expect(now.get('dropcast_notifications_waiting{type="email"}')).toBe(0);
    expect([...now.keys()].filter((key) => key.includes('phone') || key.includes('heartbeat'))).toEqual([]);
    expect((await values()).get('dropcast_notifications_waiting{type="ntfy"}')).toBe(5);
  });

  test('messages that were sent, failed and were dropped, by type of target from the first scrape on', async () => {
    const { messageTargets, values } = open();
    expect((await values()).get('dropcast_notifications_total{type="email",outcome="failed"}')).toBe(0);
    const phone = { name: 'phone', type: 'ntfy' };
    messageTargets.took(phone);
    messageTargets.took({ name: 'other phone', type: 'ntfy' });
    messageTargets.refused(phone, 'answered 401', 1);
    messageTargets.dropped(phone, 7);
    messageTargets.gone('phone');
    await values();
    const now = await values();
    expect(now.get('dropcast_notifications_total{type="ntfy",outcome="ok"}')).toBe(2);
    expect(now.get('dropcast_notifications_total{type="ntfy",outcome="failed"}')).toBe(1);
    expect(now.get('dropcast_notifications_dropped_total{type="ntfy"}')).toBe(7);
    expect(now.get('dropcast_notifications_dropped_total{type="webhook"}')).toBe(0);
    expect([...now.keys()].filter((key) => key.includes('phone'))).toEqual([]);
  });

  test('the budget: what remains is what the service allows, and nothing while it asks to wait', async () => {
    const { state, values } = open();
    expect((await values()).get('dropcast_api_budget_limit')).toBe(1_000);
    expect((await values()).get('dropcast_api_budget_remaining')).toBe(600);
    state.blockedUntil = Date.now() + 60_000;
    expect((await values()).get('dropcast_api_budget_remaining')).toBe(0);
    state.blockedUntil = 0;
    state.reported = { left: 5 };
    expect((await values()).get('dropcast_api_budget_remaining')).toBe(5);
    state.used = 1_200; // The limit was lowered.
    expect((await values()).get('dropcast_api_budget_remaining')).toBe(0);
  });

  test('folders: frozen is down, and one that a reload removed is gone', async () => {
    const { state, events, values } = open();
    state.folders = ['/in', '/in2'];
    events.emit({ type: 'arrival', path: '/in2/a.mp4', size: 1, as: 'new', heldBecause: null });
    expect((await values()).get('dropcast_watch_root_last_event_timestamp_seconds{root="/in"}')).toBe(0);
    events.emit({ type: 'arrival', path: '/in/a.mp4', size: 1, as: 'new', heldBecause: null });
    const seen = (await values()).get('dropcast_watch_root_last_event_timestamp_seconds{root="/in"}') ?? 0;
    expect(Math.abs(seen - Date.now() / 1_000)).toBeLessThan(600);
    state.folders = ['/in', '/slow'];
    state.moment = { frozen: ['/in'] };
    expect((await values()).get('dropcast_watch_root_up{root="/in"}')).toBe(0);
    expect((await values()).get('dropcast_watch_root_up{root="/slow"}')).toBe(1);
    state.folders = ['/slow'];
    state.moment = {};
    const left = await values();
    expect([...left.keys()].filter((key) => key.includes('root="/in"'))).toEqual([]);
  });

  test('feeds that wait to be published', async () => {
    const { state, values } = open();
    const name = 'dropcast_feed_dirty_since_timestamp_seconds{feed="feed_news"}';
    expect((await values()).get(name)).toBeNaN();
    state.waits = [{ feed: 'feed_news', files: 1, since: 7_000, latestAt: 9_000, failure: null, nextTryAt: null }];
    expect((await values()).get(name)).toBe(7);
    state.feeds = [];
    expect((await values()).has(name)).toBe(false);
  });

  test('a ledger that cannot be read leaves no old number behind, and the rest is exported', async () => {
    const { state, values } = open();
    state.counts = { done: 5 };
    state.since = { oldest: 1_500, done: 2_500 };
    state.messages = new Map([['phone', 2]]);
    await values();
    state.isLedgerBroken = true;
    const now = await values();
    expect(now.get('dropcast_files{state="done"}')).toBeNaN();
    expect(now.get('dropcast_needs_you')).toBeNaN();
    expect(now.get('dropcast_oldest_waiting_timestamp_seconds')).toBeNaN();
    expect(now.get('dropcast_last_success_timestamp_seconds')).toBeNaN();
    expect(now.get('dropcast_notifications_waiting{type="ntfy"}')).toBeNaN();
    expect(now.get('dropcast_ledger_up')).toBe(0);
    expect(now.get('dropcast_watch_root_up{root="/in"}')).toBe(1);
    state.isLedgerBroken = false;
    expect((await values()).get('dropcast_ledger_up')).toBe(1);
  });

  test('what runs', async () => {
    const now = await open().values();
    expect(now.get('dropcast_build_info{version="1.2.3",node="26.10.0"}')).toBe(1);
    expect(now.get('process_resident_memory_bytes')).toBeGreaterThan(0);
    expect([...now.keys()].some((key) => key.startsWith('nodejs_eventloop_lag_p99_seconds'))).toBe(true);
  });
});

describe('counters say what happened', () => {
  const row = { type: 'file', note: null } as const;

  test('each file that ends is counted once, and again after a retry', async () => {
    const { events, values } = open();
    const before = someFacts(ready);
    const done = someFacts({ ...ready, end: 'done', endedAt: 9 });
    const failed = someFacts({ end: 'failed', endedAt: 9 });
    events.emit({ ...row, before, facts: done });
    events.emit({ ...row, before: done, facts: { ...done, disposal: 'moved' } });
    events.emit({ ...row, before: someFacts(), facts: failed });
    events.emit({ ...row, before: failed, facts: someFacts() });
    events.emit({ ...row, before: someFacts(), facts: failed });
    events.emit({ ...row, before: null, facts: someFacts({ end: 'held', endedAt: 9 }) });
    const now = await values();
    expect(now.get('dropcast_files_finished_total{outcome="done"}')).toBe(1);
    expect(now.get('dropcast_files_finished_total{outcome="failed"}')).toBe(2);
    expect(now.get('dropcast_files_finished_total{outcome="held"}')).toBe(1);
    expect(now.get('dropcast_files_finished_total{outcome="skipped"}')).toBe(0);
  });

  test('requests by operation and answer, and the time of those that are steps', async () => {
    const { events, values } = open();
    events.emit({ type: 'request', operation: 'create video', status: 201, ms: 200 });
    events.emit({ type: 'request', operation: 'create video', status: null, ms: 30_000 });
    events.emit({ type: 'request', operation: 'create video', status: 422, ms: 1_000 });
    events.emit({ type: 'request', operation: 'create video', status: 300, ms: 1_000 });
    events.emit({ type: 'request', operation: 'list videos', status: 200, ms: 20 });
    const now = await values();
    expect(now.get('dropcast_api_requests_total{operation="create video",code="201"}')).toBe(1);
    expect(now.get('dropcast_api_requests_total{operation="create video",code="none"}')).toBe(1);
    expect(now.get('dropcast_api_requests_total{operation="list videos",code="200"}')).toBe(1);
    expect(now.get('dropcast_step_duration_seconds_sum{step="create",outcome="ok"}')).toBe(0.2);
    expect(now.get('dropcast_step_duration_seconds_sum{step="create",outcome="failed"}')).toBe(32);
    expect(now.get('dropcast_step_duration_seconds_count{step="publish",outcome="ok"}')).toBe(0);
    events.emit({ type: 'request', operation: 'publish feed', status: 200, ms: 20 });
    expect((await values()).get('dropcast_step_duration_seconds_count{step="publish",outcome="ok"}')).toBe(1);
  });

  test('times before the first scrape and after it are in their buckets, which add up', async () => {
    const { events, values } = open();
    const step = (ms: number): void => events.emit({ type: 'request', operation: 'upload file', status: 200, ms });
    for (const ms of [100, 101, 400, 50_000_000]) step(ms);
    const name = 'dropcast_step_duration_seconds';
    const upload = 'step="upload",outcome="ok"';
    const of = async (le: string) => (await values()).get(`${name}_bucket{le="${le}",${upload}}`);
    expect([await of('0.1'), await of('0.5'), await of('43200'), await of('+Inf')]).toEqual([1, 3, 3, 4]);
    step(2_000);
    expect([await of('1'), await of('5'), await of('+Inf')]).toEqual([3, 4, 5]);
    expect((await values()).get(`${name}_count{${upload}}`)).toBe(5);
  });

  test('how long the service processed a video, ready or failed', async () => {
    const { events, values } = open();
    const before = someFacts({ ...uploaded, processingSince: 1_000, uploadedAt: 500 });
    const isReady = { ...before, readyAt: 4_000 };
    events.emit({ ...row, before, facts: isReady });
    events.emit({ ...row, before: isReady, facts: { ...isReady, end: 'done', endedAt: 9_000 } });
    events.emit({ ...row, before, facts: { ...before, end: 'failed', endedAt: 3_000 } });
    // The clock was set back meanwhile.
    events.emit({ ...row, before, facts: { ...before, readyAt: 900 } });
    events.emit({ ...row, before: someFacts(created), facts: someFacts({ ...created, end: 'failed', endedAt: 1 }) });
    const now = await values();
    expect(now.get('dropcast_step_duration_seconds_sum{step="processing",outcome="ok"}')).toBe(3);
    expect(now.get('dropcast_step_duration_seconds_sum{step="processing",outcome="failed"}')).toBe(2);
    expect(now.get('dropcast_step_duration_seconds_count{step="processing",outcome="ok"}')).toBe(2);
  });

  test('failures by class, publishes by feed, and only feeds of the configuration by name', async () => {
    const { events, values } = open();
    events.emit({ type: 'failure', facts: someFacts(), failure: failure('address dead'), next: '', isRepeated: false });
    events.emit({ type: 'feed', feed: 'feed_news', files: 3, failure: null });
    events.emit({ type: 'feed', feed: 'feed_news', files: 3, failure: failure('permanent') });
    for (let n = 0; n < 50; n += 1) events.emit({ type: 'feed', feed: `feed_${n}`, files: 1, failure: null });
    const now = await values();
    expect(now.get('dropcast_failures_total{class="address dead"}')).toBe(1);
    expect(now.get('dropcast_feed_publishes_total{feed="feed_news",outcome="ok"}')).toBe(1);
    expect(now.get('dropcast_feed_publishes_total{feed="feed_news",outcome="failed"}')).toBe(1);
    expect(now.get('dropcast_feed_publishes_total{feed="other",outcome="ok"}')).toBe(50);
  });

  test('bytes and waits are taken over as they are at that moment', async () => {
    const { state, values } = open();
    state.sentBytes = 500;
    state.waitedMs = { finish: 0, create: 1_500, poll: 0 };
    await values();
    state.sentBytes = 700;
    const now = await values();
    expect(now.get('dropcast_upload_bytes_total')).toBe(700);
    expect(now.get('dropcast_api_budget_wait_seconds_total{lane="create"}')).toBe(1.5);
  });
});

test('no label holds a file, an id or an error, and the series do not grow with the files', async () => {
  const { events, metrics } = open();
  const tell = (n: number): void => {
    const facts = someFacts({ id: `f_secret${n}`, path: `film-${n}.mp4`, videoId: `vid_${n}` });
    events.emit({ type: 'arrival', path: `/in/film-${n}.mp4`, size: 1, as: 'new', heldBecause: 'nobody knows' });
    events.emit({
      type: 'file',
      before: facts,
      facts: { ...facts, end: 'failed', endedAt: 1, why: 'boom' },
      note: null,
    });
    events.emit({
      type: 'failure',
      isRepeated: false,
      facts,
      failure: failure('transient', { code: `E${n}`, message: 'boom' }),
      next: '',
    });
  };
  tell(1);
  const few = (await metrics.text()).split('\n').length;
  for (let n = 2; n < 300; n += 1) tell(n);
  const text = await metrics.text();
  expect(text.split('\n').length - few).toBeLessThan(10); // of the process: handles come and go
  expect(text).not.toMatch(/secret|film-|vid_|boom|E\d+"/);
});

test('promtool finds nothing to say about names and help', needs('promtool'), async () => {
  const { events, metrics } = open();
  events.emit({ type: 'feed', feed: 'feed_news', files: 3, failure: null });
  events.emit({ type: 'request', operation: 'create video', status: 201, ms: 200 });
  const text = (await metrics.text())
    .split('\n\n')
    .filter((metric) => metric.includes('dropcast_'))
    .join('\n');
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: `${text}\n`,
    encoding: 'utf8',
  });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
});

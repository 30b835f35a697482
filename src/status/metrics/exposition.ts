import { collectDefaultMetrics, Gauge, Registry, Counter, Histogram } from 'prom-client';
import { buckets, targetTypes, type Counted, type Durations, type Tally, type Times } from './counters.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { createGauges } from './gauges.ts';
import type { Versions } from './metrics.ts';

/** @returns a function that formats all current values */
export function openExposition(daemon: Daemon, counted: Counted, versions: Versions): () => Promise<string> {
  const registry = new Registry();
  const addUpEvents = createSumsOfEvents(registry, counted);
  const addUp = createSumsOfDaemon(registry, daemon);
  const look = createGauges(registry, daemon, counted);
  new Gauge({
    name: 'dropcast_build_info',
    help: 'Always 1: the labels say what runs.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ ...versions }, 1);
  // At the default resolution of 10 ms, monitoring the event loop alone takes 0.35% of a core.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  return async () => {
    addUpEvents();
    addUp();
    await look();
    return registry.metrics();
  };
}

/** Creates metrics for totals of events. @returns a function that copies their current values */
function createSumsOfEvents(registry: Registry, counted: Counted): () => void {
  const { finished, failures, requests, publishes } = counted;
  const sums: readonly (readonly [Tally, name: string, help: string, labelNames: string[]])[] = [
    [finished, 'dropcast_files_finished_total', 'Files that ended, by outcome.', ['outcome']],
    [failures, 'dropcast_failures_total', 'Failed steps of files, by class of failure; most are retried.', ['class']],
    [
      requests,
      'dropcast_api_requests_total',
      'Requests to the service and uploads, by the status of the answer; code is none when no answer came.',
      ['operation', 'code'],
    ],
    [publishes, 'dropcast_feed_publishes_total', 'Publishes of a feed, by outcome.', ['feed', 'outcome']],
  ];
  const counters = sums.map(
    ([tally, name, help, labelNames]) =>
      [tally, new Counter({ name, help, labelNames, registers: [registry] })] as const,
  );
  registry.registerMetric(new StepDurations(counted.steps));
  return () => {
    for (const [tally, counter] of counters) {
      counter.reset();
      for (const { labels, count } of tally.list()) counter.inc(labels, count);
    }
  };
}

const steps = {
  name: 'dropcast_step_duration_seconds',
  help: 'Time of one attempt at create, upload and publish, and from the last byte to ready for processing.',
  labelNames: ['step', 'outcome'],
  buckets,
};

/** A histogram of durations recorded elsewhere: the library's own accepts them only one at a time. */
class StepDurations extends Histogram {
  readonly #kept: Durations;

  constructor(kept: Durations) {
    super({ ...steps, registers: [] });
    this.#kept = kept;
  }

  /** Returns the values in the form that the registry formats. */
  getForPromString() {
    const { name, help } = steps;
    return { name, help, type: 'histogram', aggregator: 'sum', values: this.#kept.list().flatMap(linesOf) };
  }
}

function linesOf({ labels, count, sumSeconds, inBucket }: Times) {
  const { name } = steps;
  let upTo = 0;
  const atMost = buckets.map((le, n) => ({ le, value: (upTo += inBucket[n] ?? 0) }));
  return [
    ...[...atMost, { le: '+Inf', value: count }].map(({ le, value }) => ({
      metricName: `${name}_bucket`,
      labels: { le, ...labels },
      value,
    })),
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Creates metrics for totals of the daemon. @returns a function that copies their current values */
function createSumsOfDaemon(registry: Registry, daemon: Daemon): () => void {
  const registers = [registry];
  const bytes = new Counter({
    name: 'dropcast_upload_bytes_total',
    help: 'Bytes sent in uploads, including interrupted ones.',
    registers,
  });
  const waits = new Counter({
    name: 'dropcast_api_budget_wait_seconds_total',
    help: 'Time that requests waited for room in the hourly budget, by purpose.',
    labelNames: ['lane'],
    registers,
  });
  const sendings = new Counter({
    name: 'dropcast_notifications_total',
    help: 'Attempts to send messages, by type of target; failed ones are retried.',
    labelNames: ['type', 'outcome'],
    registers,
  });
  const dropped = new Counter({
    name: 'dropcast_notifications_dropped_total',
    help: 'Messages that were given up: too old, too many, or refused repeatedly.',
    labelNames: ['type'],
    registers,
  });
  return () => {
    for (const each of [bytes, waits, sendings, dropped]) each.reset();
    for (const type of targetTypes) {
      const counts = daemon.messageTargets.counts(type);
      sendings.inc({ type, outcome: 'ok' }, counts.taken);
      sendings.inc({ type, outcome: 'failed' }, counts.failed);
      dropped.inc({ type }, counts.dropped);
    }
    bytes.inc(daemon.conductor.sentBytes());
    for (const [lane, ms] of Object.entries(daemon.gate.waitedMs())) waits.inc({ lane }, ms / 1_000);
  };
}

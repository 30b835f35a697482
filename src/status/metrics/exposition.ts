import { collectDefaultMetrics, Gauge, Registry, Counter, Histogram } from 'prom-client';
import { buckets, targetTypes, type Counted, type Durations, type Tally, type Times } from './counters.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { createGauges } from './gauges.ts';
import type { Versions } from './metrics.ts';

/** @returns a function that formats all current values */
export function openExposition(daemon: Daemon, counted: Counted, versions: Versions): () => Promise<string> {
  const registry = new Registry();
  const addUp = createSums(registry, daemon, counted);
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
    addUp();
    await look();
    return registry.metrics();
  };
}

/** Creates metrics for totals. @returns a function that copies their current values */
function createSums(registry: Registry, { messageTargets, conductor, gate }: Daemon, counted: Counted): () => void {
  const { finished, failures, requests, publishes } = counted;
  const targets = () => targetTypes.map((type) => ({ type, ...messageTargets.counts(type) }));
  const sums: readonly (readonly [name: string, help: string, labelNames: string[], list: Tally['list']])[] = [
    ['dropcast_files_finished_total', 'Files that ended, by outcome.', ['outcome'], () => finished.list()],
    [
      'dropcast_failures_total',
      'Failed steps of files, by class of failure; most are retried.',
      ['class'],
      () => failures.list(),
    ],
    [
      'dropcast_api_requests_total',
      'Requests to the service and uploads, by the status of the answer; code is none when no answer came.',
      ['operation', 'code'],
      () => requests.list(),
    ],
    ['dropcast_feed_publishes_total', 'Publishes of a feed, by outcome.', ['feed', 'outcome'], () => publishes.list()],
    [
      'dropcast_upload_bytes_total',
      'Bytes sent in uploads, including interrupted ones.',
      [],
      () => [{ labels: {}, count: conductor.sentBytes() }],
    ],
    [
      'dropcast_api_budget_wait_seconds_total',
      'Time that requests waited for room in the hourly budget, by purpose.',
      ['lane'],
      () => Object.entries(gate.waitedMs()).map(([lane, ms]) => ({ labels: { lane }, count: ms / 1_000 })),
    ],
    [
      'dropcast_notifications_total',
      'Attempts to send messages, by type of target; failed ones are retried.',
      ['type', 'outcome'],
      () =>
        targets().flatMap(({ type, taken, failed }) => [
          { labels: { type, outcome: 'ok' }, count: taken },
          { labels: { type, outcome: 'failed' }, count: failed },
        ]),
    ],
    [
      'dropcast_notifications_dropped_total',
      'Messages that were given up: too old, too many, or refused repeatedly.',
      ['type'],
      () => targets().map(({ type, dropped }) => ({ labels: { type }, count: dropped })),
    ],
  ];
  const counters = sums.map(
    ([name, help, labelNames, list]) => [list, new Counter({ name, help, labelNames, registers: [registry] })] as const,
  );
  registry.registerMetric(new StepDurations(counted.steps));
  return () => {
    for (const [list, counter] of counters) {
      counter.reset();
      for (const { labels, count } of list()) counter.inc(labels, count);
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

import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { countEvents } from './counters.ts';
import { createGauges } from './gauges.ts';
import type { MeasuredDaemon } from './gauges.ts';
import { targetTypes } from './labels.ts';

/** The numbers for Prometheus. */
export interface Metrics {
  /** Of the text: the exposition format 0.0.4, which every version takes. */
  readonly contentType: string;
  /** Everything as it is now. */
  text(): Promise<string>;
}

/**
 * Counts from now on. Labels are fixed words, statuses, and folders and feeds of the configuration: never a file, an id or an error.
 *
 * @param versions of dropcast and of Node.js
 */
export function createMetrics(
  daemon: MeasuredDaemon,
  versions: { readonly version: string; readonly node: string },
): Metrics {
  const registry = new Registry();
  countEvents(registry, daemon);
  const look = createGauges(registry, daemon);
  const addUp = createSums(registry, daemon);
  new Gauge({
    name: 'dropcast_build_info',
    help: 'Always 1: the labels say what runs.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set(versions, 1);
  let isAsked = false;
  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    text: async () => {
      // Process and event loop are watched only once somebody wants to know: with a timer of 10 ms, as by default, that alone takes
      // 0.35 % of a core.
      if (!isAsked) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
      isAsked = true;
      addUp();
      await look();
      return registry.metrics();
    },
  };
}

/** Sums that others keep. @returns takes them over as they are at that moment */
function createSums(registry: Registry, daemon: MeasuredDaemon): () => void {
  const registers = [registry];
  const bytes = new Counter({
    name: 'dropcast_upload_bytes_total',
    help: 'Bytes sent in uploads, including those that broke off.',
    registers,
  });
  const waits = new Counter({
    name: 'dropcast_api_budget_wait_seconds_total',
    help: 'Time that requests waited for room in the hourly budget, by what they are for.',
    labelNames: ['lane'],
    registers,
  });
  const sendings = new Counter({
    name: 'dropcast_notifications_total',
    help: 'Attempts to send messages, by type of target; those that failed are made again.',
    labelNames: ['type', 'outcome'],
    registers,
  });
  const dropped = new Counter({
    name: 'dropcast_notifications_dropped_total',
    help: 'Messages that were given up: too old, too many, or refused again and again.',
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

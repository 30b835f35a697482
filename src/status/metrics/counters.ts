import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Daemon } from '../../daemon/daemon.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import { endOf, feedLabel, processingOf, stepOf } from './labels.ts';

/** Seconds: from a request that is answered at once to a night's upload. */
const buckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200];

/** Counts what happens, from the event stream alone. All of it starts at 0 with the daemon, as counters of Prometheus may. */
export function countEvents(registry: Registry, daemon: Pick<Daemon, 'events' | 'config'>): void {
  const registers = [registry];
  const finished = new Counter({
    name: 'dropcast_files_finished_total',
    help: 'Files that ended, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['done', 'failed', 'held', 'skipped']) finished.inc({ outcome }, 0);
  const failures = new Counter({
    name: 'dropcast_failures_total',
    help: 'Steps of files that failed, by class of failure; most are tried again.',
    labelNames: ['class'],
    registers,
  });
  const requests = new Counter({
    name: 'dropcast_api_requests_total',
    help: 'Requests to the service and uploads, by the status of the answer; code is none when no answer came.',
    labelNames: ['operation', 'code'],
    registers,
  });
  const steps = new Histogram({
    name: 'dropcast_step_duration_seconds',
    help: 'Time of one attempt at create, upload and publish, and from the last byte to ready for processing.',
    labelNames: ['step', 'outcome'],
    buckets,
    registers,
  });
  for (const step of ['create', 'upload', 'processing', 'publish']) steps.zero({ step, outcome: 'ok' });
  const publishes = new Counter({
    name: 'dropcast_feed_publishes_total',
    help: 'Publishes of a feed, by outcome.',
    labelNames: ['feed', 'outcome'],
    registers,
  });
  daemon.events.listen((event) => {
    switch (event.type) {
      case 'file':
        return ofFile(event, finished, steps);
      case 'failure':
        return failures.inc({ class: event.failure.kind });
      case 'request': {
        const { operation, status, ms } = event;
        requests.inc({ operation, code: status ?? 'none' });
        const step = stepOf(operation);
        if (step !== null) steps.observe({ step, outcome: isOk(status) ? 'ok' : 'failed' }, ms / 1_000);
        return undefined;
      }
      case 'feed':
        return publishes.inc({
          feed: feedLabel(event.feed, daemon.config()),
          outcome: event.failure === null ? 'ok' : 'failed',
        });
      default:
        return undefined;
    }
  });
}

function ofFile(
  { before, facts }: Extract<DropcastEvent, { type: 'file' }>,
  finished: Counter<'outcome'>,
  steps: Histogram<'step' | 'outcome'>,
): void {
  const outcome = endOf(before, facts);
  if (outcome !== null) finished.inc({ outcome });
  const processing = processingOf(before, facts);
  if (processing !== null)
    steps.observe({ step: 'processing', outcome: processing.isReady ? 'ok' : 'failed' }, processing.ms / 1_000);
}

function isOk(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

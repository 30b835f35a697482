import { Registry } from 'prom-client';
import type { Metric } from 'prom-client';
import { createMetrics } from '../../../src/status/metrics/metrics.ts';
import { FakeFleet, someHost } from '../../fleet/fake-fleet.ts';
import { measuredDaemon } from '../../status/measured-daemon.ts';
import { failure, someFacts, uploaded } from '../../pipeline/some-facts.ts';
import { columns } from './lines.ts';

/** `dropcast_files  gauge  state`, and a line for each value of a label whose values are a closed set. */
export async function metricItems(): Promise<readonly string[]> {
  const registered: Described[] = [];
  const register = Registry.prototype.registerMetric;
  Registry.prototype.registerMetric = function (metric) {
    registered.push(metric as unknown as Described);
    register.call(this, metric);
  };
  try {
    const { daemon, events } = measuredDaemon(new FakeFleet(someHost('a')));
    const metrics = createMetrics(daemon, { version: '1', node: '26' });
    countEachOutcome(events);
    const text = await metrics.text();
    const types = typesIn(text);
    return [
      ...registered.map(({ name, labelNames }) =>
        columns(name, types.get(name) ?? 'untyped', [...labelNames].toSorted().join(',')),
      ),
      ...valueItems(text),
    ];
  } finally {
    Registry.prototype.registerMetric = register;
  }
}

type Described = Metric & { readonly name: string; readonly labelNames: readonly string[] };

function countEachOutcome(events: ReturnType<typeof measuredDaemon>['events']): void {
  for (const end of ['done', 'failed', 'held', 'skipped', 'vanished', 'superseded'] as const)
    events.emit({
      type: 'file',
      note: null,
      before: someFacts(uploaded),
      facts: someFacts({ ...uploaded, end, endedAt: 9 }),
    });
  for (const operation of ['create video', 'upload file', 'publish feed'])
    for (const status of [200, 500]) events.emit({ type: 'request', operation, status, ms: 1 });
  for (const refused of [null, failure('permanent')])
    events.emit({ type: 'feed', feed: 'feed_news', files: 1, failure: refused });
}

function typesIn(text: string): ReadonlyMap<string, string> {
  return new Map(Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gmu), ([, name = '', type = '']) => [name, type]));
}

/**
 * Metrics and label values that a daemon serves and metrics.txt lacks.
 *
 * @param text in the exposition format
 * @param listed the lines of metrics.txt
 */
export function unlistedMetrics(text: string, listed: readonly string[]): readonly string[] {
  const heads = new Set(listed.map((line) => line.split('  ').slice(0, 2).join('  ')));
  const types = [...typesIn(text)].map(([name, type]) => columns(name, type));
  return [...types.filter((item) => !heads.has(item)), ...valueItems(text).filter((item) => !listed.includes(item))];
}

/** Labels whose values are names of folders, feeds and hosts, or numbers; words.txt has classes of failures and operations. */
const open = new Set(['root', 'feed', 'host', 'version', 'node', 'code', 'le', 'class', 'operation']);

function valueItems(text: string): readonly string[] {
  return Array.from(text.matchAll(/^(dropcast_\w+?)(?:_bucket|_sum|_count)?\{(.*)\} /gmu)).flatMap(
    ([, name = '', labels = '']) =>
      Array.from(labels.matchAll(/(\w+)="([^"]*)"/gu)).flatMap(([, label = '', value = '']) =>
        open.has(label) ? [] : [columns(name, label, value)],
      ),
  );
}

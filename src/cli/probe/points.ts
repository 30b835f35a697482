import { compare, forms } from '@dropcast/recorder';
import type { FormName, RecordedExchange, SettledPoint } from '@dropcast/recorder';
import { openPoints } from '@dropcast/sandbox/profiles/switch-table';
import type { Config } from '../../config/config.ts';
import { formatDuration } from '../output/format.ts';
import type { ProbeResult } from './send-probe.ts';

/** A point that the specification leaves open, and what the service does. */
export interface Point {
  /** Name of the sandbox's switch or of the form; for a program. */
  readonly name: string;
  readonly about: string;
  readonly service: string;
  /** What dropcast does with it. */
  readonly dropcast: string;
}

/** A setting that the service needs and the configuration does not have. */
export interface Setting {
  /** For example `uploads.content_type`. */
  readonly key: string;
  /** The value as YAML. */
  readonly value: string;
  readonly why: string;
}

/** Lists the points that the exchanges and the course of the probe show. */
export function pointsOf(exchanges: readonly RecordedExchange[], result: ProbeResult): readonly Point[] {
  const { settled, forms: seen } = compare(exchanges);
  return [
    ...settled.map(({ name, values }): Point => ({ name, ...openPoints[name], service: listed(values) })),
    ...seen.map(({ name, values }): Point => ({ name, ...forms[name], service: listed(values) })),
    ...courseOf(result),
  ].map(({ name, about, service, dropcast }) => ({ name, about, service, dropcast }));
}

function listed(values: SettledPoint['values']): string {
  return values.map(({ value }) => value).join(', ');
}

function courseOf({ statuses, readyMs, afterDeletion }: ProbeResult): readonly Point[] {
  const ready = readyMs === null ? '' : formatDuration(readyMs);
  const points: readonly (readonly [name: string, about: string, service: string, dropcast: string])[] = [
    ['statuses', 'Statuses of a video', statuses.join(', '), 'waits until the status is ready or failed'],
    ['processing_time', 'Time until a small video is ready', ready, 'checks every `poll.interval`'],
    ['after_deletion', 'Video after its deletion', afterDeletion ?? '', 'needs no answer'],
  ];
  return points.flatMap(([name, about, service, dropcast]) =>
    service === '' ? [] : [{ name, about, service, dropcast }],
  );
}

/** Points that a probe cannot see, and where to read about them. */
export const notProbed: readonly string[] = [
  'webhooks: the service sends them only to an address that it knows (docs/configuration.md, Webhooks)',
  'Idempotency-Key: a test takes two records (service.idempotency_key)',
  'size limits, quotas and what an expired address answers: dropcast learns them when they occur',
];

/** Everything from which settings are derived. */
interface Evidence {
  /** Values that were seen, by name of the switch or form. */
  seen(name: FormName | SettledPoint['name']): readonly string[];
  readonly config: Config | null;
  readonly baseUrl: string;
}

/** Derives the settings that the service needs. @param config the present one; null if there is none */
export function settingsOf(
  exchanges: readonly RecordedExchange[],
  { config, baseUrl }: Pick<Evidence, 'config' | 'baseUrl'>,
): readonly Setting[] {
  const { settled, forms: seenForms } = compare(exchanges);
  const values = new Map([...settled, ...seenForms].map((point) => [point.name as string, point.values]));
  const seen: Evidence['seen'] = (name) => (values.get(name) ?? []).map(({ value }) => value);
  return rules.flatMap((rule) => rule({ seen, config, baseUrl }));
}

/** Each rule returns the settings that follow from what was seen. */
const rules: readonly ((evidence: Evidence) => readonly Setting[])[] = [
  ({ seen }) =>
    seen('upload_headers').includes('without_type')
      ? [
          {
            key: 'uploads.content_type',
            value: 'none',
            why: 'the upload host refuses a Content-Type; without this setting, it refuses the first upload',
          },
        ]
      : [],
  ({ seen }) =>
    seen('missing_header').map((name) => ({
      key: 'uploads.headers',
      value: `{ ${name}: ${knownValues[name] ?? 'VALUE'} }`,
      why: `the upload host refuses a PUT without ${name}${knownValues[name] === undefined ? '; ask the service for the VALUE' : ''}`,
    })),
  ({ seen, baseUrl }) =>
    seen('upload_key').length === 0
      ? []
      : seen('upload_origin')
          .filter((origin) => origin !== new URL(baseUrl).origin)
          .map((origin) => ({
            key: 'service.send_key_to',
            value: `[${JSON.stringify(origin)}]`,
            why: 'the upload host answers 401 without the key; only if you trust it with the key',
          })),
  ({ seen, config }) => {
    const [limit] = seen('requests_per_hour')
      .map(Number)
      .toSorted((one, other) => one - other);
    const isLower = limit !== undefined && limit < (config?.service.requestsPerHour ?? defaultPerHour);
    if (!isLower) return [];
    return [{ key: 'service.requests_per_hour', value: String(limit), why: 'the service says that this is its limit' }];
  },
];

/** The default of `service.requests_per_hour`. */
const defaultPerHour = 1000;

/** Values of headers that have only one for a plain upload. Azure: a block blob is what one PUT creates. */
const knownValues: Readonly<Record<string, string>> = { 'x-ms-blob-type': 'BlockBlob' };

/** Formats settings as YAML to paste. */
export function yamlOf(settings: readonly Setting[]): readonly string[] {
  const sections = Map.groupBy(settings, ({ key }) => key.split('.')[0] ?? '');
  return [...sections].flatMap(([section, own]) => [
    `${section}:`,
    ...own.map(({ key, value, why }) => `  ${key.slice(section.length + 1)}: ${value} # ${why}`),
  ]);
}

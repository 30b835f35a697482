import { configJsonSchema } from '../../src/config/json-schema.ts';
import type { JsonSchema } from '../../src/config/json-schema.ts';
import { item, page, paragraph, plain, section, subsection, verbatim } from './roff.ts';

/** What a schema says beside its structure. */
interface Annotated extends JsonSchema {
  readonly properties?: Readonly<Record<string, Annotated>>;
  readonly items?: Annotated;
  readonly anyOf?: readonly Annotated[];
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly examples?: readonly unknown[];
  readonly required?: readonly string[];
}

/** A key of the configuration, as `folders[].rules[].match`. */
export interface KeyDocument {
  readonly key: string;
  readonly type: string;
  readonly description: string;
  readonly facts: readonly string[];
}

/**
 * dropcast.yaml(5): every key of the schema.
 *
 * @param epochSeconds its day
 */
export function configManual(epochSeconds: number): string {
  const groups = Map.groupBy(configKeys(), ({ key }) => key.split(/[.[]/, 1)[0] ?? '');
  return `${[
    page('DROPCAST.YAML', 5, epochSeconds),
    section('Name'),
    'dropcast.yaml \\- configuration of dropcast',
    section('Description'),
    plain(introduction[0] ?? ''),
    ...introduction.slice(1).map(paragraph),
    section('Keys'),
    ...[...groups].flatMap(([name, keys]) => [subsection(name), ...keys.map(keyItem)]),
    section('Example'),
    plain(
      'What has to be there, and where the videos of each folder below news go. The file that comes with the package shows every key.',
    ),
    verbatim(configExample),
    section('Files'),
    item('/etc/dropcast/dropcast.yaml', 'Of `dropcast.service`.'),
    item('/etc/dropcast/<name>.yaml', 'Of `dropcast@`NAME`.service`.'),
    item('/usr/lib/dropcast/config.schema.json', 'The same as JSON Schema, for editors.'),
    section('See also'),
    plain('`dropcast`(8), `systemd.exec`(5)'),
  ].join('\n')}\n`;
}

/** All keys that hold a value, in the order of the schema. */
export function configKeys(schema: Annotated = configJsonSchema(), place = ''): readonly KeyDocument[] {
  const { items } = schema;
  if (items?.properties !== undefined) return configKeys(items, `${place}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const key = place === '' ? name : `${place}.${name}`;
    const isRequired = schema.required?.includes(name) === true;
    const below = property.anyOf === undefined ? configKeys(property, key) : [];
    const own = keyDocument(key, property, isRequired);
    // A mapping with fixed keys needs no line of its own, unless it is repeated.
    return property.properties === undefined ? [own, ...below] : below;
  });
}

function keyDocument(key: string, schema: Annotated, isRequired: boolean): KeyDocument {
  const { description = '', minimum, maximum, examples, minItems } = schema;
  const itemExamples = schema.items?.examples;
  return {
    key,
    type: typeOf(schema),
    description,
    facts: [
      ...(minimum !== undefined && maximum !== undefined ? [`From ${minimum} to ${maximum}.`] : []),
      ...(minItems !== undefined ? [`At least ${minItems === 1 ? 'one' : minItems}.`] : []),
      ...(examples !== undefined ? [`Examples: ${examples.map(shown).join(', ')}.`] : []),
      ...(itemExamples !== undefined ? [`Example: ${shown(itemExamples.slice(0, 1))}.`] : []),
      ...(isRequired ? ['Must be there.'] : defaultOf(schema)),
    ],
  };
}

function typeOf(schema: Annotated): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.enum !== undefined) return schema.enum.join(' | ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object')
    return schema.properties === undefined ? 'mapping' : `{ ${Object.keys(schema.properties).join(', ')} }`;
  return schema.type === 'integer' ? 'whole number' : 'text';
}

/** A default that depends on the surroundings is told by the description. */
function defaultOf({ default: standard }: Annotated): readonly string[] {
  return standard === undefined ? [] : [`Default: ${shown(standard)}.`];
}

function shown(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function keyItem({ key, type, description, facts }: KeyDocument): string {
  return item(key, `(${type}) ${description}`, ...(facts.length === 0 ? [] : [facts.join(' ')]));
}

export const configExample = `service:
  base_url: https://video.example.com/v1
  api_key: !credential api_key
folders:
  - path: /srv/media/inbox
    after_ready: { move: 'done/{date}' }
    rules:
      - match: 'news/{show}/**'
        channel: ch_news
        title: '{show}: {title}'
        tags: [news, '{show}']
        publish: [feed_news]
      - match: '**'
        channel: ch_main`;

const introduction = [
  'One YAML file says which account is used, which folders are watched, and what becomes of the files in them. `dropcast check` names everything that is wrong with it at once, each with its line; unknown keys are wrong.',
  'It is found at `--config`, else at $DROPCAST_CONFIG, else as `./dropcast.yaml`, else as `/etc/dropcast/dropcast.yaml`. Relative paths start at the file itself, ~ is the home directory.',
  'Durations are whole numbers with a unit: `500ms`, `5s`, `2m`, `24h`, `7d`; never more than `24d`.',
  'The API key and the secret of a webhook are written as `!credential NAME` (a credential of systemd), `!file PATH` or `!env NAME`. In text, * & ! @ { [ at the start, and a colon with a blank after it, need quotes.',
];

import { z } from 'zod';
import { type KeyPath, isMapping } from './raw-tree.ts';
import { configSchema } from './schema.ts';
import type { SecretKind } from './schema-values.ts';

/** The subset of JSON Schema that the configuration uses. */
export interface JsonSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  /** Alternatives for mappings that are distinguished by `type`. */
  readonly oneOf?: readonly JsonSchema[];
  readonly const?: string;
  readonly additionalProperties?: JsonSchema | boolean;
  /** Present only in {@link markedSchema}. */
  readonly 'x-secret'?: SecretKind;
}

/** A name, not an address: the schema file is next to the configuration and nothing is fetched. */
const ID = 'urn:dropcast:config';

/** The configuration schema for editors. Uses Draft-07, which the YAML language server supports best. */
export function configJsonSchema(): JsonSchema {
  const { $schema, ...rest } = JSON.parse(JSON.stringify(markedSchema, withoutMarks)) as Record<string, unknown>;
  return { $schema, $id: ID, title: 'dropcast configuration', ...rest } as JsonSchema;
}

function withoutMarks(key: string, value: unknown): unknown {
  return key === 'x-secret' ? undefined : value;
}

/** The same schema, with every secret marked. */
export const markedSchema = z.toJSONSchema(configSchema, { target: 'draft-7', io: 'input' }) as JsonSchema;

/** The content of `config.schema.json`. */
export function configJsonSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

/** The schema for a place in the tree; `null` if there can be no such place. */
export function schemaAt(path: KeyPath, root: JsonSchema = markedSchema): JsonSchema | null {
  let schema: JsonSchema | null = root;
  for (const step of path) {
    if (schema === null) return null;
    schema = typeof step === 'number' ? (schema.items ?? null) : (propertiesOf(schema)[step] ?? null);
  }
  return schema;
}

/**
 * The keys that a mapping at this place may have.
 *
 * @param type the mapping's `type`, if the keys depend on it
 */
export function keysAt(path: KeyPath, type?: string): readonly string[] {
  const schema = schemaAt(path);
  if (schema === null) return [];
  return Object.keys(propertiesOf(ofType(schema, type) ?? schema));
}

function ofType({ oneOf }: JsonSchema, type: unknown): JsonSchema | undefined {
  return oneOf?.find(({ properties }) => properties?.['type']?.const === type);
}

/** The place of a value that is a secret or names the source of one. */
export interface SecretPlace {
  readonly path: KeyPath;
  readonly raw: unknown;
  readonly kind: SecretKind;
}

/** All values in the tree that the schema marks as secret. */
export function secretPlaces(tree: unknown): readonly SecretPlace[] {
  return placesIn(tree, markedSchema, []);
}

function placesIn(raw: unknown, schema: JsonSchema, path: KeyPath): readonly SecretPlace[] {
  const kind = schema['x-secret'];
  if (kind !== undefined) return raw === undefined ? [] : [{ path, raw, kind }];
  if (Array.isArray(raw)) return raw.flatMap((each, index) => placesIn(each, schema.items ?? {}, [...path, index]));
  if (!isMapping(raw)) return [];
  // The members may depend on the `type`; an unknown one has none.
  const meant = schema.oneOf === undefined ? schema : (ofType(schema, raw['type']) ?? {});
  const others = typeof meant.additionalProperties === 'object' ? meant.additionalProperties : {};
  const properties = propertiesOf(meant);
  return Object.entries(raw).flatMap(([name, each]) => placesIn(each, properties[name] ?? others, [...path, name]));
}

/** All places that allow a key of this name, such as `uploads.concurrency` and `folders[].settle`. */
export function placesOf(key: string, schema: JsonSchema = markedSchema, place = ''): readonly string[] {
  if (schema.items !== undefined) return placesOf(key, schema.items, `${place}[]`);
  return Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
    const here = place === '' ? name : `${place}.${name}`;
    return [...(name === key ? [here] : []), ...placesOf(key, property, here)];
  });
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const all = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map(({ properties }) => properties ?? {});
  return Object.assign(Object.create(null), ...all) as Record<string, JsonSchema>;
}

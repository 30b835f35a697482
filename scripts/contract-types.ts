import { readFile } from 'node:fs/promises';
import { compile } from 'json-schema-to-typescript';
import { format } from 'oxfmt';
import { parse } from 'yaml';

type Schema = Readonly<Record<string, unknown>>;

/** The types of all schemas of openapi.yaml, as TypeScript. */
export async function contractTypes(): Promise<string> {
  const root = new URL('../', import.meta.url);
  const document = parse(await readFile(new URL('packages/sandbox/openapi.yaml', root), 'utf8')) as {
    readonly components: { readonly schemas: Record<string, Schema> };
  };
  const schema = { definitions: inDefinitions(document.components.schemas) as Record<string, Schema> };
  const code = await compile(schema, 'Contract', OPTIONS);
  const settings = JSON.parse(await readFile(new URL('.oxfmtrc.json', root), 'utf8')) as Record<string, unknown>;
  return (await format('types.gen.ts', withoutNoise(code), settings)).code;
}

const OPTIONS = {
  bannerComment: '',
  additionalProperties: false,
  unreachableDefinitions: true,
  format: false,
  // A reference leads nowhere but into the document itself.
  $refOptions: { resolve: { external: false } },
};

/**
 * The tool reads JSON schemas, which keep their parts under `definitions`, and accepts no description next to a
 * reference.
 */
function inDefinitions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inDefinitions);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema) return { $ref: String(schema.$ref).replace('#/components/schemas/', '#/definitions/') };
  const kept = Object.entries(schema).filter(([key]) => !OWN_WORDS.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, inDefinitions(value)]));
}

const OWN_WORDS = new Set(['x-source', 'x-assumption', 'examples']);

/** The tool makes a type of the schema that only holds the others too. The words about each type are in openapi.yaml. */
function withoutNoise(code: string): string {
  const types = code
    .replace(/export interface Contract \{[^}]*\}\n?/, '')
    .replaceAll(/\/\*\*(?:(?!\*\/)[^])*\*\/\n/g, '');
  return `/** Made from openapi.yaml by \`npm run generate\`. */\n\n${types}`;
}

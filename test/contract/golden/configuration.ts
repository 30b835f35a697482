import type { JsonSchema } from '../../../src/config/json-schema.ts';
import { columns } from './lines.ts';

/** The keywords of a JSON Schema that the lists name. */
interface Schema extends JsonSchema {
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

/** `folders[].settle  string  default "5s"`; one line more for each word that a key accepts. */
export function configurationItems(root: Schema): readonly string[] {
  return Object.entries(childrenOf(root)).flatMap(([name, child]) =>
    itemsAt(name, child, (root.required ?? []).includes(name)),
  );
}

function itemsAt(path: string, schema: Schema, isRequired: boolean): readonly string[] {
  const variants = variantsOf(schema);
  // A word without a type of its own is listed below: a key that accepts one more keeps its type.
  const types = [...new Set(variants.flatMap(({ type }) => type ?? []))];
  const words = variants.flatMap((each) => each.enum ?? (each.const === undefined ? [] : [each.const]));
  const standard = schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`;
  const required = new Set(
    variants.filter(({ type }) => type === 'object').flatMap((each) => [...(each.required ?? [])]),
  );
  return [
    columns(path, types.toSorted().join('|'), isRequired ? 'required' : standard),
    ...words.map((word) => columns(path, 'accepts', JSON.stringify(word))),
    ...Object.entries(childrenOf(schema)).flatMap(([name, child]) =>
      itemsAt(`${path}.${name}`, child, required.has(name)),
    ),
    ...variants.flatMap(({ items }) => (items === undefined ? [] : itemsAt(`${path}[]`, items as Schema, false))),
    ...variants.flatMap(({ additionalProperties: others }) =>
      typeof others === 'object' ? itemsAt(`${path}{}`, others, false) : [],
    ),
  ];
}

/** The schema itself, and what it may be instead. */
function variantsOf(schema: Schema): readonly Schema[] {
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])] as readonly Schema[];
  return [schema, ...inner.flatMap(variantsOf)];
}

/** A key that several variants share may be any of its schemas. */
function childrenOf(schema: Schema): Readonly<Record<string, Schema>> {
  const all = Map.groupBy(
    variantsOf(schema).flatMap(({ properties }) => Object.entries(properties ?? {})),
    ([name]) => name,
  );
  return Object.fromEntries(
    [...all].map(([name, [first, ...others]]) => [
      name,
      others.length === 0 && first !== undefined
        ? first[1]
        : { anyOf: [first, ...others].flatMap((each) => each?.[1] ?? []) },
    ]),
  );
}

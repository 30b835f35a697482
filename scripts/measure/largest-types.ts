import { posix } from 'node:path';
import { Visitor } from 'rolldown/utils';
import type { Figure } from './measure.ts';
import { sourcesBelow } from './sources.ts';
import type { Source } from './sources.ts';

/**
 * How many members each interface and each type that is an object has: nested ones, and those that it extends,
 * included.
 */
export function typeFigures(root: string): readonly Figure[] {
  const sources = ['src', 'packages'].flatMap((folder) => sourcesBelow(root, folder));
  const files = new Map(
    sources.filter(({ path }) => !path.endsWith('.gen.ts')).map((each) => [each.path, typesOf(each)]),
  );
  const declared = [...files].flatMap(([path, { types }]) => [...types.keys()].map((name) => ({ path, name })));
  const sizes = declared.map(({ path, name }) => ({ of: name, what: 'members', value: membersOf(files, path, name) }));
  // Of types with the same name the largest one counts, so that a type keeps its row when it moves.
  const bySize = sizes.toSorted((one, other) => other.value - one.value);
  return [...Map.groupBy(bySize, ({ of }) => of).values()].flatMap((same) => same.slice(0, 1));
}

interface TypesOfFile {
  readonly types: ReadonlyMap<string, { readonly own: number; readonly parts: readonly string[] }>;
  /** Local name → where it comes from. */
  readonly imported: ReadonlyMap<string, { readonly path: string; readonly name: string }>;
}

function membersOf(files: ReadonlyMap<string, TypesOfFile>, path: string, name: string): number {
  const file = files.get(path);
  const type = file?.types.get(name);
  if (type !== undefined) return type.parts.reduce((sum, part) => sum + membersOf(files, path, part), type.own);
  const from = file?.imported.get(name);
  return from === undefined ? 0 : membersOf(files, from.path, from.name);
}

function typesOf({ path, parsed }: Source): TypesOfFile {
  const types = new Map<string, { own: number; parts: string[] }>();
  let current: { own: number; parts: string[] } | null = null;
  const begin = (name: string, parts: string[]): void => {
    current = { own: 0, parts };
    types.set(name, current);
  };
  const end = (): void => void (current = null);
  const count = (): void => {
    if (current !== null) current.own += 1;
  };
  new Visitor({
    TSInterfaceDeclaration: ({ id, extends: parents }) =>
      begin(
        id.name,
        parents.flatMap(({ expression }) => (expression.type === 'Identifier' ? expression.name : [])),
      ),
    'TSInterfaceDeclaration:exit': end,
    TSTypeAliasDeclaration: ({ id, typeAnnotation }) => {
      const operands = typeAnnotation.type === 'TSIntersectionType' ? typeAnnotation.types : [typeAnnotation];
      if (!operands.some(({ type }) => type === 'TSTypeLiteral')) return;
      begin(
        id.name,
        operands.flatMap((each) => namedBy(each)),
      );
    },
    'TSTypeAliasDeclaration:exit': end,
    TSPropertySignature: count,
    TSMethodSignature: count,
    TSCallSignatureDeclaration: count,
    TSIndexSignature: count,
  }).visit(parsed.program);
  return { types, imported: importedBy(path, parsed) };
}

interface Operand {
  readonly type: string;
  readonly typeName?: { readonly type: string; readonly name?: string };
}

function namedBy({ typeName }: Operand): string[] {
  return typeName?.name === undefined ? [] : [typeName.name];
}

function importedBy(path: string, { module }: Source['parsed']): TypesOfFile['imported'] {
  return new Map(
    module.staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ importName, localName }) => [
        localName.value,
        { path: posix.join(posix.dirname(path), moduleRequest.value), name: importName.name ?? localName.value },
      ]),
    ),
  );
}

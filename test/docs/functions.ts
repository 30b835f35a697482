import { parseSync, Visitor } from 'rolldown/utils';

/** A function, method or closure of a TypeScript source. */
export interface SourceFunction {
  /** As in the source: `#tick` for a private method, `(closure)` for one without a name. */
  readonly name: string;
  /** Of all of it, from 1, in lines. */
  readonly firstLine: number;
  readonly lines: number;
  /** Of the body, as offsets in the source. */
  readonly body: { readonly start: number; readonly end: number };
  /** An arrow function with an expression in place of a block. */
  readonly isExpression: boolean;
}

/** All functions with a body, in the order of the source. @throws Error when the source is not TypeScript */
export function functionsOf(source: string, file: string): readonly SourceFunction[] {
  const { program, errors } = parseSync(file, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  const found: SourceFunction[] = [];
  const names = new Map<number, string>();
  const lineAt = (offset: number): number => source.slice(0, offset).split('\n').length;
  const add = (
    { start, end, body }: Spanned & { readonly body: (Spanned & { type: string }) | null },
    own?: string,
  ) => {
    if (body === null) return;
    const firstLine = lineAt(start);
    found.push({
      name: own ?? names.get(start) ?? '(closure)',
      firstLine,
      lines: lineAt(end) - firstLine + 1,
      body: { start: body.start, end: body.end },
      isExpression: body.type !== 'BlockStatement' && body.type !== 'FunctionBody',
    });
  };
  const name = (key: Spanned, value: Spanned | null): void => {
    if (value !== null) names.set(value.start, source.slice(key.start, key.end));
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => {
      if (id.type === 'Identifier') name({ start: id.start, end: id.start + id.name.length }, init);
    },
    Property: ({ key, value }) => name(key, value),
    PropertyDefinition: ({ key, value }) => name(key, value),
    MethodDefinition: ({ key, value }) => name(key, value),
    FunctionDeclaration: (node) => add(node, node.id?.name),
    FunctionExpression: (node) => add(node, node.id?.name),
    ArrowFunctionExpression: (node) => add(node),
  }).visit(program);
  return found;
}

interface Spanned {
  readonly start: number;
  readonly end: number;
}

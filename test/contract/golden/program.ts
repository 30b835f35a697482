import { join } from 'node:path';
import { API } from 'typescript/unstable/sync';
import type { Checker } from 'typescript/unstable/sync';
import {
  isCallExpression,
  isClassDeclaration,
  isFunctionDeclaration,
  isIdentifier,
  isInterfaceDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
} from 'typescript/unstable/ast/is';
import type { CallExpression, Node } from 'typescript/unstable/ast';

export const root = join(import.meta.dirname, '../../..');

/** `src`, and what of the packages prints documents or writes to its log. */
const folders = ['src', 'packages/notify/src', 'packages/recorder/src/commands', 'packages/sandbox/src/commands'];

/** The program as the compiler sees it. Leaving its block ends the compiler. */
export interface CompiledProgram extends Disposable {
  readonly checker: Checker;
  /** All nodes below `src`, and of the packages that print documents or write to its log. */
  readonly nodes: readonly PlacedNode[];
  /**
   * Texts that stand as a member of an object, as in `code: 'disk_full'`, or as the first argument of a call, as in `asking('get video')`.
   *
   * @param name of the member or function
   * @param folder from the root of the repository
   */
  textsOf(name: string, folder: string): readonly string[];
  /** @throws {Error} when no file of `src` or of this folder declares exactly one interface of this name */
  interfaceNamed(name: string): Node;
}

export interface PlacedNode {
  readonly node: Node;
  /** The top-level function or class that it is in; empty outside of these. */
  readonly within: string;
}

export function openProgram(): CompiledProgram {
  const api = new API({ cwd: root });
  const config = join(root, 'tsconfig.json');
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
  if (project === undefined) throw new Error(`the compiler cannot open ${config}`);
  const { program, checker } = project;
  const nodesBelow = (folder: string): readonly PlacedNode[] =>
    program
      .getSourceFileNames()
      .filter((file) => file.startsWith(`${folder}/`))
      .map((file) => program.getSourceFile(file))
      .flatMap((source) => (source === undefined ? [] : nodesIn(source, '')));
  const nodes = folders.flatMap((folder) => nodesBelow(join(root, folder)));
  const interfaces = [...nodes, ...nodesBelow(import.meta.dirname)]
    .map(({ node }) => node)
    .filter(isInterfaceDeclaration);
  return {
    checker,
    nodes,
    textsOf: (name, folder) =>
      nodesBelow(join(root, folder)).flatMap(({ node }) => {
        const text = namedText(node, name);
        return text !== undefined && isStringLiteral(text) ? [text.text] : [];
      }),
    interfaceNamed: (name) => {
      const [found, ...others] = interfaces.filter((each) => each.name.text === name);
      if (found === undefined || others.length > 0)
        throw new Error(`${others.length + 1} interfaces are named ${name}`);
      return found;
    },
    [Symbol.dispose]: () => api.close(),
  };
}

function nodesIn(node: Node, within: string): PlacedNode[] {
  const isNamed = isFunctionDeclaration(node) || isClassDeclaration(node);
  const name = within === '' && isNamed ? (node.name?.text ?? '') : within;
  const found: PlacedNode[] = [{ node, within: name }];
  node.forEachChild((child) => {
    for (const each of nodesIn(child, name)) found.push(each);
  });
  return found;
}

function namedText(node: Node, name: string): Node | undefined {
  if (isCallExpression(node) && nameOfCall(node) === name) return node.arguments[0];
  const isMember = isPropertyAssignment(node) && isIdentifier(node.name) && node.name.text === name;
  return isMember ? node.initializer : undefined;
}

/** `printJson` for `printJson(…)`, `append` for `log.append(…)`; empty for what has no name. */
export function nameOfCall({ expression }: CallExpression): string {
  const named = isPropertyAccessExpression(expression) ? expression.name : expression;
  return isIdentifier(named) ? named.text : '';
}

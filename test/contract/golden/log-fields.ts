import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { isCallExpression } from 'typescript/unstable/ast/is';
import { createLogger } from '../../../src/log/create-logger.ts';
import { SecretValues } from '../../../src/log/redaction.ts';
import { shapeOf } from './json-shape.ts';
import { placeItems } from './lines.ts';
import type { CompiledProgram } from './program.ts';

/** Fields of all calls of the program's log, by the types of their arguments, and what the log adds to each line. */
export async function logFieldItems({ nodes, checker }: CompiledProgram): Promise<readonly string[]> {
  const types = nodes.flatMap(({ node }) => {
    const fields = isCallExpression(node) ? node.arguments[1] : undefined;
    if (fields === undefined) return [];
    const [message, second] = checker.getResolvedSignature(node)?.getParameters() ?? [];
    const isLogCall = message?.name === 'message' && second?.name === 'fields'; // those of `Logger`
    return isLogCall ? (checker.getTypeAtLocation(fields) ?? []) : [];
  });
  const shape = [...shapeOf(types, checker)].filter(([path]) => !path.startsWith('{}'));
  const isKnown = shape.map(([path, place]) => [path, { ...place, isOptional: false }] as const);
  return [...placeItems('log line', new Map(isKnown)), ...(await fieldsOfEachLine())];
}

async function fieldsOfEachLine(): Promise<readonly string[]> {
  const stream = new PassThrough();
  const written = text(stream);
  const options = {
    level: 'debug',
    format: 'json',
    stream,
    isTerminal: false,
    env: {},
    secrets: new SecretValues(),
  } as const;
  const { logger, close } = createLogger(options);
  const facts = { code: 'c', status: 1, kind: 'k', cause: new Error('why'), errors: [new Error('one')] };
  logger.error('m', { err: Object.assign(new Error('what'), facts) });
  await close();
  stream.end();
  const { err, ...line } = JSON.parse(await written) as Readonly<Record<string, unknown>>;
  return [...fieldItems('', line), ...fieldItems('err.', err as object)];
}

const fieldItems = (prefix: string, fields: object): readonly string[] =>
  Object.entries(fields).map(
    ([name, value]) => `log line  ${prefix}${name}  ${Array.isArray(value) ? 'array' : typeof value}`,
  );

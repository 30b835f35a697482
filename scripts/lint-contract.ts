import { relative, resolve } from 'node:path';
import {
  BaseResolver,
  createConfig,
  getLineColLocation,
  isAbsoluteUrl,
  lint,
  type NormalizedProblem,
  type Oas3Rule,
  type Oas3Visitor,
  type UserContext,
  YamlParseError,
} from '@redocly/openapi-core';

/** What is wrong with an OpenAPI document, each as `file:line:column: sentence (rule)`. Nothing is fetched. */
export async function contractProblems(path: string): Promise<string[]> {
  const rules = { oas3: { [RULE]: saysItsSource } };
  const config = await createConfig(
    { extends: ['recommended'], rules: { [RULE]: 'error' } },
    { plugins: [{ id: 'contract', rules }] },
  );
  try {
    return (await lint({ ref: path, config, externalRefResolver: new OfflineResolver() })).map(sentenceOf);
  } catch (error) {
    if (!(error instanceof YamlParseError)) throw error;
    return [`${relative(process.cwd(), path)}:${error.line}:${error.col}: ${error.message}`];
  }
}

const RULE = 'contract/source';

/** A contract that is complete only with something from the network is none. */
class OfflineResolver extends BaseResolver {
  override async loadExternalRef(reference: string): ReturnType<BaseResolver['loadExternalRef']> {
    if (isAbsoluteUrl(reference)) throw new Error(`${reference} is outside of this repository.`);
    return super.loadExternalRef(reference);
  }
}

/** Each part of the contract says whether the specification gives it, and if not, what is assumed and why. */
const saysItsSource: Oas3Rule = (): Oas3Visitor => ({
  Operation: sourced,
  Parameter: sourced,
  RequestBody: sourced,
  Response: sourced,
  Header: sourced,
  SecurityScheme: sourced,
  SchemaProperties: (properties: object, context: UserContext) => {
    // The branches of an allOf only narrow down what is marked where it is defined.
    if (context.location.pointer.includes('/allOf/')) return;
    for (const [name, schema] of Object.entries(properties)) requireSource(schema as Marked, context, name);
  },
});

interface Marked {
  readonly 'x-source'?: unknown;
  readonly 'x-assumption'?: unknown;
}

function sourced(part: object, context: UserContext): void {
  requireSource(part, context);
}

function requireSource(part: Marked, { report, location }: UserContext, name?: string): void {
  const place = name === undefined ? location : location.child([name]);
  const subject = name === undefined ? 'This' : `The property ${name}`;
  const { 'x-source': source, 'x-assumption': assumption } = part;
  if (source !== 'given' && source !== 'assumed')
    report({ message: `${subject} must say x-source: given or assumed.`, location: place.key() });
  else if (assumption === undefined ? source === 'assumed' : !isSentence(assumption))
    report({ message: `${subject} must say in x-assumption what is assumed, and why.`, location: place.key() });
}

function isSentence(value: unknown): boolean {
  return typeof value === 'string' && /^\S.{9,}\.\s*$/s.test(value);
}

function sentenceOf({ location, message, ruleId }: NormalizedProblem): string {
  const [first] = location;
  const { start } = first ? getLineColLocation(first) : { start: { line: 1, col: 1 } };
  const file = first ? relative(process.cwd(), first.source.absoluteRef) : '';
  return `${file}:${start.line}:${start.col}: ${message} (${ruleId})`;
}

if (import.meta.main) {
  const problems = await contractProblems(resolve(import.meta.dirname, '../packages/sandbox/openapi.yaml'));
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

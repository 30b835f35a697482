import {
  answerNamed,
  operations,
  type DocumentedAnswer,
  type Operation,
  type Parameter,
  type Schema,
} from '../../packages/sandbox/src/contract/document.ts';
import { schemaProblems, textProblems } from '../../packages/sandbox/src/contract/schema-check.ts';

/** A request to the service. */
export interface Sent {
  readonly method: string;
  /** Absolute, or from the path on. */
  readonly url: string;
  readonly requestHeaders: Headers;
  /** Undefined when it was not looked at, as that of an upload. */
  readonly requestBody?: string | undefined;
}

/** A request to the service and its answer. */
export interface Exchange extends Sent {
  readonly status: number;
  readonly responseHeaders: Headers;
  readonly responseBody: string;
}

/**
 * What of the exchange is not as openapi.yaml says; nothing when it is. An answer must be documented to its last field. A
 * request must be valid only if it was answered with 2xx: trying out wrong ones is what tests do.
 */
export function checkExchange(exchange: Exchange): string[] {
  const operation = operationOf(exchange);
  const problems = operation ? problemsAt(operation, exchange) : problemsElsewhere(exchange);
  return problems.map((problem) => `${exchange.method} ${pathOf(exchange)} ${exchange.status}: ${problem}`);
}

/** What of the request alone is not as openapi.yaml says: for a client whose other side is made up. */
export function checkRequest(sent: Sent): string[] {
  const operation = operationOf(sent);
  const problems = operation ? requestProblems(operation, sent) : ['this operation is not in the contract'];
  return problems.map((problem) => `${sent.method} ${pathOf(sent)}: ${problem}`);
}

/** The operation that the request asks for. HEAD is GET without a body (RFC 9110 section 9.3.2). */
export function operationOf({ method, url }: Pick<Sent, 'method' | 'url'>): Operation | undefined {
  const asked = method === 'HEAD' ? 'GET' : method;
  return operations.find((operation) => operation.method === asked && isAt(operation.path, pathOf({ url })));
}

function problemsAt(operation: Operation, exchange: Exchange): string[] {
  const { status, method } = exchange;
  const answer = operation.answers[status];
  if (!answer) return [`${operation.name} has no answer ${status}`];
  const isAccepted = status >= 200 && status < 300;
  return [
    ...headerProblems(answer, exchange),
    ...(method === 'HEAD' ? emptyBodyProblems(exchange) : bodyProblems(answer, exchange)),
    ...(isAccepted ? requestProblems(operation, exchange) : []),
  ];
}

/** At a path or with a method that the contract does not have. */
function problemsElsewhere(exchange: Exchange): string[] {
  const { method, status, responseHeaders } = exchange;
  if (method === 'OPTIONS' && status === 204)
    return [...allowProblems(responseHeaders), ...emptyBodyProblems(exchange)];
  if (status === 405) return [...allowProblems(responseHeaders), ...answerProblems(METHOD_NOT_ALLOWED, exchange)];
  const refusal = REFUSALS_ANYWHERE[status];
  return refusal ? answerProblems(answerNamed(refusal), exchange) : ['this operation is not in the contract'];
}

const REFUSALS_ANYWHERE: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  429: 'RateLimited',
  500: 'ServerError',
  400: 'BadRequest',
  408: 'RequestTimeout',
  417: 'ExpectationFailed',
  421: 'MisdirectedRequest',
  431: 'HeadersTooLarge',
};

const METHOD_NOT_ALLOWED: DocumentedAnswer = {
  content: {
    'application/json': {
      schema: {
        allOf: [
          { $ref: '#/components/schemas/ErrorAnswer' },
          { properties: { error: { properties: { code: { const: 'method_not_allowed' } } } } },
        ],
      },
    },
  },
};

function allowProblems(headers: Headers): string[] {
  return headers.has('allow') ? [] : ['has no Allow'];
}

function answerProblems(answer: DocumentedAnswer, exchange: Exchange): string[] {
  if (exchange.method === 'HEAD') return emptyBodyProblems(exchange);
  return bodyProblems(answer, exchange);
}

function headerProblems({ headers = {} }: DocumentedAnswer, { responseHeaders }: Exchange): string[] {
  return Object.entries(headers).flatMap(([name, header]) => {
    const value = responseHeaders.get(name);
    if (value === null) return header.required ? [`has no ${name}`] : [];
    return textProblems(header.schema, value).map((problem) => `${name}: ${problem}`);
  });
}

function bodyProblems({ content }: DocumentedAnswer, exchange: Exchange): string[] {
  if (!content) return emptyBodyProblems(exchange);
  const type = mediaTypeOf(exchange.responseHeaders);
  const documented = content[type];
  if (!documented) return [`the answer is of type ${type || 'unknown'}, not ${Object.keys(content).join(' or ')}`];
  return jsonProblems(documented.schema ?? {}, exchange.responseBody, 'the answer');
}

function emptyBodyProblems({ responseBody }: Exchange): string[] {
  return responseBody === '' ? [] : ['the answer has a body'];
}

function requestProblems(operation: Operation, sent: Sent): string[] {
  const { requestHeaders } = sent;
  return [
    ...(operation.needsKey && !requestHeaders.has('authorization') ? ['the request has no key'] : []),
    ...queryProblems(operation, sent),
    ...operation.parameters.flatMap((parameter) => parameterProblems(parameter, sent)),
    ...requestBodyProblems(operation, sent),
  ];
}

function queryProblems({ parameters }: Operation, { url }: Sent): string[] {
  const names = [...absolute(url).searchParams.keys()];
  const known = new Set(parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name));
  return [
    ...names.filter((name) => !known.has(name)).map((name) => `the query parameter ${name} is not known`),
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${name} is given twice`),
  ];
}

function parameterProblems({ name, in: place, required, schema }: Parameter, sent: Sent): string[] {
  if (place === 'path') return []; // a path with an empty part is another path
  const given = place === 'query' ? absolute(sent.url).searchParams.get(name) : sent.requestHeaders.get(name);
  if (given === null) return required ? [`the request has no ${name}`] : [];
  return textProblems(schema, given).map((problem) => `${name}: ${problem}`);
}

function requestBodyProblems({ body }: Operation, { requestBody, requestHeaders }: Sent): string[] {
  if (requestBody === undefined || !body) return [];
  if (requestBody === '') return body.required ? ['the request has no body'] : [];
  const type = mediaTypeOf(requestHeaders);
  const documented = body.content[type];
  if (!documented) return [`the request is of type ${type || 'unknown'}`];
  return jsonProblems(documented.schema ?? {}, requestBody, 'the request');
}

function jsonProblems(schema: Schema, body: string, what: string): string[] {
  try {
    return schemaProblems(schema, JSON.parse(body)).map((problem) => `${what}: ${problem}`);
  } catch (error) {
    if (error instanceof SyntaxError) return [`${what} is not JSON`];
    throw error;
  }
}

function mediaTypeOf(headers: Headers): string {
  return headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function pathOf({ url }: Pick<Sent, 'url'>): string {
  return absolute(url).pathname;
}

function absolute(url: string): URL {
  return new URL(url, 'http://127.0.0.1');
}

function isAt(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  const isPart = (part: string, other: string) => (part.startsWith('{') ? other !== '' : part === other);
  return wanted.length === given.length && wanted.every((part, index) => isPart(part, given[index] ?? ''));
}

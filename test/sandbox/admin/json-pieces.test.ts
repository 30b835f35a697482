import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonPieces, type IsEntered, type JsonPiece } from '../../../packages/sandbox/src/admin/json-pieces.ts';

async function* cut(text: string, lengths: readonly number[]): AsyncGenerator<string> {
  let from = 0;
  for (const length of lengths) {
    yield text.slice(from, from + length);
    from += length;
  }
  yield text.slice(from);
}

async function piecesOf(text: string, isEntered: IsEntered, lengths: readonly number[] = []): Promise<JsonPiece[]> {
  return Array.fromAsync(jsonPieces(cut(text, lengths), isEntered));
}

const upToDepth =
  (depth: number): IsEntered =>
  (path) =>
    path.length < depth;

/** What the pieces say, put together again. */
function rebuilt(pieces: readonly JsonPiece[], whole: unknown): unknown {
  const copy: unknown[] = [];
  for (const piece of pieces) {
    const value = 'value' in piece ? piece.value : Array.isArray(at(whole, piece.path)) ? [] : {};
    const last = piece.path.at(-1);
    if (last === undefined) copy.push(value);
    else
      Object.defineProperty(at(copy[0], piece.path.slice(0, -1)), last, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return copy[0];
}

function at(value: unknown, path: JsonPiece['path']): object {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value) as object;
}

test('however a document is cut and entered, its pieces are the document', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.json(),
      fc.nat(4),
      fc.array(fc.nat(5)),
      fc.constantFrom(undefined, 1, '\t'),
      async (json, depth, lengths, space) => {
        const whole: unknown = JSON.parse(json);
        const text = JSON.stringify(whole, null, space);
        expect(rebuilt(await piecesOf(text, upToDepth(depth), lengths), whole)).toEqual(whole);
      },
    ),
  );
});

test('names, values and beginnings come in their order', async () => {
  const text = ' { "a" : [ {"x":"]"} , 2 ], "b": {}, "c\\u0022": null } ';
  expect(await piecesOf(text, (path, kind) => path.length === 0 || kind === 'array')).toEqual([
    { path: [] },
    { path: ['a'] },
    { path: ['a', 0], value: { x: ']' } },
    { path: ['a', 1], value: 2 },
    { path: ['b'], value: {} },
    { path: ['c"'], value: null },
  ]);
});

test.each([
  '',
  ' ',
  '{',
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":1,}',
  '{"a":1 "b":2}',
  '{"a" 1}',
  '{1:2}',
  '{,}',
  '[1,]',
  '[,1]',
  '[1 2]',
  '[1}',
  '{"a":1]',
  '["a]',
  '1 2',
  '{} {}',
  'nul',
  '1"2"',
  '["\n"]',
  '[\u00a01]',
])('%j is refused, as JSON.parse refuses it', async (text) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  await expect(piecesOf(text, upToDepth(2))).rejects.toThrow(SyntaxError);
  await expect(
    piecesOf(
      text,
      upToDepth(2),
      Array.from(text, () => 1),
    ),
  ).rejects.toThrow(SyntaxError);
});

test('only what JSON calls white space separates', async () => {
  await expect(piecesOf('[1,\u00a02]', upToDepth(1))).rejects.toThrow(SyntaxError);
  await expect(piecesOf('{\ufeff"a":1}', upToDepth(1))).rejects.toThrow(SyntaxError);
});

/** A value of the document, or without `value` the beginning of an object or array whose own values follow. */
export type JsonPiece = { readonly path: JsonPath; readonly value: unknown } | { readonly path: JsonPath };

/** Names and numbers from the document's root to the value; empty for the root itself. */
export type JsonPath = readonly (string | number)[];

/** Whether the object or array at the path comes as its own values. */
export type IsEntered = (path: JsonPath, kind: 'object' | 'array') => boolean;

/**
 * Reads a JSON document larger than memory, value by value. Objects and arrays that are not entered come as one value.
 *
 * @param texts the document, cut anywhere
 * @throws SyntaxError where the document is not JSON, or not complete. What came before was.
 */
export async function* jsonPieces(texts: AsyncIterable<string>, isEntered: IsEntered): AsyncGenerator<JsonPiece> {
  const reader = new PieceReader(isEntered);
  for await (const text of texts) yield* reader.read(text);
  yield* reader.read(' '); // ends a number at the very end
  if (!reader.isComplete) throw new SyntaxError('the document is not complete');
}

/** An object or array that was entered. */
interface Frame {
  readonly kind: 'object' | 'array';
  readonly path: JsonPath;
  /** The name of the current value, or its number. */
  key: string | number;
}

type Wanted = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

class PieceReader {
  readonly #isEntered: IsEntered;
  readonly #frames: Frame[] = [];
  #wanted: Wanted = 'value';
  /** The value or name that has begun. */
  #raw: RawValue | undefined;

  constructor(isEntered: IsEntered) {
    this.#isEntered = isEntered;
  }

  get isComplete(): boolean {
    return this.#wanted === 'nothing';
  }

  *read(text: string): Generator<JsonPiece> {
    for (let at = 0; at < text.length;) {
      if (this.#raw) {
        const end = this.#raw.take(text, at);
        if (end === undefined) return;
        yield* this.#end(this.#raw.parsed());
        at = end;
      } else if (' \t\n\r'.includes(text[at] ?? '')) at += 1;
      else at += yield* this.#begin(text[at] ?? '');
    }
  }

  /** @returns how many characters it took: none of those that belong to a value */
  *#begin(character: string): Generator<JsonPiece, 0 | 1> {
    const frame = this.#frames.at(-1);
    const closing = frame?.kind === 'object' ? '}' : ']';
    if (this.#wanted.endsWith('or end') && character === closing) {
      this.#frames.pop();
      this.#wanted = this.#afterValue();
      return 1;
    }
    if (this.#wanted === 'comma or end' && character === ',') {
      this.#wanted = frame?.kind === 'object' ? 'name' : 'value';
      if (typeof frame?.key === 'number') frame.key += 1;
      return 1;
    }
    if (this.#wanted === 'colon' && character === ':') {
      this.#wanted = 'value';
      return 1;
    }
    const opened = this.#wanted.startsWith('value') ? this.#opened(character) : undefined;
    if (opened) {
      yield opened;
      return 1;
    }
    if (!this.#wanted.startsWith('value') && !(this.#wanted.startsWith('name') && character === '"'))
      throw new SyntaxError(`unexpected ${character}`);
    this.#raw = new RawValue();
    return 0;
  }

  /** @returns undefined for what does not open anything, or is not entered */
  #opened(character: string): JsonPiece | undefined {
    if (character !== '{' && character !== '[') return undefined;
    const opens = character === '{' ? 'object' : 'array';
    const path = this.#path();
    if (!this.#isEntered(path, opens)) return undefined;
    this.#frames.push({ kind: opens, path, key: opens === 'object' ? '' : 0 });
    this.#wanted = opens === 'object' ? 'name or end' : 'value or end';
    return { path };
  }

  *#end(value: unknown): Generator<JsonPiece> {
    this.#raw = undefined;
    const frame = this.#frames.at(-1);
    if (frame && this.#wanted.startsWith('name')) {
      frame.key = String(value);
      this.#wanted = 'colon';
      return;
    }
    const path = this.#path();
    this.#wanted = this.#afterValue();
    yield { path, value };
  }

  #afterValue(): Wanted {
    return this.#frames.length === 0 ? 'nothing' : 'comma or end';
  }

  #path(): JsonPath {
    const frame = this.#frames.at(-1);
    return frame ? [...frame.path, frame.key] : [];
  }
}

/**
 * The text of one value. It finds the value's end by strings and brackets alone; `JSON.parse` then finds every mistake.
 */
class RawValue {
  #text = '';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** @returns the position after the value, undefined while it continues */
  take(text: string, from: number): number | undefined {
    const end = this.#endIn(text, from);
    this.#text += text.slice(from, end);
    return end;
  }

  parsed(): unknown {
    return JSON.parse(this.#text);
  }

  #endIn(text: string, from: number): number | undefined {
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === BACKSLASH) this.#isEscaped = true;
        else if (code === QUOTE) {
          this.#isInString = false;
          if (this.#depth === 0) return at + 1;
        }
      } else if (code === QUOTE) this.#isInString = true;
      else if (code === OPENING_BRACE || code === OPENING_BRACKET) this.#depth += 1;
      else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
        if (this.#depth === 0) return at; // of what the value is in
        this.#depth -= 1;
        if (this.#depth === 0) return at + 1;
      } else if (this.#depth === 0 && (code === COMMA || code <= SPACE)) return at;
    }
    return undefined;
  }
}

const [QUOTE, BACKSLASH, COMMA, SPACE] = [0x22, 0x5c, 0x2c, 0x20];
const [OPENING_BRACE, CLOSING_BRACE, OPENING_BRACKET, CLOSING_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** A value of the document or, without `value`, the start of an object or array whose values follow one by one. */
export type JsonPiece = { readonly path: JsonPath; readonly value: unknown } | { readonly path: JsonPath };

/** Names and indexes from the document's root to the value; empty for the root itself. */
export type JsonPath = readonly (string | number)[];

/** Whether to emit the values of the object or array at this path one by one. */
export type IsEntered = (path: JsonPath, kind: 'object' | 'array') => boolean;

/**
 * Reads a JSON document larger than memory, value by value. Objects and arrays that are not entered are emitted whole.
 *
 * @param texts the document in chunks of any size
 * @throws SyntaxError the document is not JSON, or is incomplete. Pieces emitted before that are valid.
 */
export async function* jsonPieces(texts: AsyncIterable<string>, isEntered: IsEntered): AsyncGenerator<JsonPiece> {
  const reader = new PieceReader(isEntered);
  for await (const text of texts) yield* reader.read(text);
  yield* reader.read(' '); // ends a number at the very end
  if (!reader.isComplete) throw new SyntaxError('the document is not complete');
}

/** An object or array that has been entered. */
interface Frame {
  readonly kind: 'object' | 'array';
  readonly path: JsonPath;
  /** Name or index of the current value. */
  key: string | number;
}

type Wanted = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

class PieceReader {
  readonly #isEntered: IsEntered;
  readonly #frames: Frame[] = [];
  #wanted: Wanted = 'value';
  /** The value or name currently being read. */
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

  /** @returns the number of characters consumed; 0 for the start of a value, which is read separately */
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

  /** @returns undefined if the character opens nothing, or the object or array is not entered */
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
 * Collects the text of one value. Strings and brackets alone determine where the value ends; `JSON.parse` then finds
 * any error in it.
 */
class RawValue {
  #text = '';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** @returns the position after the value; undefined if the value continues in the next chunk */
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

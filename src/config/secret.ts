import { inspect } from 'node:util';

/**
 * A value that is never printed: `toString`, `toJSON` and inspect return `[secret]`. Only `reveal()` returns the value.
 */
export interface Secret {
  reveal(): string;
}

/** Finds every secret in a part of the configuration, so that the log can redact them. */
export function secretsIn(part: unknown): readonly Secret[] {
  if (part instanceof HiddenText) return [part];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(secretsIn) : [];
}

/** Wraps a value to keep it out of logs, JSON, templates and error messages. Only `reveal()` returns it. */
export function secret(value: string): Secret {
  return new HiddenText(value);
}

/** Returns the secret; an empty one for a value that was not resolved, because the command needs no secrets. */
export function asSecret(value: unknown): Secret {
  return value instanceof HiddenText ? value : secret('');
}

const SHOWN = '[secret]';

class HiddenText implements Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}

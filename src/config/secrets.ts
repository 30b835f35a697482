import { inspect } from 'node:util';
import type { Secret } from './config.ts';

const SHOWN = '[secret]';

/** Keeps a value out of logs, JSON, templates and error messages: only `reveal()` gives it. */
export function secret(value: string): Secret {
  return new HiddenText(value);
}

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

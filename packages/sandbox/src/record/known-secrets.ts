/**
 * The secrets that have been seen, each with a name that stands for it: equal secrets stay equal, and nothing else of them remains. A text is
 * searched for every form in which a service or a program may repeat them.
 */
export class KnownSecrets {
  readonly #known = new Map<string, { readonly name: string; readonly forms: readonly string[] }>();
  readonly #counts = new Map<string, number>();

  /** @param kind like `key`: the first one is called `[key 1]`. @returns the name */
  add(kind: string, secret: string): string {
    const known = this.#known.get(secret);
    if (known !== undefined) return known.name;
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const name = `[${kind} ${number}]`;
    // One this short would be found by chance in every other word.
    if (secret.length >= shortest) this.#remember(secret, name);
    return name;
  }

  /** Without the secrets, in any of their forms, and without what has the form of one. */
  remove(text: string): string {
    let clean = text;
    // A longer one may contain a shorter one.
    const known = [...this.#known].toSorted(([one], [other]) => other.length - one.length);
    for (const [, { name, forms }] of known)
      for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, name);
    return withoutLookalikes(clean);
  }

  #remember(secret: string, name: string): void {
    this.#known.set(secret, { name, forms: formsOf(secret) });
    if (this.#known.size <= most) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest ?? '');
  }
}

/** Thousands of uploads have a token each, and the old ones have long expired. */
const most = 2000;

/** Characters. */
const shortest = 6;

/** As it is, percent-encoded, in a JSON text, and inside something that is base64. */
function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = [encodeURIComponent(secret.toWellFormed()), encodeURI(secret.toWellFormed()), everyByte(secret)];
  const lowerCase = percent.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  const hex = Buffer.from(secret).toString('hex');
  return [...new Set([secret, json, ...percent, ...lowerCase, ...inBase64(secret), hex, hex.toUpperCase()])].filter(
    (form) => form.length >= shortest,
  );
}

function everyByte(secret: string): string {
  return [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** Base64 writes three bytes as four characters: a text inside another one has three forms, whose ends depend on its neighbours. */
function inBase64(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const whole = Math.floor(bytes.length / 3) * 4;
    const form = bytes.toString('base64').slice(offset === 0 ? 0 : 4, whole);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Keys of the forms that services use, and bearer tokens. */
function withoutLookalikes(text: string): string {
  return text
    .replaceAll(/\b(?:sk|pk|rk|whsec|key|tok)_[\w+/=-]{8,}/g, '[secret]')
    .replaceAll(/\bbearer\s+(?!\[)[^\s"']+/gi, 'Bearer [secret]');
}

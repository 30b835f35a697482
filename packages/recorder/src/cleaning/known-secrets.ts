import { hidden, hiddenAs } from './hidden.ts';

/**
 * The secrets seen so far, each with a name that replaces it. Equal secrets remain recognisable as equal, and nothing
 * else remains. Texts are searched for every form in which a service or a program may repeat a secret.
 */
export class KnownSecrets {
  readonly #names = new Map<string, string>();
  /** Secrets by their first characters, so that a search takes as long for thousands as for one. */
  readonly #forms = new Map<string, { readonly form: string; readonly name: string }[]>();
  readonly #counts = new Map<string, number>();

  /**
   * @param kind such as `key`, whose first secret is called `[hidden key 1]` @returns the name that replaces the secret
   */
  add(kind: string, secret: string): string {
    const name = this.#names.get(secret) ?? this.#newName(kind, secret);
    // The most recently used secret comes last.
    this.#names.delete(secret);
    this.#names.set(secret, name);
    const [oldest = ''] = this.#names.keys();
    if (this.#names.size > most) this.#forget(oldest);
    return name;
  }

  /** Removes the secrets in all their forms, and texts that look like a secret. */
  remove(text: string): string {
    let clean = '';
    let done = 0;
    for (const { from, to, name } of this.#found(text)) {
      clean += text.slice(done, from) + name;
      done = to;
    }
    return withoutLookalikes(clean + text.slice(done));
  }

  #newName(kind: string, secret: string): string {
    const number = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, number);
    const name = hiddenAs(kind, number);
    for (const form of formsOf(secret)) {
      const start = form.slice(0, shortestForm);
      this.#forms.set(start, [...(this.#forms.get(start) ?? []), { form, name }]);
    }
    return name;
  }

  #forget(secret: string): void {
    this.#names.delete(secret);
    for (const form of formsOf(secret)) {
      const start = form.slice(0, shortestForm);
      const others = (this.#forms.get(start) ?? []).filter((known) => known.form !== form);
      if (others.length === 0) this.#forms.delete(start);
      else this.#forms.set(start, others);
    }
  }

  /** Finds the secrets in a text, in order; overlapping ones are merged. */
  #found(text: string): readonly Found[] {
    const found: Found[] = [];
    for (let from = 0; from + shortestForm <= text.length; from += 1) {
      const longest = this.#longestAt(text, from);
      if (longest === undefined) continue;
      const to = from + longest.form.length;
      const last = found.at(-1);
      if (last === undefined || last.to <= from) found.push({ from, to, name: longest.name });
      else last.to = Math.max(last.to, to);
    }
    return found;
  }

  #longestAt(text: string, from: number): { readonly form: string; readonly name: string } | undefined {
    const candidates = this.#forms.get(text.slice(from, from + shortestForm)) ?? [];
    const here = candidates.filter(({ form }) => text.startsWith(form, from));
    return here.toSorted((one, other) => other.form.length - one.form.length)[0];
  }
}

interface Found {
  readonly from: number;
  to: number;
  readonly name: string;
}

/** Maximum number of secrets remembered. Each of thousands of uploads has a token, and the old ones have expired. */
const most = 10_000;

/** Hides keys in the forms that services use, and bearer tokens. */
function withoutLookalikes(text: string): string {
  return text
    .replaceAll(/\b(?:sk|pk|rk|whsec|key|tok)_[\w+/=-]{8,}/g, (found) => (/\d/.test(found) ? hidden : found))
    .replaceAll(/\b(bearer)\s+(?=[\w.~+/=-]*\d)[\w.~+/=-]{4,}/gi, `$1 ${hidden}`);
}

/** Minimum length of a form in characters. Shorter ones would match ordinary words by chance. */
export const shortestForm = 6;

/**
 * Returns the forms in which a service or a program may repeat a secret: unchanged, percent-encoded or decoded,
 * form-encoded, escaped for JSON or HTML, in hex, and inside base64.
 */
function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = [encodeURIComponent(secret.toWellFormed()), encodeURI(secret.toWellFormed()), everyByte(secret)];
  const lowerCase = percent.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  const hex = Buffer.from(secret).toString('hex');
  const inForm = [secret.replaceAll(' ', '+'), percent[0]?.replaceAll('%20', '+') ?? ''];
  const plain = [secret, decoded(secret), json, inHtml(secret)];
  const all = [...plain, ...percent, ...lowerCase, ...inForm, ...inBase64(secret), hex, hex.toUpperCase()];
  return [...new Set(all)].filter((form) => form.length >= shortestForm);
}

function decoded(secret: string): string {
  try {
    return decodeURIComponent(secret);
  } catch {
    return secret;
  }
}

function everyByte(secret: string): string {
  return [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

function inHtml(secret: string): string {
  const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return secret.replaceAll(/[&<>"]/g, (character) => names[character] ?? character);
}

/**
 * Returns a secret's forms inside base64. Base64 writes three bytes as four characters, so there are three forms, whose
 * ends depend on adjacent bytes.
 */
function inBase64(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const whole = Math.floor(bytes.length / 3) * 4;
    const form = bytes.toString('base64').slice(offset === 0 ? 0 : 4, whole);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

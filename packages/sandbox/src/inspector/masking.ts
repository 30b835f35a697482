/**
 * Hides secrets in the display of requests and answers: tokens of upload addresses, API keys, webhook secrets, and any
 * value whose field or parameter name marks it as secret. Masked JSON is still valid JSON.
 */
export class Masking {
  readonly #known: readonly string[];

  /**
   * @param known this sandbox's secrets in plain text. Secrets shorter than six characters are not hidden: any text may
   *   contain them.
   */
  constructor(known: readonly string[]) {
    this.#known = known.flatMap((secret) => [secret, encodeURIComponent(secret)]).filter(({ length }) => length >= 6);
  }

  /** Masks a text. @param isCut whether the text's end is missing, which may cut a secret short */
  text(text: string, isCut = false): string {
    const masked = this.#known.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
    const shaped = SHAPES.reduce((rest, [shape, instead]) => rest.replaceAll(shape, instead), masked);
    return isCut ? this.#withoutBegunSecret(shaped) : shaped;
  }

  /** Masks a query. @param query without the question mark, or a form-encoded body */
  query(query: string): string {
    return this.text(query.replaceAll(SECRET_PARAMETER, '$1[masked]'));
  }

  /** Masks a header value. @param name in lower case */
  header(name: string, value: string): string {
    if (name === 'authorization' || name === 'proxy-authorization')
      return `${/^[A-Za-z]{1,20} /.exec(value)?.[0] ?? ''}[masked]`;
    return SECRET_HEADER.test(name) ? '[masked]' : this.text(value);
  }

  #withoutBegunSecret(text: string): string {
    for (const secret of this.#known) {
      for (let length = secret.length - 1; length >= 4; length -= 1)
        if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}[secret]`;
    }
    return text;
  }
}

const SLASH = String.raw`(?:\\?/|%2[fF]|\\u002[fF])`;

/** Patterns of secrets. Repetitions are bounded, so that no text takes long to scan. */
const SHAPES: readonly [RegExp, string][] = [
  [new RegExp(`(${SLASH}uploads${SLASH}[\\w.~-]{0,200}${SLASH})(?!\\[token\\])[^"'\\s?#<>\\\\\\]]+`, 'g'), '$1[token]'],
  [/(sk_sandbox_|(?<![a-zA-Z])sk_[a-z]{1,20}_)[\w-]{5,}/g, '$1[key]'],
  [/whsec_[\w+/=-]{5,}/g, 'whsec_[secret]'],
  [/(bearer\s{1,10})[\w.~+/=-]{16,}/gi, '$1[key]'],
  [
    /("[\w-]{0,40}(?:token|secret|password|api_?key|authorization)[\w-]{0,40}"\s{0,10}:\s{0,10}")(?:[^"\\]|\\.)*/gi,
    '$1[masked]',
  ],
];

const SECRET_PARAMETER = /((?:^|[?&])[\w-]{0,40}(?:token|secret|password|key|signature|auth)[\w-]{0,40}=)[^&#]*/gi;

/**
 * Names of headers with secrets. Cookies are included, because those for 127.0.0.1 may belong to any server on this
 * machine.
 */
const SECRET_HEADER = /^(set-)?cookie$|token|secret|password|api-?key|signature/;

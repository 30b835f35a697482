/** A rule that a document violates. */
export interface Finding {
  /** The rule's name, for example `enclosure-length`. */
  readonly rule: string;
  readonly message: string;
  /** The item's guid or id, or its position, such as `#3`, if it has neither. */
  readonly item?: string;
}

export function finding(rule: string, message: string, item?: string): Finding {
  return item === undefined ? { rule, message } : { rule, message, item };
}

/** Accepts web addresses made up only of characters that RFC 3986 permits. */
export function isWebAddress(value: string | undefined): boolean {
  return /^https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+$/i.test(value ?? '') && URL.canParse(value ?? '');
}

/** Accepts audio and video types, and containers registered under `application`, such as MXF. */
export function isMediaType(value: string | undefined): boolean {
  return /^(?:video|audio|application)\/[\w.+-]+$/.test(value ?? '');
}

/** Accepts integers of 1 or more without sign, fraction or leading zeros. */
export function isCount(value: string | undefined): boolean {
  return /^[1-9]\d*$/.test(value ?? '');
}

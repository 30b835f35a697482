/** A rule that a document violates. */
export interface Finding {
  /** The rule's name, `enclosure-length` for example. */
  readonly rule: string;
  readonly message: string;
  /** The guid or id of the item, or `#3` for the third if it has none. */
  readonly item?: string;
}

export function finding(rule: string, message: string, item?: string): Finding {
  return item === undefined ? { rule, message } : { rule, message, item };
}

/** With the characters alone that RFC 3986 permits. */
export function isWebAddress(value: string | undefined): boolean {
  return /^https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]+$/i.test(value ?? '') && URL.canParse(value ?? '');
}

/** Audio, video, or a container registered as application, such as MXF. */
export function isMediaType(value: string | undefined): boolean {
  return /^(?:video|audio|application)\/[\w.+-]+$/.test(value ?? '');
}

/** An integer of 1 or more, without sign, fraction and zeros in front. */
export function isCount(value: string | undefined): boolean {
  return /^[1-9]\d*$/.test(value ?? '');
}

/** A rule that a document breaks. */
export interface Finding {
  /** The rule's name, `enclosure-length` for example. */
  readonly rule: string;
  readonly message: string;
  /** The guid or id of the item that breaks it, or `#3` for the third when it has none. */
  readonly item?: string;
}

/** Thrown for what a unit must not or cannot contain. The message says what to do instead. */
export class UnitError extends Error {
  override readonly name = 'UnitError';
}

/** Thrown for anything that a unit must not or cannot contain. The message says what to do instead. */
export class UnitError extends Error {
  override readonly name = 'UnitError';
}

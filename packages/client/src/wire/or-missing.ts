import { catch as otherwise, optional } from 'zod/mini';
import type { ZodMiniType } from 'zod/mini';

/** Undefined where the field is absent, null or of another kind. */
export function orMissing<T>(schema: ZodMiniType<T>): ZodMiniType<T | undefined> {
  return otherwise(optional(schema), undefined);
}

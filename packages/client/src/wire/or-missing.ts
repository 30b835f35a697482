import { catch as otherwise, optional } from 'zod/mini';
import type { ZodMiniType } from 'zod/mini';

/** Makes a field optional: absent, null or of the wrong type, it reads as undefined. */
export function orMissing<T>(schema: ZodMiniType<T>): ZodMiniType<T | undefined> {
  return otherwise(optional(schema), undefined);
}

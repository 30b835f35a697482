import * as z from 'zod/mini';

import { Count } from './fields.ts';
import { orMissing } from './or-missing.ts';

/** The position of a page in its list (api-spec section 2.6). Fields missing from the response are omitted. */
export interface ListMeta {
  readonly page?: number | undefined;
  readonly perPage?: number | undefined;
  readonly total?: number | undefined;
}

const Meta = z.object({ meta: orMissing(z.object({ page: Count, per_page: Count, total: Count })) });

export function readMeta(json: unknown): ListMeta {
  const meta = Meta.safeParse(json).data?.meta;
  return { page: meta?.page, perPage: meta?.per_page, total: meta?.total };
}

import * as z from 'zod/mini';

import { Count } from './fields.ts';
import { orMissing } from './or-missing.ts';

/** Where a page of a list stands (api-spec section 2.6); what the answer does not say is missing. */
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

import type { CreateWorld } from '../../src/pipeline/steps/create.ts';

/** A service without a quota. */
export const noQuota: CreateWorld['quota'] = { admit: async () => null, created: async () => undefined };

import type { UploadWorld } from '../../src/pipeline/steps/upload.ts';
import type { CreateWorld } from '../../src/pipeline/steps/create.ts';

/** A service that takes files of any size. */
export const noSizeLimits: CreateWorld['sizeLimits'] & UploadWorld['sizeLimits'] = {
  whyNot: () => null,
  refused: async () => false,
  accepted: async () => undefined,
};

import type { Elsewhere, LocalFiles } from '../file/ports.ts';
import type { Facts } from '../file/facts.ts';
import type { Failure } from '../file/failure.ts';
import type { RefusedCreates } from '../refused-creates.ts';
import type { ServiceNames } from '../service-names.ts';
import type { SizeLimits } from '../size-limits.ts';
import { createAges } from '../ages.ts';
import { createRecord } from './create.ts';
import type { CreateWorld } from './create.ts';
import { rememberingHashes } from './duplicates.ts';
import type { RunnerWorld } from './runner.ts';
import { uploadFile } from './upload.ts';
import type { UploadWorld } from './upload.ts';
import type { Uploads } from './uploads.ts';

interface StepsWorld
  extends
    Omit<CreateWorld, 'passing' | 'binding' | 'local' | 'sizeLimits'>,
    Pick<UploadWorld, 'uploadHosts' | 'uploadsStartAt'> {
  readonly local: LocalFiles;
  readonly elsewhere: Pick<Elsewhere, 'hashOf'> | null;
  readonly uploads: Uploads;
  readonly names: Pick<ServiceNames, 'whyNot'>;
  readonly sizeLimits: SizeLimits;
  readonly refusedCreates: Pick<RefusedCreates, 'admit'>;
}

/**
 * Creates the steps that do the work of `creating` and `uploading`.
 *
 * @param stopping ends waits for the request budget when the daemon has to stop
 */
export function createSteps(world: StepsWorld, stopping: AbortSignal): RunnerWorld['steps'] {
  const passing = new Set<string>();
  const ownHash = rememberingHashes(world.local.hash);
  const hashAnywhere: LocalFiles['hash'] = async (facts, signal) => {
    const told = await world.elsewhere?.hashOf(facts, AbortSignal.any([signal, stopping]));
    return told ? { ok: true, value: told } : ownHash(facts, signal);
  };
  const create: CreateWorld = {
    ...world,
    passing,
    binding: new Set<string>(),
    local: {
      ...world.local,
      // Checked before the request, so that files waiting for a channel or the account cost no requests.
      check: async (facts: Facts) =>
        (facts.videoId === null ? whyNotCreated(facts, world) : null) ?? world.local.check(facts),
      hash: hashAnywhere,
    },
    budget: { take: (priority, signal) => world.budget.take(priority, AbortSignal.any([signal, stopping])) },
  };
  const deadTimes = createAges(
    world.clock,
    () => Infinity,
    ({ addressDeadAt }) => addressDeadAt,
  );
  const upload: UploadWorld = {
    ...world,
    passing,
    deadMs: deadTimes.of,
    renew: (row, signal) => createRecord(row, signal, create),
    onProgress: world.uploads.progressed,
    onResumed: world.uploads.resumed,
  };
  return {
    creating: (row, signal) => createRecord(row, signal, create).finally(() => passing.delete(row.facts.id)),
    uploading: (row, signal) =>
      uploadFile(row, signal, upload).finally(() => {
        passing.delete(row.facts.id);
        if (row.facts.addressDeadAt === null) deadTimes.forget(row.facts.id);
      }),
  };
}

function whyNotCreated(
  facts: Facts,
  { names, refusedCreates }: Pick<StepsWorld, 'names' | 'refusedCreates'>,
): Failure | null {
  const { plan } = facts;
  return (plan === null ? null : names.whyNot('channel', plan.channel)) ?? refusedCreates.admit(facts);
}

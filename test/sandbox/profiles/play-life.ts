import type { ProfileName, Switches } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import { defaultSwitches, profiles } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import type { Violation } from '../../reliability/judge/invariants.ts';
import { hurried } from '../../reliability/planted/bugs.ts';
import type { Edit } from '../../reliability/planted/plant.ts';
import { freePort } from '../../support/free-port.ts';
import { openWorldOn } from '../../reliability/world/world.ts';
import { flawsOf, type Flaw } from './life-judge.ts';
import { folders, live } from './life.ts';
import { reachedIn, type Reached } from './reached.ts';
import { settingsOfForm } from '../webhooks/settings-of-form.ts';
import { startSandboxService } from './sandbox-service.ts';
import { tagged } from '../../support/configuration.ts';

export interface LifeOf {
  readonly profile: ProfileName;
  /** Beside the profile. */
  readonly switches?: Partial<Switches>;
  readonly seed: string;
  /** Main file of the bundled program under judgement. */
  readonly program: string;
  readonly patienceMs?: number;
}

export interface Lived {
  /** All that is wrong with it. */
  readonly flaws: readonly (Flaw | Violation)[];
  /** Null if it did not come to its end. */
  readonly reached: Reached | null;
  /** All of its requests to the service, those of the world around it included, and the bytes of all uploads. */
  readonly spent: { readonly requests: number; readonly bytesSent: number };
}

/** Waits that would take a minute, cut short in the copy of the program that lives. */
export const hurriedLife: readonly Edit[] = [
  ...hurried,
  { anchor: 'defaultBlockMs = 6e4', instead: 'defaultBlockMs = 1e3' },
  { anchor: 'costlyProbeMs = 6e4', instead: 'costlyProbeMs = 500' },
];

/** One life of a daemon with a service that settles its points so. */
export async function playLife({ profile, switches = {}, seed, program, patienceMs = 60_000 }: LifeOf): Promise<Lived> {
  const settled: Switches = { ...defaultSwitches, ...profiles[profile], ...switches };
  const page = await freePort();
  await using world = await openWorldOn(await startSandboxService({ profile, switches }, settled), {
    program,
    patienceMs,
    settings: {
      service: {
        webhook_secret: tagged('!file', 'webhook-secret'),
        ...settingsOfForm[settled.webhook_form],
        idempotency_key: settled.idempotency_key === 'honoured',
      },
      status: { listen: `127.0.0.1:${page}` },
      folders,
    },
    allows: { requestsPerVideo: 120, requests: 5_000, exitCodes: [1] },
  });
  const spent = () => {
    const requests = world.service.sandbox.requests();
    const uploads = requests.filter(({ path }) => path.startsWith('/uploads/'));
    return { requests: requests.length, bytesSent: uploads.reduce((sum, { bytesIn }) => sum + (bytesIn ?? 0), 0) };
  };
  const told = await live(world, seed, page).catch((error: Error) => error);
  if (told instanceof Error) {
    await world.service.settle();
    const late: Flaw = { invariant: 'it gets there', what: 'the life', evidence: told.message };
    return { flaws: [late, ...(await world.judge())], reached: null, spent: spent() };
  }
  world.allow({ needsPerson: told.unplayable });
  const { sandbox, expired } = world.service;
  const feed = await (await fetch(new URL('/feeds/feed_main.xml', sandbox.adminUrl))).text();
  const evidence = {
    told,
    switches: settled,
    videos: world.service.videos(),
    requests: sandbox.requests(),
    expired,
    feed,
  };
  return { flaws: [...flawsOf(evidence), ...(await world.judge())], reached: reachedIn(evidence), spent: spent() };
}

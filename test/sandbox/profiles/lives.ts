import { profileNames, type ProfileName } from '../../../packages/sandbox/src/profiles/switch-table.ts';
import { playLife, type Lived } from './play-life.ts';
import { randomSwitches } from './random-switches.ts';

/** `lenient@2`, or `random@17` for switches that the seed chooses: what `--replay` takes. */
export type LifeName = `${ProfileName | 'random'}@${string}`;

/** So many of each profile, and so many with random switches. */
export function lifeNames({
  ofEach,
  random,
}: {
  readonly ofEach: number;
  readonly random: number;
}): readonly LifeName[] {
  const seeds = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 1);
  return [
    ...seeds(ofEach).flatMap((seed) => profileNames.map((profile) => `${profile}@${seed}` as const)),
    ...seeds(random).map((seed) => `random@${seed}` as const),
  ];
}

/** @throws TypeError for what is no name of a life */
export async function playNamed(name: string, program: string, patienceMs?: number): Promise<Lived> {
  const [, kind = '', seed = ''] = /^([\w-]+)@(.+)$/.exec(name) ?? [];
  const rest = { seed: name, program, ...(patienceMs !== undefined && { patienceMs }) };
  // With a quota, most files would only wait.
  if (kind === 'random')
    return playLife({ profile: 'default', switches: randomSwitches(seed, ['daily_videos']), ...rest });
  const profile = profileNames.find((each) => each === kind);
  if (profile === undefined) throw new TypeError(`${name} is not the name of a life, such as lenient@2 or random@17`);
  return playLife({ profile, ...rest });
}

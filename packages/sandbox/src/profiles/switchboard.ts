import { z } from 'zod';
import { defaultSwitches, openPoints, profileNames, profiles, switchNames } from './switch-table.ts';
import type { ProfileName, SwitchName, Switches } from './switch-table.ts';

/** Holds how the sandbox currently settles the open points. */
export class Switchboard {
  #profile: ProfileName;
  #set: Partial<Switches>;

  readonly #start: readonly [profile: ProfileName, set: Partial<Switches>];

  /** @param start profile and switches at the start and after a reset */
  constructor(...start: readonly [profile: ProfileName, set: Partial<Switches>]) {
    this.#start = start;
    [this.#profile, this.#set] = start;
  }

  reset(): void {
    [this.#profile, this.#set] = this.#start;
  }

  get now(): Switches {
    return { ...defaultSwitches, ...profiles[this.#profile], ...this.#set };
  }

  /** Returns profile and switches as the admin side shows them. */
  view(): { readonly profile: ProfileName; readonly set: Partial<Switches>; readonly switches: Switches } {
    return { profile: this.#profile, set: this.#set, switches: this.now };
  }

  /** Replaces the profile and all single switches. */
  replace(profile: ProfileName, set: Partial<Switches> = {}): void {
    this.#profile = profile;
    this.#set = set;
  }

  /** Changes some switches; the others stay. */
  set(changes: Partial<Switches>): void {
    this.#set = { ...this.#set, ...changes };
  }
}

/** Some switches by name. An undefined value counts as absent. */
export const switchesSchema = z
  .strictObject(
    Object.fromEntries(
      switchNames.map((name) => [
        name,
        z.enum([...openPoints[name].values], oneOf(openPoints[name].values)).optional(),
      ]),
    ),
  )
  .transform((set) =>
    Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)),
  ) as unknown as z.ZodType<Partial<Switches>>;

export const profileSchema = z.enum(profileNames as [ProfileName, ...ProfileName[]], oneOf(profileNames));

/** Finds a profile by name. @throws TypeError that lists the profiles */
export function profileNamed(name: string): ProfileName {
  const found = profileNames.find((each) => each === name);
  if (found !== undefined) return found;
  throw new TypeError(`no profile ${name}; there are ${profileNames.join(', ')}`);
}

/** Reads `NAME=VALUE`. @throws TypeError that lists the valid names or values */
export function parseSwitch(text: string): Partial<Switches> {
  const [name = '', ...values] = text.split('=');
  if (!switchNames.includes(name as SwitchName))
    throw new TypeError(`unknown switch ${name}; expected one of ${switchNames.join(', ')}`);
  const value = values.join('=');
  const known: readonly string[] = openPoints[name as SwitchName].values;
  if (!known.includes(value)) throw new TypeError(`${name} takes ${known.join(', ')}`);
  return { [name]: value };
}

function oneOf(values: readonly string[]): string {
  return `must be one of ${values.join(', ')}`;
}

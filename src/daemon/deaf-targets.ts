/** A notification target that takes no messages at present. */
export interface DeafTarget {
  /** Of the target, as configured. */
  readonly name: string;
  /** What it says, or why it cannot be reached. */
  readonly why: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** Which notification targets take no messages: told by who sends them, seen by who looks at the overview. In memory. */
export interface DeafTargets {
  /** @param why null: it takes messages again, or there is no such target any more */
  told(name: string, why: string | null, at: number): void;
  list(): readonly DeafTarget[];
}

export function createDeafTargets(): DeafTargets {
  const targets = new Map<string, DeafTarget>();
  return {
    told: (name, why, at) => {
      if (why === null) targets.delete(name);
      else targets.set(name, { name, why, since: targets.get(name)?.since ?? at });
    },
    list: () => [...targets.values()],
  };
}

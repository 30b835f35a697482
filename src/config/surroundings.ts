/** What the configuration may depend on beside its file. Handed in, so that nothing below reads the process. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** Absolute; what `~` stands for. */
  readonly home: string;
}

/** The variable's value; one that is set to nothing counts as not set. */
export function variable(around: Surroundings, name: string): string | undefined {
  const value = around.env[name];
  return value === '' ? undefined : value;
}

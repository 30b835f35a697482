/** One folder-mapping rule, as the configuration gives it. */
export interface Rule {
  /** Where it stands in the configuration, `folders[0].rules[1]`. */
  readonly key: string;
  /** Line in the configuration file, from 1. */
  readonly line: number;
  /** Glob over the path relative to the folder; `{name}` captures within one path segment, `{a,b}` is alternation. */
  readonly match: string;
  readonly channel: string;
  /** Template; `{title}` by default. */
  readonly title: string;
  readonly description: string | null;
  /** Templates; one that is exactly `{dirs}` becomes one tag per sub-folder. */
  readonly tags: readonly string[];
  readonly publish: readonly string[];
}

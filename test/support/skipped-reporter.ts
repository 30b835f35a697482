import type { Reporter, TestCase, TestModule, TestProject, TestSuite } from 'vitest/node';
import { howToHave, type Need } from './needs.ts';

/** Says in one line at the end how many tests were skipped, for want of which programs, and how to have them. */
export class SkippedReporter implements Reporter {
  readonly #withoutServer: Readonly<Record<string, readonly string[]>>;
  readonly #print: (line: string) => void;
  #projects: readonly string[] = [];

  /** @param withoutServer files of tests that are left out of each project, because there is no PostgreSQL */
  constructor(
    withoutServer: Readonly<Record<string, readonly string[]>> = {},
    print: (line: string) => void = console.log,
  ) {
    this.#withoutServer = withoutServer;
    this.#print = print;
  }

  onInit({ projects }: { readonly projects: readonly Pick<TestProject, 'name'>[] }): void {
    this.#projects = projects.map(({ name }) => name);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const line = skippedLine(modules.flatMap((module) => [...module.children.allTests('skipped')].map(lackedBy)));
    if (line !== null) this.#print(`${line}\n`);
    const { length: count } = this.#projects.flatMap((project) => this.#withoutServer[project] ?? []);
    if (count > 0)
      this.#print(`SKIPPED ${count} FILES OF TESTS: no PostgreSQL. To run them: ${howToHave(['postgres'])}\n`);
  }
}

/** @param lacks for each skipped test: what it lacked; empty when it was skipped for another reason */
export function skippedLine(lacks: readonly (readonly Need[])[]): string | null {
  const lacking = lacks.filter((missing) => missing.length > 0);
  if (lacking.length === 0) return null;
  const counts = Object.entries(Object.groupBy(lacking.flat(), (need) => need));
  const shown = counts.map(([need, { length }]) => `${need} (${length})`).toSorted();
  const how = howToHave([...new Set(lacking.flat())]);
  return `Skipped ${lacking.length} ${lacking.length === 1 ? 'test' : 'tests'}: no ${shown.join(', ')}. To run them: ${how}`;
}

/** A test lacks what its suites lack, too. */
function lackedBy(test: TestCase): readonly Need[] {
  const lacks: Need[] = [];
  for (let task: TestCase | TestSuite | TestModule = test; task.type !== 'module'; task = task.parent)
    lacks.push(...(task.meta().lacks ?? []));
  return [...new Set(lacks)];
}

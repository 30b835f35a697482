import { BaseSequencer, type TestSpecification } from 'vitest/node';

const order = ['e2e', 'fleet', 'integration, isolated', 'integration', 'unit'];

/** End-to-end tests first: their waits are filled with the work of the others. Within a kind as vitest does, longest first. */
export class SlowKindsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** Projects are called `PART/KIND`, and `fleet`. */
function rankOf({ project }: TestSpecification): number {
  return order.indexOf(project.name.split('/').at(-1) ?? '');
}

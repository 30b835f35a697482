import { BaseSequencer, type TestSpecification } from 'vitest/node';

const order = ['reliability', 'e2e', 'postgres', 'integration, isolated', 'integration', 'unit'];

/** End-to-end tests first: their waits are filled with the work of the others. Within a kind as vitest does, longest first. */
export class SlowKindsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => order.indexOf(a.project.name) - order.indexOf(b.project.name));
  }
}

import type { DropcastEvent, Events, KeptEvents } from '../../src/pipeline/events.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { decide } from '../../src/pipeline/file/machine.ts';
import type { FileEvent, MachinePolicy } from '../../src/pipeline/file/machine.ts';
import type { Outcome } from '../../src/pipeline/file/outcome.ts';
import { createRows } from '../../src/pipeline/file/rows.ts';
import type { Row, Rows } from '../../src/pipeline/file/rows.ts';
import type { MemoryStore } from './memory-store.ts';

/** Events, kept for the test to look at. */
export function recordingEvents(): KeptEvents & { readonly told: DropcastEvent[] } {
  const told: DropcastEvent[] = [];
  return { told, emit: (event) => told.push(event), rowOf: () => null };
}

export function rowsOf(store: Parameters<typeof createRows>[0]['store'], events: Events = recordingEvents()): Rows {
  return createRows({ store, events });
}

/** Does something with a row that nobody else holds. */
export async function withRow<T>(store: MemoryStore, work: (row: Row) => Promise<T>, id = 'f_1'): Promise<T> {
  let result: { readonly value: T } | null = null;
  await rowsOf(store).claim(id, async (row) => {
    result = { value: await work(row) };
  });
  if (result === null) throw new Error(`row ${id} is held or missing`);
  return (result as { readonly value: T }).value;
}

/** How a step ends, with its failure where every test can see it. */
export async function outcomeOf(
  store: MemoryStore,
  step: (row: Row) => Promise<Outcome>,
): Promise<{ readonly type: Outcome['type']; readonly failure: Failure | null }> {
  const outcome = await withRow(store, step);
  return { type: outcome.type, failure: 'failure' in outcome ? outcome.failure : null };
}

/** The facts of a file after an event. */
export function after(facts: Facts, event: FileEvent, policy: MachinePolicy): Facts {
  return decide(stateOf(facts), { facts, policy }, event).facts;
}

import { admin } from '../admin/admin-side.ts';
import type { Json, RunningSandbox } from '../running-sandbox.ts';

/** Replaces all faults by these. */
export async function planFaults(service: RunningSandbox, ...rules: object[]): Promise<void> {
  const { status, body } = await admin(service, 'PUT /faults', rules);
  if (status !== 200) throw new Error(`PUT /faults answered ${status}: ${JSON.stringify(body)}`);
}

/** How often each was applied, in their order. */
export async function appliedFaults(service: RunningSandbox): Promise<number[]> {
  return (await admin(service, 'GET /faults')).body.data.map(({ applied }: Json) => applied);
}

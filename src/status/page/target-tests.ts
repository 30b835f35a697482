import type { TargetAnswer } from '@dropcast/notify';
import type { ControlPorts } from '../../daemon/control/routes.ts';

export interface TargetTest extends TargetAnswer {
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Tests of notification targets, and the last result of each, in memory. */
export interface TargetTests {
  /** @returns false if no target has this name */
  run(name: string): Promise<boolean>;
  last(name: string): TargetTest | null;
}

/** @param send sends a test message to the target of this name */
export function createTargetTests(send: ControlPorts['testNotifications']): TargetTests {
  const results = new Map<string, TargetTest>();
  return {
    run: async (name) => {
      const [answer] = await send(name);
      if (answer !== undefined) results.set(name, { ...answer, at: Date.now() });
      return answer !== undefined;
    },
    last: (name) => results.get(name) ?? null,
  };
}

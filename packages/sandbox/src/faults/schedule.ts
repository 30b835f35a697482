import type { FaultOf, FaultRule } from './fault-rule.ts';

/** A call as it arrives. Ids are '' where the call names none. */
export interface Call {
  readonly operation: string;
  readonly videoId: string;
  readonly channelId: string;
}

export function isMatch(rule: FaultRule, { operation, videoId, channelId }: Call): boolean {
  return (
    (rule.operation === '*' || rule.operation === operation) &&
    (rule.video_id === undefined || rule.video_id === videoId) &&
    (rule.channel_id === undefined || rule.channel_id === channelId)
  );
}

/**
 * Whether a rule hits its matching call number `callNumber` (from 1), after hitting `applied` calls before. Pure.
 * @param draw a fraction in [0, 1) for this call
 */
export function isDue(
  rule: FaultRule,
  callNumber: number,
  { applied, draw }: { applied: number; draw: number },
): boolean {
  const { nth, times = nth === undefined ? Infinity : 1, probability = 1 } = rule;
  return callNumber >= (nth ?? 1) && applied < times && draw < probability;
}

/** Whether the fault affects a video's processing rather than a request. */
export function isFate(rule: FaultRule): rule is FaultOf<'stuck_processing' | 'failed_processing'> {
  return rule.kind === 'stuck_processing' || rule.kind === 'failed_processing';
}

/** Where in its life a file is when something happens. */
export const moments = [
  'settling',
  'queued',
  'at 10 %',
  'at 50 %',
  'at 99 %',
  'all bytes sent',
  'in processing',
  'awaiting publish',
  'done',
] as const;

export type Moment = (typeof moments)[number];

/** How much of a body the service takes before it stops reading, in percent. */
export const percentRead: Partial<Record<Moment, number>> = { 'at 10 %': 10, 'at 50 %': 50, 'at 99 %': 99 };

/** More than the kernel's socket buffers hold: a client cannot be much further than the service. */
const beyondBuffers = 8 * 1024 * 1024;

export function sizeAt(moment: Moment): number {
  return moment in percentRead ? beyondBuffers : 3_000;
}

import { z } from 'zod';
import { parseDays, DAYS_FORM, parseTimeOfDay, TIME_FORM } from './day-window.ts';
import { count, duration, parsed, text } from './schema-values.ts';

const timeOfDay = (shown: string) => parsed(TIME_FORM, parseTimeOfDay, { examples: [shown] });

const fields = {
  by: timeOfDay('18:30').describe('Time of day by which the files must be there.'),
  from: timeOfDay('00:00')
    .prefault('00:00')
    .describe(
      'Files count for the day from this time on. A time that is not before by is one on the previous evening: from: "20:00" with by: "00:30".',
    ),
  days: parsed(DAYS_FORM, parseDays, { examples: ['daily', 'mon-fri', 'mon,wed,fri'] })
    .prefault('daily')
    .describe(`On which days: ${DAYS_FORM}.`),
  count: count(1, 'How many files, 1 to 10,000.', { min: 1, max: 10_000 }),
  zone: text
    .refine(isTimeZone, 'not a time zone; write it like Europe/Berlin')
    .optional()
    .describe('Time zone, like Europe/Berlin. Default: that of this machine.'),
  until: z
    .enum(['live', 'arrived'])
    .prefault('live')
    .describe(
      'What must have happened by then: live (published, as its rule says), or arrived (complete in the folder).',
    ),
  grace: duration('0s', 'How long to wait after that time before dropcast reports it.', { min: '0s', max: '12h' }),
};

/** The `expect` setting of a folder. */
export const folderExpect = z
  .array(
    z.strictObject({
      match: text.describe('Glob for the path relative to the folder, as in rules.'),
      ...fields,
    }),
  )
  .prefault([])
  .describe('Files that must be there by a time of day. Checking this costs no requests.');

/** The `expect` setting of a rule, for the rule's files. */
export const ruleExpect = z
  .array(z.strictObject({ ...fields }))
  .prefault([])
  .describe('The same as expect of the folder, for the files of this rule.');

/** Whether a text is the name of a time zone, such as `Europe/Berlin`. */
export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

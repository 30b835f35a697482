import { monday } from './monday.ts';
import type { Step } from './step.ts';
import { tuesday } from './tuesday.ts';
import { wednesday } from './wednesday.ts';

/** Three days of a news desk: petra runs dropcast; anna makes bulletins, ben sport, and carl digitises an archive. */
export const steps: readonly Step[] = [...monday, ...tuesday, ...wednesday];

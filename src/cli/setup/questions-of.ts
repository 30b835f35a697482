import type { Shell } from '../shell.ts';
import { plainQuestions } from './plain-questions.ts';
import type { Questions } from './questions.ts';
import { richQuestions } from './rich-questions.ts';

/**
 * Questions on the terminal of a shell; null when there is none, and nobody can answer. They are written to stderr: data alone goes to
 * stdout. A terminal that cannot move its cursor gets them line by line.
 */
export function questionsOf(shell: Shell): Questions | null {
  if (!shell.stdin.isTTY || !shell.stderr.isTTY) return null;
  return shell.env['TERM'] === 'dumb' ? plainQuestions(shell) : richQuestions(shell);
}

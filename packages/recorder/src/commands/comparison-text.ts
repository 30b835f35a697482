import type { Comparison, Finding } from '../compare/compare.ts';
import { forms, type SeenForm } from '../compare/forms.ts';
import type { SettledPoint } from '../compare/settled-points.ts';

/**
 * Formats a comparison of a service with the contract for people.
 *
 * @param escapeControls makes text from the service safe for one line of a terminal
 */
export function comparisonText(comparison: Comparison, escapeControls: (text: string) => string): string {
  const departures = (findings: readonly Finding[]): readonly string[] => findings.map(departure).map(escapeControls);
  const { violated, contradicted, unknown, confirmed, unseen, broken, settled, exchanges, forms: seen } = comparison;
  const same = settled.filter(({ name }) => name in comparison.switches);
  const unclear = settled.filter(({ values }) => values.length > 1);
  const groups: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Not as the specification says', departures(violated)],
    ['Not as openapi.yaml assumes', departures(contradicted)],
    ['Not in openapi.yaml; clients ignore it', departures(unknown)],
    ['Without a complete answer', broken.map(({ exchange, what }) => `${what} (exchange ${exchange})`)],
    ['Switches that make the sandbox do the same', same.map((point) => `--set ${valuesOf(point)}`)],
    ['Not always the same: choose one for the sandbox', unclear.map(valuesOf)],
    ['Not in the specification', seen.map(formLine).map(escapeControls)],
    ['As openapi.yaml assumes', confirmed.map(confirmation).map(escapeControls)],
    ['Assumed, and not seen', unseen.map(({ place, says }) => `${place}: ${says}`)],
  ];
  const shown = groups.filter(([, lines]) => lines.length > 0);
  const blocks = shown.map(
    ([title, lines]) => `${title} (${lines.length})\n${lines.map((line) => `  ${line}\n`).join('')}`,
  );
  return `${counted(exchanges, 'exchange')} compared.\n\n${blocks.join('\n')}${commandOf(comparison.switches)}`;
}

/** Returns a command to copy. */
function commandOf(switches: Comparison['switches']): string {
  const options = Object.entries(switches).map(([name, value]) => ` --set ${name}=${value}`);
  return options.length === 0 ? '' : `\nA sandbox like this service: dropcast sandbox${options.join('')}\n`;
}

function valuesOf({ name, values }: SettledPoint): string {
  return values.map(({ value, exchanges }) => `${name}=${value} (${numbers(exchanges)})`).join(', ');
}

function formLine({ name, values }: SeenForm): string {
  return `${forms[name].about}: ${values.map(({ value, exchanges }) => `${value} (${numbers(exchanges)})`).join(', ')}`;
}

function departure({ place, says, what, exchanges }: Finding): string {
  const instead = says === null ? '' : `; expected: ${says}`;
  return `${place} ${what ?? ''}${instead} (${numbers(exchanges)})`;
}

function confirmation({ place, says, exchanges }: Finding): string {
  return `${place}: ${says ?? ''} (${numbers(exchanges)})`;
}

/** Lists only the first few numbers. */
function numbers(exchanges: readonly number[]): string {
  const shown = exchanges.slice(0, 3).join(', ');
  return `exchange ${shown}${exchanges.length > 3 ? ` and ${exchanges.length - 3} more` : ''}`;
}

/** Formats a count with its noun: `1 file`, `2 files`. */
export function counted(n: number, word: string): string {
  return `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`;
}

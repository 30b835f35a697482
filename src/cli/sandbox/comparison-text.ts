import type { Comparison, Finding } from '@dropcast/sandbox/record';
import { counted } from '../output/format.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';

/** How a service compares with the contract, for a person. */
export function comparisonText(comparison: Comparison): string {
  const { violated, contradicted, unknown, confirmed, unseen, broken, exchanges } = comparison;
  const groups: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Not as the specification says', violated.map(departure)],
    ['Not as openapi.yaml assumes', contradicted.map(departure)],
    ['Not in openapi.yaml; clients ignore it', unknown.map(departure)],
    ['Without a whole answer', broken.map(({ exchange, what }) => `${what} (exchange ${exchange})`)],
    ['As openapi.yaml assumes', confirmed.map(confirmation)],
    ['Assumed, and not seen', unseen.map(({ place, says }) => `${place}: ${says}`)],
  ];
  const shown = groups.filter(([, lines]) => lines.length > 0);
  const blocks = shown.map(
    ([title, lines]) => `${title} (${lines.length})\n${lines.map((line) => `  ${line}\n`).join('')}`,
  );
  return `${counted(exchanges, 'exchange')} compared.\n\n${blocks.join('\n')}`;
}

function departure({ place, says, what, exchanges }: Finding): string {
  const instead = says === null ? '' : `; expected: ${says}`;
  return escapeControls(`${place} ${what ?? ''}${instead} (${numbers(exchanges)})`);
}

function confirmation({ place, says, exchanges }: Finding): string {
  return escapeControls(`${place}: ${says ?? ''} (${numbers(exchanges)})`);
}

/** The first few are enough to look at. */
function numbers(exchanges: readonly number[]): string {
  const shown = exchanges.slice(0, 3).join(', ');
  return `exchange ${shown}${exchanges.length > 3 ? ` and ${exchanges.length - 3} more` : ''}`;
}

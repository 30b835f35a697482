import type { Judged } from './judged.ts';
import { countWords, type ExpectationOutcome, type Outcome } from './outcome.ts';

/** Describes in lines of text which expectations hold and which do not, for a person looking for the mistake. Pure. */
export function reportOf({ state, expectations, unexpected }: Outcome): string {
  const failed = expectations.filter((each) => each.state !== 'met');
  const passed = expectations.filter((each) => each.state === 'met');
  return [
    headline(state, failed.length, expectations.length, unexpected.length),
    ...failed.flatMap(failedLines),
    ...unexpectedLines(unexpected),
    ...passed.map(
      ({ name, matched }) =>
        `\u2713 ${name}: ${matched.length} matched${matched.length === 0 ? '' : ` (${numbers(matched)})`}.`,
    ),
  ].join('\n');
}

function headline(state: Outcome['state'], failed: number, total: number, unexpected: number): string {
  if (state === 'met')
    return total === 0
      ? 'No other request came.'
      : `All ${total} expectations hold.`.replace('All 1 expectations hold', 'The expectation holds');
  const parts = [
    ...(failed > 0
      ? [
          `${failed} of ${total} ${total === 1 ? 'expectation' : 'expectations'} ${failed === 1 ? 'does' : 'do'} not hold`,
        ]
      : []),
    ...(unexpected > 0 ? [`${unexpected} unexpected ${unexpected === 1 ? 'request' : 'requests'} came`] : []),
  ];
  return `${parts.join(', and ')}.`;
}

function failedLines({ name, state, expectation, problems, matched, nearest }: ExpectationOutcome): string[] {
  return [
    `\u2717 ${name} is ${state}: ${problems.join(' ')}`,
    `    wanted: ${countWords(expectation)} like ${JSON.stringify(expectation.request)}`,
    ...some('matched', matched, ({ line }) => [line]),
    ...some('almost matched', nearest, ({ request, differences }) => [
      request.line,
      ...differences.map((one) => `  ${one}`),
    ]),
    ...(matched.length === 0 && nearest.length === 0 ? ['    No request came near.'] : []),
  ];
}

function unexpectedLines(unexpected: readonly Judged[]): string[] {
  return unexpected.length === 0
    ? []
    : ['\u2717 No expectation is about these requests:', ...some('unexpected', unexpected, ({ line }) => [line])];
}

function some<T>(label: string, items: readonly T[], linesOf: (item: T) => readonly string[]): string[] {
  if (items.length === 0) return [];
  const lines = items.slice(0, MOST_SHOWN).flatMap(linesOf);
  const rest = items.length - MOST_SHOWN;
  return [`    ${label}:`, ...lines.map((line) => `      ${line}`), ...(rest > 0 ? [`      and ${rest} more`] : [])];
}

const MOST_SHOWN = 10;

function numbers(requests: readonly Judged[]): string {
  const shown = requests.slice(0, MOST_SHOWN).map(({ number }) => `#${number}`);
  return requests.length > MOST_SHOWN ? `${shown.join(', ')}, …` : shown.join(', ');
}

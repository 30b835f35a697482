import { isReached } from './measure.ts';
import type { Figures, Result, ResultRow } from './measure.ts';

/** The columns of a result, header first: the same in the terminal and in docs/performance.md. */
export function tableOf(result: Result): readonly (readonly string[])[] {
  const isCompared = result.against !== undefined;
  return [
    ['what', 'measured', 'range', 'target', '', ...(isCompared ? [result.against ?? '', 'change'] : [])],
    ...result.rows.map((row) => [
      row.what,
      row.here === null ? 'not measured' : quantity(row.here.median, row.unit),
      row.here === null ? '' : `${short(row.here.least)} – ${short(row.here.most)}`,
      targetOf(row),
      verdictOf(row),
      ...(isCompared ? comparisonOf(row) : []),
    ]),
  ];
}

function comparisonOf({ here, against, unit }: ResultRow): readonly string[] {
  if (against === null || against === undefined) return ['not measured', ''];
  return [quantity(against.median, unit), here === null ? '' : changeOf(here, against)];
}

function changeOf(here: Figures, against: Figures): string {
  return against.median === 0 ? '' : `× ${short(here.median / against.median)}`;
}

function targetOf({ least, most, unit }: ResultRow): string {
  if (least !== undefined) return `≥ ${quantity(least, unit)}`;
  return most === undefined ? '' : `≤ ${quantity(most, unit)}`;
}

function verdictOf(row: ResultRow): string {
  const reached = isReached(row);
  if (reached === null) return '';
  return reached ? 'reached' : 'missed';
}

function quantity(value: number, unit: string): string {
  return unit === '' ? short(value) : `${short(value)} ${unit}`;
}

/** Three digits that mean something. */
function short(value: number): string {
  return value.toLocaleString('en', value >= 1_000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
}

import { paint } from '../../log/colour.ts';
import type { Style } from '../../log/colour.ts';
import { displayWidth, pad } from './text-width.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';

/** A labelled fact. */
export interface Detail {
  readonly label: string;
  /** Raw text, which is escaped here. Several lines are printed below each other; null omits the fact. */
  readonly value: string | readonly string[] | null;
  readonly style?: Style | null;
}

/** Formats facts as `label value`, one per line with aligned values. Ends with a newline unless empty. */
export function renderDetails(details: readonly Detail[], colour: boolean): string {
  const known = details.filter(({ value }) => value !== null);
  const width = known.reduce((widest, { label }) => Math.max(widest, displayWidth(label)), 0) + GAP.length;
  return known.map((detail) => `${renderDetail(detail, width, colour)}\n`).join('');
}

const GAP = '  ';

function renderDetail({ label, value, style }: Detail, width: number, colour: boolean): string {
  const lines = [value ?? ''].flat().map((line) => paintIf(style ?? null, escapeControls(line), colour));
  return (pad(label, width) + lines.join(`\n${' '.repeat(width)}`)).trimEnd();
}

function paintIf(style: Style | null, text: string, colour: boolean): string {
  return style === null || text === '' ? text : paint(style, text, colour);
}

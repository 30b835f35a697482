import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/**
 * Whether to colour a stream: only on a terminal that supports colours, and never with `NO_COLOR`
 * (https://no-color.org).
 */
export function hasColour(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** Applies a style to text; unchanged if `colour` is false. */
export function paint(style: Style, text: string, colour: boolean): string {
  return colour ? styleText(style, text, { validateStream: false }) : text;
}

/** What a person types, and what the page shows of the answer. */
export interface Step {
  /** Of the page, from 1. */
  readonly line: number;
  readonly commands: string;
  readonly shown: Shown | undefined;
}

export interface Shown {
  readonly language: string;
  readonly text: string;
}

/** The `sh` blocks of a page in their order, each with the block of another language that follows it. */
export function stepsOf(markdown: string): Step[] {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(
    ({ index, 1: language = '', 2: text = '' }) => ({
      language,
      text,
      line: markdown.slice(0, index).split('\n').length,
    }),
  );
  return blocks.flatMap(({ language, text, line }, index) => {
    const next = blocks[index + 1];
    const shown = next === undefined || next.language === 'sh' ? undefined : next;
    return language === 'sh' ? [{ line, commands: text, shown }] : [];
  });
}

/**
 * Whether the output is what is shown. `…` stands for anything: in JSON for the rest of a string, or outside of strings for
 * anything at all, and line breaks do not count; in text for the rest of a line, or alone on a line for any lines.
 * Without a block that shows it, there must be no output.
 */
export function isAsShown(output: string, shown: Shown | undefined): boolean {
  if (shown === undefined) return output.trim() === '';
  if (shown.language === 'json') return isLike(jsonPattern(shown.text), tokensOf(output).join(''));
  return isLike(textPattern(shown.text), ended(linesOf(output)));
}

function isLike(pattern: string, output: string): boolean {
  return new RegExp(`^${pattern}$`).test(output);
}

function jsonPattern(text: string): string {
  return tokensOf(text)
    .map((token) => (token === '…' ? '[^]*?' : escaped(token).replaceAll('…', '[^"]*')))
    .join('');
}

function textPattern(text: string): string {
  return linesOf(text)
    .map((line) => (line === '…' ? '(?:.*\\n)*?' : `${escaped(line).replaceAll('…', '.*')}\\n`))
    .join('');
}

function ended(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

function tokensOf(json: string): string[] {
  return json.match(/"(?:[^"\\]|\\.)*"|…|[^\s"…]+/g) ?? [];
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

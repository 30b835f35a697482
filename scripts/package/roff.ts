/** Pieces of a manual page in the macros of man(7), which every reader of manuals knows: groff, mandoc and man.cgi. */

/**
 * Left-aligned and without hyphenation: names of variables and paths stay whole. @param epochSeconds the day that the
 * page bears
 */
export function page(title: string, section: number, epochSeconds: number): string {
  const day = new Date(epochSeconds * 1000).toISOString().slice(0, 10);
  return `.TH ${title} ${section} ${day} dropcast\n.nh\n.ad l`;
}

export function section(heading: string): string {
  return `.SH ${quoted(heading.toUpperCase())}`;
}

export function subsection(heading: string): string {
  return `.SS ${quoted(heading)}`;
}

export function paragraph(text: string): string {
  return `.PP\n${plain(text)}`;
}

/** What is explained, in bold, and the explanation below it, indented. Both take `code` and _names_. */
export function item(term: string, ...explanation: readonly string[]): string {
  return `.TP\n${styled(term)}\n${explanation.map(plain).join('\n.IP\n')}`;
}

/** Lines that stay as they are; an example stands out by its indent, remarks have one of their own. */
export function verbatim(text: string, indent: 0 | 4 = 4): string {
  const lines = text.split('\n').map((line) => guarded(escaped(line)));
  return `.PP\n.in +${indent}n\n.nf\n${lines.join('\n')}\n.fi\n.in`;
}

/** What is indented by one step further, like the options of a command. */
export function indented(parts: readonly string[]): readonly string[] {
  return parts.length === 0 ? [] : ['.RS', ...parts, '.RE'];
}

/** Bold, but for what stands in < > or [ ], which the reader replaces: that is italic. */
export function styled(term: string): string {
  const parts = escaped(term).split(/(<[^>]+>)/);
  return guarded(parts.map((part) => (/^<.*>$/.test(part) ? `\\fI${part.slice(1, -1)}\\fR` : bold(part))).join(''));
}

/** Running text; what stands in backticks is bold. */
export function plain(text: string): string {
  const parts = text.split(/`([^`]+)`/).map(breakable);
  return guarded(wrapped(parts.map((part, index) => (index % 2 === 1 ? bold(part) : part)).join('')));
}

/** A long list without blanks may be broken behind a comma. */
function breakable(text: string): string {
  return escaped(text).replaceAll(/\S{50,}/g, (word) => word.replaceAll(',', ',\\:'));
}

/** roff fills lines itself; short ones are for who reads the source. */
function wrapped(text: string): string {
  return text.replaceAll(/(?=.{79})(.{1,78}) /g, '$1\n');
}

function bold(text: string): string {
  return text === '' ? '' : `\\fB${text}\\fR`;
}

/**
 * A backslash begins a request, and a bare hyphen, apostrophe or tilde may become a typographic one (groff_char(7)).
 */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('…', '...')
    .replaceAll('·', '\\(md')
    .replaceAll('–', '\\(en');
}

/** A line that begins with a dot or an apostrophe would be a request. */
function guarded(line: string): string {
  return line.replaceAll(/^[.']/gm, '\\&$&');
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', '\\(dq')}"`;
}

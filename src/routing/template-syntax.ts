/** A piece of a template: text that stays, or a word that is replaced. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'word'; readonly word: string };

export type Template =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | { readonly ok: false; readonly why: string };

const PIECE = /\{\{|\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}|[^{}]+|[{}]/gsu;

/**
 * Reads a template: `{word}` is replaced, `{{` and `}}` are literal braces. A brace that is neither gives `why`: half a
 * sentence that says what to write instead.
 */
export function parseTemplate(template: string): Template {
  const parts: TemplatePart[] = [];
  for (const [piece, word] of template.matchAll(PIECE)) {
    if (word !== undefined) parts.push({ kind: 'word', word });
    else if (piece === '{' || piece === '}') return { ok: false, why: strayBrace(piece) };
    else parts.push({ kind: 'text', text: piece === '{{' ? '{' : piece === '}}' ? '}' : piece });
  }
  return { ok: true, parts };
}

function strayBrace(brace: string): string {
  return `a "${brace}" does not belong to a word such as {title}; for the brace itself write "${brace}${brace}"`;
}

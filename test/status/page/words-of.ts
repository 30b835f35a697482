import type { View } from '@dropcast/pages';
import { parseHTML } from 'linkedom';

/** What a reader reads in a view: its words, with single spaces. */
export async function wordsOf({ body }: Pick<View, 'body'>): Promise<string> {
  const { document } = parseHTML(
    `<!doctype html><html><body>${String(await body).replaceAll(/<\/(?:t[dh]|li)>/g, ' $&')}</body></html>`,
  );
  return document.body.textContent.replaceAll(/\s+/g, ' ').trim();
}

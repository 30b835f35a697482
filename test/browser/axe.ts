import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * What axe finds wrong with the page for people with disabilities: `rule: element` for each. It runs beside the page's own
 * content security policy, which the page keeps.
 * @param rules all by default
 */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  const isLoaded = await page.evaluate<boolean>('typeof axe === "object"');
  if (!isLoaded) await page.evaluate(axe.source);
  const options = rules === undefined ? {} : { runOnly: rules };
  const found = await page.evaluate<Finding[]>(
    `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id} (${help}): ${target.join(' ')}`));
}

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

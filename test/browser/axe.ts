import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * What axe finds wrong with the page for people with disabilities: `rule: element` for each. It runs beside the page's own
 * content security policy, which the page keeps.
 */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<Finding[]>('axe.run(document).then((results) => results.violations)');
  return found.flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id} (${help}): ${target.join(' ')}`));
}

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

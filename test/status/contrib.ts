import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

interface Dashboard {
  readonly __inputs: readonly { readonly name: string }[];
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly description: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
  }[];
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
}

const contrib = join(import.meta.dirname, '../../contrib');

export const alertsPath = join(contrib, 'alerts.yml');

export async function dashboard(): Promise<Dashboard> {
  return JSON.parse(await readFile(join(contrib, 'grafana.json'), 'utf8')) as Dashboard;
}

export async function alerts(): Promise<readonly Alert[]> {
  const { groups } = parse(await readFile(alertsPath, 'utf8')) as { groups: readonly { rules: readonly Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Every query of dashboard and alerts, with the variables of the dashboard filled in. */
export async function queries(job: string): Promise<readonly string[]> {
  const { panels } = await dashboard();
  const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return [...shown, ...(await alerts()).map(({ expr }) => expr)].map((expr) =>
    expr.replaceAll('$job', job).replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'),
  );
}

/** Names of metrics in a query: words before a selector or a bracket that are neither functions nor labels. */
export function metricsIn(query: string): readonly string[] {
  return [...new Set(query.match(/\bdropcast_\w+/g))];
}

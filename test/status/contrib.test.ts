import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/status/metrics/metrics.ts';
import { FakeFleet, someHost } from '../fleet/fake-fleet.ts';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { alerts, alertsPath, dashboard, metricsIn, queries } from './contrib.ts';
import { measuredDaemon } from './measured-daemon.ts';

async function namesToldAtOnce(): Promise<string> {
  const { daemon } = measuredDaemon(new FakeFleet(someHost('ingest1')));
  return createMetrics(daemon, { version: '1', node: '26' }).text();
}

test('every metric that dashboard and alerts name is exported, before anything has happened', async () => {
  const told = await namesToldAtOnce();
  for (const name of (await queries('dropcast')).flatMap(metricsIn))
    expect(told).toContain(`# HELP ${name.replace(/_bucket$/, '')} `);
});

test('the documentation lists every metric, and no other', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
  const documented = new Set(page.match(/(?<=^\| `)dropcast_\w+/gm));
  const told = (await namesToldAtOnce()).match(/(?<=^# HELP )dropcast_\w+/gm);
  expect([...documented].toSorted()).toEqual([...new Set(told)].toSorted());
});

test('the configuration of Prometheus in the documentation is one that it takes', needs('promtool'), async () => {
  await using scratch = await scratchDirectory();
  const page = await readFile(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');
  const [[, config = ''] = [], ...further] = [...page.matchAll(/```yaml\n(.*?)```/gs)];
  expect(further).toEqual([]);
  await writeFile(scratch.file('token'), 'x\n');
  const local = config
    .replace('/etc/prometheus/dropcast-alerts.yml', alertsPath)
    .replace('/etc/prometheus/dropcast-token', scratch.file('token'));
  await writeFile(scratch.file('prometheus.yml'), local);
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'config', scratch.file('prometheus.yml')], {
    encoding: 'utf8',
  });
  expect({ status, said: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
});

describe('the dashboard', () => {
  test('has eight panels that say what they show, on a data source that its reader chooses', async () => {
    const { panels, __inputs: inputs } = await dashboard();
    expect(inputs.map(({ name }) => name)).toEqual(['DS_PROMETHEUS']);
    expect(panels).toHaveLength(8);
    for (const { title, description, targets } of panels) {
      expect(title).not.toBe('');
      expect(description).not.toBe('');
      for (const { datasource } of targets) expect(datasource.uid).toBe('${DS_PROMETHEUS}');
    }
  });

  test('no panel lies on another one', async () => {
    const { panels } = await dashboard();
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe('the alerts', () => {
  test('are four', async () => {
    expect(await alerts()).toHaveLength(4);
  });

  test('fire when they should, recover, and are silent otherwise', needs('promtool'), async () => {
    await using scratch = await scratchDirectory();
    const cases = await readFile(join(import.meta.dirname, 'alerts.yml'), 'utf8');
    await writeFile(scratch.file('test.yml'), cases.replace('[ALERTS]', `['${alertsPath}']`));
    for (const args of [
      ['check', 'rules', alertsPath],
      ['test', 'rules', scratch.file('test.yml')],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
      expect({ args, status, said: `${stdout}${stderr}` }).toMatchObject({ status: 0 });
    }
  });
});

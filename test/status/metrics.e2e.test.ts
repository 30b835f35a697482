import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unlistedMetrics } from '../contract/golden/metrics.ts';
import { readList } from '../contract/golden/stored.ts';
import { startStation } from '../e2e/station.ts';
import { needs } from '../support/needs.ts';
import { until } from '../support/until.ts';
import { alertsPath, metricsIn, queries } from './contrib.ts';
import { startPrometheus } from './prometheus.ts';

const sdk = join(import.meta.dirname, 'open-telemetry.mjs');

test(
  'a real Prometheus scrapes a daemon with the token, and has what dashboard and alerts ask for; a trace goes to the SDK',
  needs('prometheus'),
  async () => {
    const env: Record<string, string> = { NODE_OPTIONS: `--import=${sdk}` };
    await using station = await startStation({
      isStarted: false,
      page: '127.0.0.1:0',
      env,
    });
    const spans = station.scratch.file('spans.jsonl');
    env['SPANS'] = spans;
    const { output } = await station.start();
    const [, port] = /Status page ready.*127\.0\.0\.1:(\d+)/.exec(output()) ?? [];
    // As in docs/metrics.md.
    await using prometheus = await startPrometheus(
      `
scrape_configs:
  - job_name: dropcast
    authorization: { credentials_file: '${station.scratch.file('state/metrics-token')}' }
    static_configs: [{ targets: ['127.0.0.1:${port}'] }]
`,
      alertsPath,
    );
    await station.drop('news/clip.mpg');
    await station.drop('nofeed/clip.mpg');
    // Of a scrape that takes too long, as on a busy machine, Prometheus has nothing: what it got last counts.
    const last = (selector: string) => prometheus.query(`last_over_time(${selector}[5m])`);
    const first = async (selector: string) => (await last(selector))[0]?.value;
    await until('both are done', async () => (await first('dropcast_files_finished_total{outcome="done"}')) === 2);
    expect(await first('dropcast_ledger_up{job="dropcast"}')).toBe(1);
    expect(await first('dropcast_upload_bytes_total')).toBeGreaterThanOrEqual(4_000);
    expect(await first('dropcast_files{state="done"}')).toBe(2);
    expect(await first('dropcast_feed_publishes_total{feed="feed_news",outcome="ok"}')).toBe(1);
    expect(await first('dropcast_step_duration_seconds_count{step="upload",outcome="ok"}')).toBe(2);
    expect(await first('dropcast_step_duration_seconds_count{step="processing",outcome="ok"}')).toBe(2);
    expect(await first('dropcast_api_requests_total{operation="create video"}')).toBe(2);
    const success = await first('dropcast_last_success_timestamp_seconds');
    expect(Date.now() / 1_000 - (success ?? 0)).toBeLessThan(600);
    expect(await first('process_resident_memory_bytes{job="dropcast"}')).toBeGreaterThan(1e7);
    const token = (await readFile(station.scratch.file('state/metrics-token'), 'utf8')).trim();
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect(unlistedMetrics(await answer.text(), await readList('metrics.txt'))).toEqual([]);
    for (const query of await queries('dropcast')) {
      await prometheus.query(query); // Prometheus understands it
      for (const name of metricsIn(query)) expect(await last(`{__name__="${name}"}`), name).not.toEqual([]);
    }
    const told = (await readFile(spans, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; attributes: object });
    expect(told.map(({ name }) => name)).toEqual(expect.arrayContaining(['create', 'put', 'poll', 'publish', 'file']));
    expect(told.filter(({ name }) => name === 'file').map(({ attributes }) => attributes)).toContainEqual(
      expect.objectContaining({ 'dropcast.path': 'news/clip.mpg', 'dropcast.end': 'done' }),
    );
  },
);

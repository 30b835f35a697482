import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { freePort } from '../support/free-port.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

/** A real Prometheus that scrapes one daemon, with the configuration of docs/metrics.md. */
export interface Prometheus extends AsyncDisposable {
  /** @returns each result of a query as its labels and its value @throws what Prometheus says against the query */
  query(
    text: string,
  ): Promise<readonly { readonly metric: Readonly<Record<string, string>>; readonly value: number }[]>;
}

export async function startPrometheus(scrapeConfig: string, rules: string): Promise<Prometheus> {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const config = `global: { scrape_interval: 500ms, evaluation_interval: 500ms }\nrule_files: ['${rules}']\n${scrapeConfig}`;
  await writeFile(scratch.file('prometheus.yml'), config);
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${scratch.file('prometheus.yml')}`,
      `--storage.tsdb.path=${scratch.file('data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (part) => (said += String(part)));
  const ended = new Promise((resolve) => child.once('close', resolve));
  stack.defer(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const ask = async (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
  await until('Prometheus is ready', async () => (await ask('/-/ready').catch(() => null))?.status === 200, {
    seen: () => said,
  });
  const parts = stack.move();
  return {
    query: async (text) => {
      const answer = await ask(`/api/v1/query?query=${encodeURIComponent(text)}`);
      const { status, error, data } = (await answer.json()) as {
        readonly status: string;
        readonly error?: string;
        readonly data: {
          readonly result: readonly { readonly metric: Record<string, string>; readonly value: [number, string] }[];
        };
      };
      if (status !== 'success') throw new Error(`${text}: ${error}`);
      return data.result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

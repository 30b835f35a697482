import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Build, Measured } from './bench.ts';
import { start, until, usageOf } from './child.ts';

export const bench: Bench = {
  about:
    'CPU of a command from start to exit, from the installed package, against an empty Node. ' +
    '`status` asks a daemon that runs.',
  rounds: 9,
  isOnlyAsShipped: true,
  rows: {
    help: { what: '`dropcast --help`, package', unit: 's', most: 0.1 },
    status: { what: '`dropcast status`, package', unit: 's', most: 0.15 },
    empty: { what: 'an empty Node', unit: 's' },
    helpRatio: { what: '`dropcast --help`, package, against an empty Node', unit: '×' },
    statusRatio: { what: '`dropcast status`, package, against an empty Node', unit: '×' },
  },
  round,
};

async function round(build: Build): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'dropcast-bench-'));
  try {
    const packaged = build.program;
    const config = await configIn(folder);
    const cpu = async (args: readonly string[], isFine?: readonly number[]): Promise<number> =>
      (await usageOf(build.plainNode, args, isFine)).cpuMs / 1_000;
    const status = ['status', '--config', config];
    await using daemon = start(build.node, [packaged, 'run', '--config', config]);
    await until(
      async () => (await usageOf(build.plainNode, [packaged, 'status', '--config', config], [0, 1, 3])).code !== 3,
    );
    void daemon;
    // The first run fills the compile cache, as the first command after an installation does.
    await cpu([packaged, '--help']);
    await cpu([packaged, ...status], [0, 1]);
    const values = {
      empty: await cpu(['-e', '']),
      help: await cpu([packaged, '--help']),
      status: await cpu([packaged, ...status], [0, 1]),
    };
    return { values: { ...values, helpRatio: values.help / values.empty, statusRatio: values.status / values.empty } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function configIn(folder: string): Promise<string> {
  await mkdir(join(folder, 'inbox'));
  const config = join(folder, 'dropcast.yaml');
  const text = `service: { base_url: http://127.0.0.1:9/v1, api_key: none }
state_dir: state
folders: [{ path: inbox, rules: [{ match: "**", channel: ch_main }] }]
`;
  await writeFile(config, text, { mode: 0o600 });
  return config;
}

import type { TestProject } from 'vitest/node';
import { startCluster } from './cluster.ts';
import { serverOfEnvironment } from './server.ts';

/** One server for all tests of the run: that of PGHOST, else one that is started and ended here. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = serverOfEnvironment();
  if (given !== null) {
    project.provide('postgres', given);
    return () => Promise.resolve();
  }
  const cluster = await startCluster({ settings: { max_connections: 400 } });
  project.provide('postgres', { url: cluster.url });
  return async () => await cluster[Symbol.asyncDispose]();
}

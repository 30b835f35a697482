import { Machine, switchOn } from '../simulation/machine/machine.ts';
import type { Lived } from '../simulation/life.ts';
import { askPostgres } from '../simulation/machine/postgres.ts';
import { liveOn } from './engine-life.ts';
import { planOf } from './plan.ts';
import { differencesOf } from './differences.ts';

/** Plays the plan of a seed with one daemon on SQLite and with one on PostgreSQL: nobody may tell from what they leave which was which. */
export async function liveOnEngines(seed: number, onLine: ((line: string) => void) | null = null): Promise<Lived> {
  const plan = planOf(seed);
  const told = (engine: string) => (onLine === null ? null : (line: string) => onLine(`${engine}: ${line}`));
  const inFile = await liveOn('SQLite', plan, told('SQLite'));
  const shared = await liveOn('PostgreSQL', plan, told('PostgreSQL'));
  return {
    seed,
    violations: differencesOf(inFile.snapshot, shared.snapshot),
    reached: new Set([...inFile.reached, ...shared.reached]),
    digest: `${inFile.digest} ${shared.digest}`,
    kills: inFile.kills + shared.kills,
    elapsedMs: inFile.elapsedMs + shared.elapsedMs,
  };
}

/** Starts and stops one daemon, for the tables that it makes. */
export async function openEngineTables(): Promise<void> {
  await liveOn('PostgreSQL', { ...planOf(0), scenes: [] });
  switchOn(new Machine(0));
  try {
    await askPostgres(
      `TRUNCATE dropcast.host, dropcast.root, dropcast.first_start, dropcast.listed_video, dropcast.listing,
        dropcast.audit_video, dropcast.audit_finding`,
    );
    await askPostgres('DELETE FROM dropcast_jobs.job');
  } finally {
    switchOn(null);
  }
}

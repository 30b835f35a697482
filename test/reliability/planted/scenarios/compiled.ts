import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { compile, compileShim, readTrace, swapEnv } from '../../kill/shim.ts';
import { until } from '../../../support/until.ts';
import type { World } from '../../world/world.ts';
import type { Scenario } from '../scenario.ts';
import { everythingWasSeen, isReady } from './seen.ts';

/** What only C can do: act between two system calls, or write a file through memory. */
export const compiledScenarios = {
  'another file takes the name while a file is moved away': {
    needsCompiler: true,
    world: { folder: { after_ready: { move: 'done' } }, allows: { requests: 1_000 } },
    play: swapEverywhere,
  },

  'another file takes the name while a file is deleted': {
    needsCompiler: true,
    world: { folder: { after_ready: 'delete' }, allows: { requests: 1_000 } },
    play: swapEverywhere,
  },

  'a file is written through memory while no process has it open': {
    needsCompiler: true,
    play: async (world) => {
      const size = 40_000;
      const path = world.at('mapped.mpg');
      const program = await compile('mmap-writer.c', world.scratch.file('mmap-writer'));
      world.people.note(path, Buffer.concat([Buffer.alloc(size / 2, 'a'), Buffer.alloc(size / 2, 'b')]));
      const writer = spawn(program, [path, String(size)], { stdio: ['pipe', 'pipe', 'inherit'] });
      await once(writer.stdout, 'data');
      const daemon = await world.daemon();
      await everythingWasSeen(world);
      const ended = once(writer, 'close');
      writer.stdin.end();
      await ended;
      await until('it is all there', () => isReady(world, 'mapped'));
      await world.stop(daemon);
    },
  },
} satisfies Record<string, Scenario>;

/** Right before the first, second … call that touches the name, until a run makes fewer of them. */
async function swapEverywhere(world: World): Promise<void> {
  const library = await compileShim(world.scratch.path);
  for (let at = 1, isHit = true; isHit; at += 1) {
    const path = world.at(`${at}.mpg`);
    const [by, trace] = [world.at(`.other-${at}`), world.scratch.file(`trace-${at}`)];
    const other = randomBytes(2_000);
    await world.drop(`${at}.mpg`);
    await writeFile(by, other);
    await world.once({ env: swapEnv({ at, path, by }, library, trace) });
    ({ isHit } = await readTrace(trace));
    if (isHit) world.people.note(path, other);
    // Its title is the name that it has when it comes to be uploaded.
    if (isHit && (await stat(path).catch(() => null)) !== null) await world.once();
  }
}

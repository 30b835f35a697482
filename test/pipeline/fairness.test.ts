import { test } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { outside, startCore } from './running-core.ts';
import { someFacts, someVersion } from './some-facts.ts';

const gigabyte = 1024 ** 3;

test('twelve clips are done while four files of 20 GB are sent', async () => {
  const big = rowsOf('big', 4, 20 * gigabyte);
  const world = outside([...big, ...rowsOf('clip', 12, 1)]);
  const sent = holdBack(world, big);
  const { store, until } = startCore(world);
  await until(() => store.all.filter((facts) => stateOf(facts) === 'done').length === 12);
  sent.resolve();
  await until(() => store.all.every((facts) => stateOf(facts) === 'done'));
});

/** So many files of about one size, each of its own. */
function rowsOf(name: string, count: number, size: number): Facts[] {
  return Array.from({ length: count }, (_, n) =>
    someFacts({ id: `${name}_${n}`, path: `${name}/${n}.mp4`, version: { ...someVersion, size: size + n } }),
  );
}

/** These files are sent for as long as the test wants. */
function holdBack({ service }: ReturnType<typeof outside>, files: readonly Facts[]): PromiseWithResolvers<void> {
  const gate = Promise.withResolvers<void>();
  const { send } = service.host;
  service.host.send = async (facts, hooks) => {
    if (files.some(({ id }) => id === facts.id)) await Promise.race([gate.promise, aborted(hooks.signal)]);
    return send(facts, hooks);
  };
  return gate;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

import { writeFile } from 'node:fs/promises';
import { contractLists, listNames } from './lists.ts';
import { differenceOf, pathOf, readList } from './stored.ts';

/**
 * `node test/contract/golden/write.ts` adds what is new to the lists. A line that is gone or changed breaks what users have built on it:
 * the command writes nothing then and exits with 1, unless `--remove` says that it is meant.
 */
async function main(args: readonly string[]): Promise<void> {
  const now = await contractLists();
  const stored = await Promise.all(listNames.map(async (name) => ({ name, lines: await readList(name) })));
  const changes = stored.map(({ name, lines }) => ({ name, ...differenceOf(lines, now[name]) }));
  const removed = changes.flatMap(({ name, gone }) => gone.map((line) => `${name}: ${line}`));
  if (removed.length > 0 && !args.includes('--remove')) {
    console.error(`Nothing written: these items of the contract are gone or changed.\n${removed.join('\n')}`);
    console.error('Bring them back; --remove accepts that users lose them.');
    process.exitCode = 1;
    return;
  }
  for (const { name, gone, added } of changes.filter((each) => each.gone.length + each.added.length > 0)) {
    await writeFile(pathOf(name), now[name].map((line) => `${line}\n`).join(''));
    console.error(`${name}: ${added.length} added, ${gone.length} removed`);
  }
}

await main(process.argv.slice(2));

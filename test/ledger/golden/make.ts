import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { openReceipts } from '../../../src/ledger/receipts.ts';
import { besideRows, everyState } from '../every-state.ts';

// node test/ledger/golden/make.ts 1
//
// Makes the golden ledger of the current schema: a row in every state, with the receipts. Run it when the schema gets a new
// version, and never again for a version that was released.

const [version] = process.argv.slice(2);
if (version === undefined) throw new Error('name the version of the schema');
const directory = join(import.meta.dirname, version);
await rm(directory, { recursive: true, force: true });
await mkdir(directory);
{
  await using ledger = await openLedger(directory);
  await using receipts = await openReceipts(directory);
  for (const facts of everyState()) {
    await ledger.insert(facts);
    if (facts.videoId !== null) await receipts.append('bound', facts);
  }
  await ledger.budget.save([1]);
  await ledger.roots.save(besideRows.folder, besideRows.root);
  await ledger.saveFirstStart(besideRows.folder, besideRows.firstStart);
  await ledger.addListed([besideRows.video], besideRows.listing);
}
await writeFile(join(directory, 'rows.json'), `${JSON.stringify(everyState(), null, 2)}\n`);
console.log((await readdir(directory)).join(' '));

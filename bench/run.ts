import { readdirSync } from 'node:fs';

/** A benchmark: measures, and gives the lines to print. */
export type Bench = () => Promise<readonly string[]>;

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''));

const [name = ''] = process.argv.slice(2);
if (!names.includes(name)) {
  console.error(`usage: npm run bench -- NAME\nNAME is one of: ${names.join(', ')}`);
  process.exit(2);
}
const { bench } = (await import(`./${name}.bench.ts`)) as { bench: Bench };
for (const line of await bench()) console.log(line);

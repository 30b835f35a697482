// Puts a new file at a path the moment its name is free or its target exists: as fast as a process can.
import { existsSync, renameSync, writeFileSync, writeSync } from 'node:fs';

const [folder, count] = process.argv.slice(2);
for (let n = 0; n < Number(count); n += 1) {
  const clip = `${folder}/clip-${n}.mp4`;
  const moved = `${folder}/done/clip-${n}.mp4`;
  writeFileSync(`${folder}/.new-${n}`, `new ${n}`);
  while (!existsSync(clip));
  writeSync(1, `sees ${n}\n`);
  // Every third comes at some moment of its own, the others by what they see.
  const patience = n % 3 === 0 ? 200 + 97 * n : Infinity;
  const mayGoOn = () => existsSync(clip) && (n % 3 === 2 || !existsSync(moved));
  let looks = 0;
  while (looks < patience && mayGoOn()) looks += 1;
  renameSync(`${folder}/.new-${n}`, clip);
  writeSync(1, `placed ${n}\n`);
}

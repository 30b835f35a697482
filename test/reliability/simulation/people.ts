import { basename, dirname } from 'node:path';
import { sha256Of } from './machine/disk.ts';
import type { Disk } from './machine/disk.ts';
import type { Inode } from './machine/inode.ts';
import type { Machine } from './machine/machine.ts';
import type { Random } from './machine/random.ts';

/** A sidecar that somebody wrote for a file. */
export interface WrittenSidecar {
  readonly media: string;
  readonly title: string;
  readonly at: number;
}

/** Those who work in the watched folders, and know nothing of dropcast. */
export class People {
  readonly sidecars: WrittenSidecar[] = [];
  readonly #machine: Machine;
  readonly #disk: Disk;
  readonly #random: Random;
  readonly #folders: readonly string[];
  #files = 0;
  #pids = 5_000;

  constructor(world: { machine: Machine; disk: Disk; random: Random; folders: readonly string[] }) {
    this.#machine = world.machine;
    this.#disk = world.disk;
    this.#random = world.random;
    this.#folders = world.folders;
  }

  /** Plans the whole storm: a few files, and what happens to them. */
  plan(stormMs: number, isBusy: boolean): void {
    const habits = deeds.filter(() => this.#random.chance(0.5));
    if (this.#random.chance(0.25)) this.#planBurst(stormMs);
    if (isBusy) this.#planTrickle(stormMs);
    const files = 1 + this.#random.below(5);
    for (let n = 0; n < files; n += 1) this.#at(this.#random.between(0, stormMs * 0.6), () => this.#drop());
    const count = this.#random.below(8);
    for (let n = 0; n < count && habits.length > 0; n += 1) {
      const deed = this.#random.pick(habits);
      this.#at(this.#random.between(2_000, stormMs), () => this.#do(deed));
    }
  }

  /** A card is copied: many files in a short time. More than half of what is known may then be new, done or away at once. */
  #planBurst(stormMs: number): void {
    const folder = this.#random.pick(this.#folders);
    const directory = this.#random.chance(0.6) ? `${folder}/card_${(this.#files += 1)}` : folder;
    const count = 6 + this.#random.below(this.#random.pick([10, 40]));
    const from = this.#random.between(0, stormMs * 0.5);
    const everyMs = this.#random.pick([0, 100, 1_000, 2_000]);
    if (directory !== folder) this.#at(from, () => this.#disk.mkdir(directory));
    // In the calm no one drops files: what events are lost of is found only by the next full scan.
    for (let n = 0; n < count && from + n * everyMs < stormMs; n += 1)
      this.#at(from + n * everyMs, () =>
        this.#put(`${directory}/clip_${(this.#files += 1)}.mp4`, this.#bytes(100 + n)),
      );
    this.#machine.reach('many files at once');
    if (directory === folder || this.#random.chance(0.3)) return;
    const deed = this.#random.pick(['rename', 'rename', 'rename', 'away', 'delete'] as const);
    this.#at(this.#random.between(from + 500, stormMs), () => this.#doToDirectory(directory, deed));
  }

  /** Files come one by one, faster than they are all dealt with. */
  #planTrickle(stormMs: number): void {
    const folder = this.#random.pick(this.#folders);
    const everyMs = this.#random.pick([500, 1_000, 2_000]);
    const count = 10 + this.#random.below(30);
    const from = this.#random.between(0, stormMs * 0.3);
    // In the calm no one drops files: what events are lost of is found only by the next full scan.
    for (let n = 0; n < count && from + n * everyMs < stormMs; n += 1)
      this.#at(from + n * everyMs, () => this.#put(`${folder}/clip_${(this.#files += 1)}.mp4`, this.#bytes(100 + n)));
    this.#machine.reach('a trickle of files');
  }

  #doToDirectory(directory: string, deed: 'rename' | 'away' | 'delete'): void {
    this.#machine.log('people', `${deed} directory ${directory}`);
    this.#machine.reach(`directory: ${deed}`);
    if (deed === 'delete') {
      for (const path of this.#disk.files(directory).keys()) this.#disk.unlink(path, 'people');
      return;
    }
    const other = deed === 'rename' ? `${directory}_${(this.#files += 1)}` : `/elsewhere_${(this.#files += 1)}`;
    this.#disk.rename(directory, other, 'people');
    if (deed === 'rename' ? this.#random.chance(0.5) : true)
      this.#at(this.#random.between(200, 30_000), () => this.#disk.rename(other, directory, 'people'));
  }

  #at(ms: number, action: () => void): void {
    const tried = (): void => {
      try {
        action();
      } catch (error) {
        if (!(error instanceof Error) || !('code' in error)) throw error;
        // Somebody was faster: the file is gone, the name is taken, or the whole folder is away.
        this.#machine.log('people could not', String(error));
      }
    };
    this.#machine.time.after(ms, tried, null);
  }

  #do(deed: Deed): void {
    if (deed === 'drop' || deed === 'write slowly') return this.#drop(deed);
    const file = this.#someFile();
    if (file === null) return;
    const [path, inode] = file;
    this.#machine.log('people', `${deed} ${path}`);
    switch (deed) {
      case 'append':
        return this.#disk.write(inode, this.#bytes(), inode.data.length);
      case 'overwrite':
        return this.#disk.write(inode, this.#bytes(inode.data.length), 0, true);
      case 'overwrite secretly':
        return this.#overwriteSecretly(inode);
      case 'truncate':
        return this.#disk.write(inode, inode.data.slice(0, inode.data.length >> 1), 0, true);
      case 'replace':
        return this.#replace(path);
      case 'rename':
        return this.#disk.rename(path, this.#newPath(path), 'people');
      case 'rename over':
        return this.#renameOver(path);
      case 'delete':
        return this.#disk.unlink(path, 'people');
      case 'recreate':
        return this.#recreate(path, inode);
      case 'copy':
        return this.#put(this.#newPath(path), inode.data);
      case 'touch':
        return this.#disk.restoreTime(inode, BigInt(this.#machine.time.wall) * 1_000_000n);
      case 'chmod':
        return this.#disk.chmod(inode);
      case 'hard link':
        return this.#disk.link(path, `${dirname(path)}/.kept-${(this.#files += 1)}`);
      case 'checksum':
        return this.#writeChecksum(path, inode);
      case 'sidecar':
        return this.#writeSidecar(path);
      case 'remove sidecar':
        return this.#disk.unlink(sidecarOf(path), 'people');
      case 'same name again':
        return this.#put(path, this.#bytes());
      case 'folder away':
        return this.#takeFolderAway(path);
      default:
        deed satisfies never;
    }
  }

  #drop(how: Deed | null = null): void {
    const folder = this.#random.pick(this.#folders);
    const path = `${folder}/${this.#directory(folder)}clip_${(this.#files += 1)}.mp4`;
    this.#machine.log('people', `drop ${path}`);
    if (this.#random.chance(0.15)) this.#writeSidecar(path);
    if (how === 'write slowly' || this.#random.chance(0.25)) return this.#writeSlowly(path);
    if (this.#random.chance(0.04)) return this.#put(path, new Uint8Array());
    this.#put(path, this.#bytes());
  }

  #directory(folder: string): string {
    if (!this.#random.chance(0.2)) return '';
    if (this.#disk.peek(`${folder}/show`) === null) this.#disk.mkdir(`${folder}/show`);
    return 'show/';
  }

  /** At once, as a rename does. While dropcast puts a file away, its name is free, and people do not see the directory that the file is in. */
  #put(name: string, bytes: Uint8Array): void {
    const path = name.replace(/\/\.dropcast-[^/]+/, '');
    const hidden = `${dirname(path)}/.dropping-${(this.#files += 1)}`;
    this.#disk.write(this.#disk.open(hidden, 0o101), bytes, 0, true);
    this.#disk.rename(hidden, path, 'people');
  }

  #writeSlowly(path: string): void {
    const inode = this.#disk.open(path, 0o101);
    const pid = (this.#pids += 1);
    if (this.#random.chance(0.5)) this.#disk.writers.set(pid, inode);
    const pieces = 1 + this.#random.below(5);
    let at = 0;
    for (let n = 0; n < pieces; n += 1) {
      at += this.#random.pick([30, 400, 900, 1_500, 4_000]);
      this.#at(at, () => this.#disk.write(inode, this.#bytes(), inode.data.length));
    }
    this.#at(at + 200, () => this.#disk.writers.delete(pid));
  }

  #overwriteSecretly(inode: Inode): void {
    const { mtime } = inode;
    this.#disk.write(inode, this.#bytes(inode.data.length), 0, true);
    this.#disk.restoreTime(inode, mtime);
    this.#machine.reach('overwritten with its time restored');
  }

  #replace(path: string): void {
    this.#put(path, this.#bytes());
  }

  #renameOver(path: string): void {
    const other = this.#someFile();
    if (other !== null && other[0] !== path && dirname(other[0]) === dirname(path))
      this.#disk.rename(path, other[0], 'people');
  }

  #recreate(path: string, inode: Inode): void {
    const { data } = inode;
    this.#disk.unlink(path, 'people');
    this.#put(path, data);
  }

  #writeSidecar(path: string): void {
    const title = `sidecar ${(this.#files += 1)}`;
    this.sidecars.push({ media: path, title, at: this.#machine.time.elapsed });
    this.#put(sidecarOf(path), Buffer.from(`title: "${title}"\n`));
  }

  /** Writes the checksum of the present content, which may still change. A wrong one is corrected or removed in the end. */
  #writeChecksum(path: string, inode: Inode): void {
    const checksum = `${path}.sha256`;
    const isWrong = this.#random.chance(0.3);
    const digest = sha256Of(isWrong ? this.#bytes() : inode.data);
    this.#put(checksum, Buffer.from(`${digest}  ${basename(path)}\n`));
    this.#machine.reach(isWrong ? 'wrong checksum' : 'checksum');
  }

  #takeFolderAway(path: string): void {
    const folder = this.#folders.find((one) => path.startsWith(`${one}/`));
    if (folder === undefined) return;
    this.#disk.rename(folder, `${folder}.away`, 'people');
    this.#machine.reach('folder away');
    this.#at(this.#random.between(200, 20_000), () => this.#disk.rename(`${folder}.away`, folder, 'people'));
  }

  #newPath(path: string): string {
    return `${dirname(path)}/clip_${(this.#files += 1)}.mp4`;
  }

  #someFile(): readonly [string, Inode] | null {
    const files = this.#folders
      .flatMap((folder) => [...this.#disk.files(folder)])
      .filter(([path]) => path.endsWith('.mp4') && !path.includes('/done/'));
    return files.length === 0 ? null : this.#random.pick(files);
  }

  /** No container that anybody knows, and never the same twice. */
  #bytes(
    size = this.#random.chance(0.3) ? 5_000 + this.#random.below(20_000) : 100 + this.#random.below(900),
  ): Uint8Array {
    const bytes = Buffer.alloc(Math.max(size, 12), `bytes ${this.#machine.seed} ${(this.#files += 1)} `);
    return bytes.subarray(0, size === 0 ? 0 : bytes.length);
  }
}

const deeds = [
  'drop',
  'write slowly',
  'append',
  'overwrite',
  'overwrite secretly',
  'truncate',
  'replace',
  'rename',
  'rename over',
  'delete',
  'recreate',
  'copy',
  'touch',
  'chmod',
  'hard link',
  'sidecar',
  'remove sidecar',
  'checksum',
  'same name again',
  'folder away',
] as const;

type Deed = (typeof deeds)[number];

function sidecarOf(path: string): string {
  return path.replace(/\.mp4$/, '.yaml');
}

/** A file or directory, whatever its names. */
export class Inode {
  readonly ino: number;
  readonly kind: 'file' | 'directory';
  readonly birth: bigint;
  readonly entries = new Map<string, Inode>();
  /** Absolute paths of all names. */
  readonly names = new Set<string>();
  dev: number;
  data: Uint8Array = new Uint8Array();
  mtime: bigint;
  ctime: bigint;
  links = 0;
  parent: Inode | null = null;
  #name = '';

  constructor({ ino, kind, dev, now }: Pick<Inode, 'ino' | 'kind' | 'dev'> & { readonly now: bigint }) {
    this.ino = ino;
    this.kind = kind;
    this.dev = dev;
    this.birth = this.mtime = this.ctime = now;
  }

  place(parent: Inode, name: string): void {
    this.parent = parent;
    this.#name = name;
    this.names.add(`${parent.path}/${name}`);
  }

  /** Of a directory where it is, of a file its first name; the empty text is the root. */
  get path(): string {
    if (this.kind === 'directory') return this.parent === null ? '' : `${this.parent.path}/${this.#name}`;
    const [first] = this.names;
    return first ?? `${this.#name} (deleted)`;
  }
}

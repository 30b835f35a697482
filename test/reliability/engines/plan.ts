import type { AfterReady, FolderConfig } from '../../../src/config/config.ts';
import { Random } from '../simulation/machine/random.ts';
import type { Fate, Part } from '../simulation/weather.ts';

/** What people and operators do. Files are named by their paths. */
export type Act =
  | { readonly kind: 'drop'; readonly path: string; readonly content: number; readonly title: string | null }
  | { readonly kind: 'replace'; readonly path: string; readonly content: number }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'retitle'; readonly path: string; readonly title: string }
  | { readonly kind: 'pause'; readonly folder: string | null }
  | { readonly kind: 'resume' }
  | { readonly kind: 'publish' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'ignore'; readonly path: string };

/**
 * What the service does with the n-th request of a kind about each video or feed since the scene began; 1 is the first. Counted for each of
 * them, because two engines may take them up in another order.
 */
export interface ScriptedFate {
  readonly part: Part;
  readonly nth: number;
  readonly fate: Fate;
}

/** `kill -9` when the service or the ledger has done something for the n-th time since the scene began. */
export interface ScriptedKill {
  readonly at: 'create' | 'put begins' | 'body taken' | 'publish' | 'row';
  readonly nth: number;
  readonly downMs: number;
}

/** Some acts and faults, after which everybody waits until nothing is left to do. */
export interface Scene {
  readonly acts: readonly Act[];
  readonly fates: readonly ScriptedFate[];
  readonly kill: ScriptedKill | null;
  /** While the bytes of a file are on their way, or when the daemon is killed before. */
  readonly meanwhile: Act | null;
}

/** Everything that one seed decides. Nothing in it is a moment of a clock: each engine has its own. */
export interface Plan {
  readonly seed: number;
  readonly folders: readonly string[];
  readonly scenes: readonly Scene[];
  /** What the network draws: see `lucks`. */
  readonly luck: number;
  readonly processingMs: number;
  /** The service takes a second body for a video that has one. */
  readonly takesSecondBody: boolean;
  readonly wrapsData: boolean;
  readonly isNewestFirst: boolean;
  readonly onDuplicate: FolderConfig['onDuplicate'];
  readonly onChange: FolderConfig['onChange'];
  /** Of each folder. */
  readonly afterReady: readonly AfterReady[];
}

/** Pure: the plan of a seed. */
export function planOf(seed: number): Plan {
  const random = new Random(seed, 'engines');
  const folders = random.chance(0.5) ? ['/inbox'] : ['/inbox', '/other'];
  const luck = random.pick(lucks);
  const author = new Author(random, folders, luck);
  const scenes = Array.from({ length: 3 + random.below(4) }, () => author.scene());
  return {
    seed,
    folders,
    luck,
    scenes: [...scenes, { acts: [{ kind: 'resume' }], fates: [], kill: null, meanwhile: null }],
    processingMs: random.pick([100, 3_000, 12_000]),
    takesSecondBody: random.chance(0.5),
    wrapsData: random.chance(0.5),
    isNewestFirst: random.chance(0.5),
    onDuplicate: random.pick(['skip', 'skip', 'upload'] as const),
    onChange: random.pick(['upload', 'upload', 'ignore'] as const),
    afterReady: folders.map(() => random.pick(afterReady)),
  };
}

/**
 * With the first, what was never answered was done, and `Retry-After` is 9 s. With the other, it was not, and `Retry-After` would be 13 s: then
 * dropcast takes it that others use the key, and for an hour the hosts of a fleet look for room at moments that they draw.
 */
const lucks = [0.4, 0.6] as const;

const afterReady: readonly AfterReady[] = [
  { kind: 'keep' },
  { kind: 'keep' },
  { kind: 'delete' },
  { kind: 'move', to: 'done' },
];

interface SomeFates {
  readonly parts: readonly Part[];
  /** Of the requests that both engines send: how often a status is asked for depends on the time. */
  readonly most: number;
  readonly fates: readonly Fate[];
}

const fates: readonly SomeFates[] = [
  {
    parts: ['create'],
    most: 3,
    fates: ['answer lost', 'request lost', 'silence', '500', '500 done', '503', '429', 'html'],
  },
  { parts: ['put'], most: 3, fates: ['refused', 'cut', '503', 'answer lost', 'request lost', 'silence'] },
  // What arrives much later meets what a killed daemon has done meanwhile, and that is a matter of time.
  { parts: ['create', 'put'], most: 2, fates: ['late'] },
  { parts: ['publish', 'delete', 'amend'], most: 1, fates: ['500', '500 done', '503', '429', 'answer lost', '404'] },
  { parts: ['list', 'get'], most: 1, fates: ['500', '503', '429 date', 'html', 'no name'] },
];

/** Those that set no file in motion. */
const quietOrders = ['pause', 'publish', 'ignore'] as const;
const allOrders = [...quietOrders, 'resume', 'retry'] as const;

const kills = ['create', 'put begins', 'body taken', 'publish', 'row', 'row'] as const;

/** Writes scenes one after the other, and knows which files there are. */
class Author {
  readonly #random: Random;
  readonly #folders: readonly string[];
  readonly #paths: string[] = [];
  readonly #luck: number;
  #isAlone = false;
  #changes: readonly ('replace' | 'rename' | 'delete' | 'retitle')[] = [];
  #names = 0;
  #contents = 0;

  constructor(random: Random, folders: readonly string[], luck: number) {
    this.#random = random;
    this.#folders = folders;
    this.#luck = luck;
  }

  scene(): Scene {
    const random = this.#random;
    const kill = random.chance(0.4)
      ? { at: random.pick(kills), nth: 1 + random.below(3), downMs: random.pick([100, 5_000, 40_000]) }
      : null;
    // Whether a scan or the upload comes first after a kill is a matter of time, and decides whether a new title is still sent.
    this.#changes =
      kill === null ? ['replace', 'replace', 'rename', 'delete', 'retitle'] : ['replace', 'rename', 'delete'];
    // Which of several files is where when somebody is killed is a matter of milliseconds, and which goes on first one of seconds.
    this.#isAlone = kill !== null;
    const file = this.#isAlone ? [random.chance(0.6) ? this.#drop() : this.#change()] : [];
    const acts = [...file, ...Array.from({ length: random.below(3) + (this.#isAlone ? 0 : 1) }, () => this.#act())];
    const meanwhile = !this.#isAlone && random.chance(0.25) ? this.#change() : null;
    const faults = Array.from({ length: random.below(4) }, () => this.#fate());
    return { acts, fates: faults.filter(({ fate }) => this.#isSame(fate)), kill, meanwhile };
  }

  /** Whether it does the same on both engines. */
  #isSame(fate: Fate): boolean {
    if (fate === 'late') return !this.#isAlone;
    return this.#luck === lucks[0] || !fate.startsWith('429');
  }

  #fate(): ScriptedFate {
    const { parts, most, fates: some } = this.#random.pick(fates);
    return { part: this.#random.pick(parts), nth: 1 + this.#random.below(most), fate: this.#random.pick(some) };
  }

  #act(): Act {
    const random = this.#random;
    if (!this.#isAlone) {
      if (this.#paths.length === 0 || random.chance(0.5)) return this.#drop();
      if (random.chance(0.5)) return this.#change();
    }
    const orders = this.#isAlone ? quietOrders : allOrders;
    switch (random.pick(orders)) {
      case 'pause':
        return { kind: 'pause', folder: random.chance(0.3) ? null : random.pick(this.#folders) };
      case 'resume':
        return { kind: 'resume' };
      case 'publish':
        return { kind: 'publish' };
      case 'retry':
        return { kind: 'retry' };
      default:
        return { kind: 'ignore', path: random.pick(this.#paths) };
    }
  }

  #drop(): Act {
    const path = this.#newPath();
    this.#paths.push(path);
    const title = this.#random.chance(0.2) ? `Titel ü ${(this.#names += 1)}` : null;
    return { kind: 'drop', path, content: this.#content(), title };
  }

  #change(): Act {
    if (this.#paths.length === 0) return this.#drop();
    const random = this.#random;
    const path = random.pick(this.#paths);
    switch (random.pick(this.#changes)) {
      case 'replace':
        return { kind: 'replace', path, content: this.#content() };
      case 'rename': {
        const to = this.#newPath(path);
        this.#paths.splice(this.#paths.indexOf(path), 1, to);
        return { kind: 'rename', path, to };
      }
      case 'delete':
        return { kind: 'delete', path };
      default:
        return { kind: 'retitle', path, title: `Another ü ${(this.#names += 1)}` };
    }
  }

  /** Some contents come twice: duplicates. */
  #content(): number {
    if (this.#contents > 0 && this.#random.chance(0.2)) return 1 + this.#random.below(this.#contents);
    return (this.#contents += 1);
  }

  #newPath(beside?: string): string {
    const folder = this.#folders.find((one) => beside?.startsWith(`${one}/`)) ?? this.#random.pick(this.#folders);
    const directory = this.#random.chance(0.2) ? 'show ü/' : '';
    return `${folder}/${directory}${this.#random.pick(['clip', 'Ärger', "it's", '100 %', '映像'])} ${(this.#names += 1)}.mp4`;
  }
}

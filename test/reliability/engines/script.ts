import type { JournalEntry } from '../simulation/judge.ts';
import type { Fates } from '../simulation/machine/exchange.ts';
import type { Machine, Process } from '../simulation/machine/machine.ts';
import { Service } from '../simulation/service.ts';
import type { Reply } from '../simulation/service.ts';
import type { Fate, Part } from '../simulation/weather.ts';
import type { Act, Scene, ScriptedKill } from './plan.ts';

const nothing: Scene = { acts: [], fates: [], kill: null, meanwhile: null };

/** The faults of a scene, each at what is counted and not at a time, so that both engines meet them at the same point. */
export class Script implements Fates {
  readonly #machine: Machine;
  readonly #act: (act: Act) => void;
  readonly #counts = new Map<string, number>();
  #scene = nothing;
  #kill: ScriptedKill | null = null;
  #meanwhile: Act | null = null;
  #process: Process | null = null;

  /** @param act does what is to be done meanwhile */
  constructor(machine: Machine, act: (act: Act) => void) {
    this.#machine = machine;
    this.#act = act;
  }

  begin(scene: Scene): void {
    this.#counts.clear();
    this.#scene = scene;
    this.#kill = scene.kill;
    this.#meanwhile = scene.meanwhile;
  }

  /** From now on this one is killed. */
  follow(process: Process): void {
    this.#process = process;
  }

  fateOf(part: Part, about: string): Fate {
    const nth = this.#count(`${part} of ${about}`);
    const found = this.#scene.fates.find((one) => one.part === part && one.nth === nth);
    if (found !== undefined) this.#machine.reach(`${found.fate} ${part}`);
    return found?.fate ?? 'ok';
  }

  /** Counts what the service or the ledger has done, which may be the last that the process lives to see. */
  happened(what: string): void {
    const nth = this.#count(what);
    const isLast = this.#kill?.at === what && this.#kill.nth === nth;
    if (what === 'put begins' || isLast) this.#actMeanwhile();
    if (!isLast) return;
    this.#machine.reach(`killed at ${what}`);
    this.#kill = null;
    this.#process?.kill();
  }

  #actMeanwhile(): void {
    const meanwhile = this.#meanwhile;
    this.#meanwhile = null;
    if (meanwhile !== null) this.#act(meanwhile);
  }

  #count(what: string): number {
    const nth = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, nth);
    return nth;
  }
}

/** The service, and who wants to know at once what it did. */
export class HeardService extends Service {
  onNote: (what: string) => void = () => undefined;
  /** Of each video its first title, in the order in which they were made. */
  readonly titles = new Map<string, string>();

  override create(fields: { readonly title?: string }, token: string): Reply {
    this.titles.set(`vid_${this.titles.size + 1}`, fields.title ?? '');
    return super.create(fields, token);
  }

  override note(entry: Omit<JournalEntry, 'at'>): void {
    super.note(entry);
    if (entry.what !== 'request') this.onNote(entry.what);
  }
}

/** The state of each slot of a table, in one byte, and how many slots are in each state. */
export class SlotStates {
  /** Every state that ever came; the ledger has eleven. 0: none. */
  readonly #names: (string | null)[] = [null];
  readonly #counts = [0];
  #states = new Uint8Array(0);

  grow(slots: number): void {
    const before = this.#states;
    this.#states = new Uint8Array(slots);
    this.#states.set(before);
  }

  /** A slot is in use from now on, without a state. */
  open(slot: number): void {
    this.#states[slot] = 0;
    this.#add(0, 1);
  }

  close(slot: number): void {
    this.#add(this.#states[slot] ?? 0, -1);
  }

  get(slot: number): string | null {
    return this.#names[this.#states[slot] ?? 0] ?? null;
  }

  set(slot: number, name: string | null): void {
    const state = this.#names.indexOf(name);
    if (state === -1) this.#names.push(name);
    this.#add(this.#states[slot] ?? 0, -1);
    this.#states[slot] = state === -1 ? this.#names.length - 1 : state;
    this.#add(this.#states[slot] ?? 0, 1);
  }

  /** State → number of slots; `null` for those without one. */
  counts(): Map<string | null, number> {
    return new Map(this.#names.map((name, state) => [name, this.#counts[state] ?? 0]));
  }

  #add(state: number, by: number): void {
    this.#counts[state] = (this.#counts[state] ?? 0) + by;
  }
}

import type { Clock } from '../../src/pipeline/file/ports.ts';

/** Both clocks, moved by hand; the wall clock may also be set. */
export class TestClock implements Clock {
  #wall: number;
  #elapsed = 0;

  constructor(wall = 1_000_000) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  advance(ms: number): void {
    this.#wall += ms;
    this.#elapsed += ms;
  }

  set(wall: number): void {
    this.#wall = wall;
  }
}

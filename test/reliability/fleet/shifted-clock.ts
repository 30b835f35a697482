/** Loaded into one process before its program (`--import`): its wall clock is wrong by `SHIFTED_CLOCK_MS`; the monotonic one is not. */
const shiftMs = Number(process.env['SHIFTED_CLOCK_MS'] ?? 0);
const { now } = Date;

class ShiftedDate extends Date {
  constructor(...given: readonly unknown[]) {
    super(...((given.length === 0 ? [ShiftedDate.now()] : given) as [number]));
  }

  static override now(): number {
    return now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;

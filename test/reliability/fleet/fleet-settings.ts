/** A server for lives alone: what it loses in a power cut nobody asks for. */
export const inMemory = {
  fsync: false,
  synchronous_commit: false,
  full_page_writes: false,
  autovacuum: false,
  max_connections: 300,
} as const;

/** States that a run of many schedules must reach at least once. */
export const leaseStates: readonly string[] = [
  'kill',
  'freeze',
  'cut off',
  'stopped',
  'crash',
  'bad line',
  'commit unknown',
  'taken over',
];

export const engineStates: readonly string[] = [
  'killed at create',
  'killed at put begins',
  'killed at body taken',
  'killed at publish',
  'killed at row',
  'late POST',
  '429',
];

export const fleetStates: readonly string[] = [...leaseStates, 'skipped as a duplicate'];

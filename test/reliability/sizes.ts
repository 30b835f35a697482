/** How much of the proof one run is: what `npm test` takes, or all of it. */
export const sizes = {
  quick: { chains: 24, errors: 16, stations: 2, killsPerStation: 12, seed: 'quick' },
} as const;

/** How much of the proof one run is: what `npm test` takes, or all of it. */
export const sizes = {
  quick: { chains: 18, errors: 9, stations: 2, killsPerStation: 10, seed: 'quick' },
} as const;

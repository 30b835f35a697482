/** How much of the proof one run is: what `npm test` takes, or all of it. */
export const sizes = {
  quick: { chains: 12, errors: 6, powerCuts: 3, stations: 2, killsPerStation: 8, seed: 'quick' },
} as const;

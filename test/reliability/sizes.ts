/** How much of the proof one run is: what `npm test` takes, or all of it. */
export const sizes = {
  quick: { chains: 9, errors: 6, powerCuts: 3, stations: 2, killsPerStation: 6, seed: 'quick' },
} as const;

/** How much of the proof one run is: the quick part, or all of it. */
export const sizes = {
  quick: { chains: 3, errors: 3, powerCuts: 3, stations: 1, killsPerStation: 4, seed: 'quick' },
} as const;

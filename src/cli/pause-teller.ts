import { escapeControls } from '../log/unsafe-characters.ts';

/** Tells once when everything begins to wait, and again when the reason is another one or it waits anew. */
export function pauseTeller(line: (text: string) => void): (pause: { readonly why: string } | null) => void {
  let told: string | null = null;
  return (pause) => {
    const why = pause?.why ?? null;
    if (why !== null && why !== told) line(`Everything waits: ${escapeControls(why)}`);
    told = why;
  };
}

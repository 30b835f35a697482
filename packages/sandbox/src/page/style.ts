/** Styles for what only this page shows: players, feed previews, switches, and secrets that are shown once. */
export const OWN_STYLE = `
.player { display: block; width: 100%; aspect-ratio: 16 / 9; border: 0; border-radius: 8px; background: #0b0d10; }
.still { display: block; width: 100%; height: auto; aspect-ratio: 16 / 9; object-fit: cover; border-radius: 8px; background: var(--sunken); }
.once { border: 1px solid var(--ready); background: var(--ready-soft); border-radius: 10px; padding: 14px 16px; display: flex; flex-direction: column; gap: 6px; }
.once code { font-size: 14px; user-select: all; }
.source { max-height: 420px; overflow: auto; background: var(--sunken); padding: 12px; border-radius: 6px; white-space: pre; tab-size: 2; }
.reader { list-style: none; }
.reader li { display: flex; gap: 12px; padding: 9px 16px; border-bottom: 1px solid var(--line); align-items: center; }
.reader li:last-child { border-bottom: 0; }
.reader div { min-width: 0; }
.switches { list-style: none; overflow: hidden; border-radius: 0 0 10px 10px; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); }
.switches li { display: flex; gap: 10px; align-items: center; justify-content: space-between; padding: 9px 16px; box-shadow: 1px 0 0 var(--line), 0 1px 0 var(--line); }
.switches .text { min-width: 0; display: flex; flex-direction: column; }
.switches .text > span { color: var(--muted); font-size: 12.5px; }
.switches .side { display: flex; align-items: center; gap: 8px; flex: none; }
.headers { display: flex; flex-direction: column; gap: 4px; }
.headers > div { display: flex; flex-wrap: wrap; gap: 0 8px; }
.headers dt { color: var(--muted); font-size: 12.5px; }
.headers dd { overflow-wrap: anywhere; min-width: 0; font-size: 12.5px; }
.document { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace !important; width: 100%; resize: vertical; }
.codes { white-space: nowrap; }
.codes.bad { color: var(--failed); font-weight: 600; }
`;

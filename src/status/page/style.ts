/** What only the daemon's page shows. */
export const OWN_STYLE = `
.warn:not(.said) { background: var(--on-soft); color: var(--on); border-radius: 10px; padding: 9px 16px; overflow-wrap: anywhere; }
.why { color: var(--muted); overflow-wrap: anywhere; }
.counts { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; }
.refused, .more { border-top: 1px solid var(--line); }
.refused > summary, .more > summary { padding: 11px 16px; }
.wide { flex: 1 1 320px; }
.verdicts { padding-left: 0; list-style: none; display: flex; flex-direction: column; gap: 4px; }
.verdicts li { display: flex; flex-wrap: wrap; gap: 2px 12px; padding: 4px 10px; border-left: 3px solid var(--line); overflow-wrap: anywhere; }
.verdicts .matched { border-color: var(--ready); background: var(--ready-soft); }
.said { overflow-wrap: anywhere; }
.said.warn { color: var(--on); }
.said.error { color: var(--failed); }
.odd { display: block; color: var(--muted); font-size: 12.5px; margin-top: 3px; }
.who { display: flex; align-items: center; gap: 10px; }
.who button { min-height: 26px; padding: 1px 9px; font-size: 13px; }
`;

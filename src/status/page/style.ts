/** What only the daemon's page shows. */
export const OWN_STYLE = `
.warn { background: var(--on-soft); color: var(--on); border-radius: 10px; padding: 9px 16px; overflow-wrap: anywhere; }
.why { color: var(--muted); overflow-wrap: anywhere; }
.counts { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; }
.refused { border-top: 1px solid var(--line); }
.refused > summary { padding: 11px 16px; }
.who { display: flex; align-items: center; gap: 10px; }
.who button { min-height: 26px; padding: 1px 9px; font-size: 13px; }
`;

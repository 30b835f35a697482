/** What the views of files show. */
export const FILES_STYLE = `
.saved ul { list-style: none; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: 4px 18px; }
.saved a { display: inline-block; min-height: 24px; }
.saved .chosen a::before { content: '× '; }
.saved .chosen { margin-top: 8px; }
.saved a[aria-current], .facets a[aria-current] { font-weight: 650; }
.facets .columns { display: grid; grid-template-columns: repeat(auto-fill, minmax(210px, 1fr)); gap: 12px 24px; padding-top: 8px; }
.facets h2 { font-size: 13px; color: var(--muted); }
.facets ul { list-style: none; padding: 0; margin: 4px 0; }
.facets li { overflow-wrap: anywhere; }
.facets a { display: inline-block; min-height: 24px; }
.facets a[aria-current]::before { content: '× '; }
.notice-bar { background: var(--ready-soft); border-radius: 10px; padding: 9px 16px; overflow-wrap: anywhere; }
.newer { text-align: center; padding: 6px; border-bottom: 1px solid var(--line); }
.many input[type='checkbox'] { width: 24px; height: 24px; }
.many fieldset { padding: 11px 16px; position: sticky; top: 0; z-index: 1; background: var(--surface); border-bottom: 1px solid var(--line); }
@media (scripting: none) { .many .scripted { display: none; } }
.many label { flex-direction: row; align-items: center; gap: 6px; }
.summary { display: flex; gap: 16px; align-items: flex-start; padding: 14px 16px; }
.summary .reason { overflow-wrap: anywhere; margin-bottom: 8px; }
.kind { flex: none; fill: none; stroke: currentColor; stroke-width: 1.6; color: var(--muted); }
.spans { list-style: none; padding: 8px 16px 14px; margin: 0; display: grid; gap: 6px; }
.spans li { display: grid; grid-template-columns: 12rem minmax(60px, 1fr) 8rem 8rem; gap: 12px; align-items: center; }
.spans svg { width: 100%; height: 14px; background: var(--line); border-radius: 4px; }
.spans rect { fill: var(--ready); }
.spans .now rect { fill: var(--on); }
.fold > summary { padding: 11px 16px; }
.fold pre { overflow: auto; max-height: 60vh; padding: 0 16px 14px; }
.fold .note { display: block; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  #files thead { position: absolute; clip-path: inset(50%); }
  #files tr { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; align-items: center; border-bottom: 1px solid var(--line); }
  #files tr > * { border: 0; }
  #files th.main { min-width: 0; max-width: none; grid-column: 1 / span 2; }
  #files td.picture { width: auto; padding-right: 8px; }
  #files td.picture + th.main { grid-column: 2; }
  #files td:has(> .reason) { grid-column: 1 / -1; padding-top: 0; }
  #files td:has(> .reason:empty), #files td.number { display: none; }
}
@media (max-width: 700px) {
  .spans li { grid-template-columns: 1fr auto; }
  .spans svg { grid-column: 1 / -1; grid-row: 2; }
  .spans .muted { display: none; }
}
`;

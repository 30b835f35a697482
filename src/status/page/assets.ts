import { assetsAt } from '@dropcast/pages';

const FILES_STYLE = `
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
@media (scripting: none) { .scripted { display: none; } }
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
  /* The bar would cover half of a phone. */
  .many fieldset { position: static; gap: 8px; }
  .many label { flex: 1 1 100%; min-height: 32px; }
  .many button { min-height: 40px; }
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

/** Styles used only on the daemon's page. */
const OWN_STYLE = `
.warn:not(.said) { background: var(--on-soft); color: var(--on); border-radius: 10px; padding: 9px 16px; overflow-wrap: anywhere; }
.why { color: var(--muted); overflow-wrap: anywhere; }
.counts { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; }
.refused, .more { border-top: 1px solid var(--line); }
.refused > summary, .more > summary { padding: 11px 16px; }
.wide { flex: 1 1 320px; }
.verdicts { padding-left: 0; list-style: none; display: flex; flex-direction: column; gap: 4px; }
.verdicts li { display: flex; flex-wrap: wrap; gap: 2px 12px; padding: 4px 10px; border-left: 3px solid var(--line); overflow-wrap: anywhere; }
.verdicts .matched { border-color: var(--ready); background: var(--ready-soft); }
.event { display: flex; gap: 0 18px; max-width: none; }
#events th.main { max-width: none; }
.event > .title { flex: 0 0 36%; }
.event > .said { flex: 1 1 auto; }
@media (max-width: 860px) { .event { flex-direction: column; } }
.said { overflow-wrap: anywhere; }
.said.warn { color: var(--on); }
.said.error { color: var(--failed); }
.until label { flex-direction: row; align-items: center; gap: 6px; }
.yaml { width: 100%; font: 12.5px/1.5 ui-monospace, Menlo, Consolas, monospace; tab-size: 2; }
.odd { display: block; color: var(--muted); font-size: 12.5px; margin-top: 3px; }
#health { min-width: 0; }
#health .badge { min-height: 24px; border-radius: 12px; white-space: normal; overflow-wrap: anywhere; }
.who { flex: none; display: flex; align-items: center; gap: 10px; }
.who button { min-height: 26px; padding: 1px 9px; font-size: 13px; }

.sentence { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; font-size: 18px; }
.stages ol { list-style: none; display: grid; grid-template-columns: repeat(auto-fit, minmax(126px, 1fr)); gap: 8px; padding: 0; }
.stages li { display: flex; }
.stage { flex: 1; display: flex; flex-direction: column; gap: 2px; padding: 10px 14px; border: 1px solid var(--line); border-radius: 10px; background: var(--surface); color: inherit; text-decoration: none; min-width: 0; }
.stage:hover { border-color: currentColor; }
.stage strong { font-size: 24px; line-height: 1.15; font-variant-numeric: tabular-nums; }
.stage .muted { font-size: 13px; min-height: 1.2em; }
.slow { border: 2px solid var(--on); }
.causes, .examples, .notes { list-style: none; padding: 0; overflow-wrap: anywhere; }
.causes > li { padding: 11px 16px; border-top: 1px solid var(--line); }
.causes > li:first-child { border-top: 0; }
.causes h3 { font-size: 15px; display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; }
.causes h3 .muted { font-weight: 400; }
.examples { font-size: 14px; }
.deeds { display: flex; flex-wrap: wrap; gap: 4px 18px; }
.deeds form { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; }
.deeds label { flex-direction: row; align-items: center; gap: 6px; }
.deeds > a { display: inline-flex; align-items: center; min-height: 24px; }
.when { overflow-wrap: anywhere; }
.notes { color: var(--muted); }
.kind { display: inline-block; width: 1.4em; color: var(--muted); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); gap: inherit; align-items: start; }
.gauge { display: block; width: 100%; height: 14px; border-radius: 7px; overflow: hidden; }
.gauge .rest { fill: var(--line); }
.gauge .others { fill: var(--wait); }
.gauge .own { fill: var(--accent); }
@media (max-width: 640px) {
  .stages ol { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 6px; }
  .stage { padding: 7px 9px; }
  .stage strong { font-size: 20px; }
  .stage .muted { font-size: 12px; min-height: 0; }
  .stage .muted:empty { display: none; }
}
`;

export const assets = assetsAt('/assets', OWN_STYLE + FILES_STYLE);

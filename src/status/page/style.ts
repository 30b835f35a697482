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
.event { display: flex; gap: 0 18px; max-width: none; }
#events th.main { max-width: none; }
.event > .title { flex: 0 0 36%; }
.event > .said { flex: 1 1 auto; }
@media (max-width: 860px) { .event { flex-direction: column; } }
.said { overflow-wrap: anywhere; }
.said.warn { color: var(--on); }
.said.error { color: var(--failed); }
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

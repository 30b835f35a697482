/** The colours of the dark scheme. */
const DARK = `
    --ground: #0d1015; --surface: #151a21; --sunken: #1c222b; --line: #2a323d; --ink: #e7ebf1; --muted: #9ba7b7;
    --accent: #7ea6ff; --accent-ink: #0b1220; --accent-soft: #1a2744; --danger: #ff9c92; --focus: #9dbcff;
    --ready: #74dba0; --ready-soft: #113021; --busy: #94b5ff; --busy-soft: #172748; --wait: #aab4c2; --wait-soft: #242b35;
    --failed: #ffa198; --failed-soft: #3c1a18; --on: #f5c06b; --on-soft: #38290f; --shadow: none;
`;

/**
 * The style of all pages. It uses system fonts and loads nothing external; both colour schemes have a contrast of at
 * least 4.5 to 1.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f5f6f8; --surface: #fff; --sunken: #eef0f4; --line: #dde1e8; --ink: #191d26; --muted: #586273;
  --accent: #2457d6; --accent-ink: #fff; --accent-soft: #e8eefc; --danger: #b3261e; --focus: #2457d6;
  --ready: #0d6a3b; --ready-soft: #e2f4e9; --busy: #1f4fc4; --busy-soft: #e6edfd; --wait: #4c5667; --wait-soft: #eceff3;
  --failed: #a8231b; --failed-soft: #fdeae8; --on: #8a4b00; --on-soft: #fdf0d9; --shadow: 0 1px 2px rgb(16 24 40 / .05);
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme]) { ${DARK} }
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; ${DARK} }
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink); font: 400 14px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
  display: grid; grid-template: auto 1fr / 200px minmax(0, 1fr); min-height: 100vh;
}
h1, h2, h3, p, figure, dl, dd, ul, ol, pre { margin: 0; padding: 0; }
h1 { font-size: 20px; line-height: 1.3; font-weight: 650; letter-spacing: -.01em; overflow-wrap: anywhere; }
h1 bdi { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
h2 { font-size: 14px; font-weight: 650; }
a { color: var(--accent); text-decoration: none; }
a:hover, main p a, main a[rel~="external"] { text-decoration: underline; }
code, pre, time { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
time { font-variant-numeric: tabular-nums; white-space: nowrap; }
p, code { overflow-wrap: anywhere; }
bdi { unicode-bidi: isolate; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: 8px; top: -60px; z-index: 9; background: var(--accent); color: var(--accent-ink); padding: 8px 14px; border-radius: 6px; }
.skip:focus { top: 8px; }
.muted { color: var(--muted); }

.top {
  grid-column: 1 / -1; display: flex; align-items: center; gap: 6px 16px; flex-wrap: wrap; padding: 8px 20px;
  background: var(--surface); border-bottom: 1px solid var(--line);
}
.brand { display: flex; align-items: center; gap: 10px; color: var(--ink); font-weight: 650; font-size: 15px; white-space: nowrap; }
.brand:hover { text-decoration: none; }
.top .state { margin-left: auto; min-width: 0; display: flex; align-items: center; gap: 10px; color: var(--muted); }
#connection:not(:empty) { background: var(--failed-soft); color: var(--failed); border-radius: 6px; padding: 2px 10px; font-weight: 600; }

.sections { padding: 14px 10px; border-right: 1px solid var(--line); display: flex; flex-direction: column; gap: 18px; }
.sections ul { list-style: none; display: flex; flex-direction: column; gap: 2px; position: sticky; top: 14px; }
.sections a { display: block; padding: 5px 12px; border-radius: 6px; color: var(--ink); }
.sections a:hover { background: var(--sunken); text-decoration: none; }
.sections button { border: 0; background: none; padding: 3px 12px; font-size: 12px; font-weight: 400; color: var(--muted); }
.sections a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
.base { margin-top: auto; padding: 0 2px 0 12px; display: flex; flex-direction: column; font-size: 12px; color: var(--muted); position: sticky; bottom: 14px; }
.base code { font-size: 11px; letter-spacing: -.02em; }

main { padding: 20px 24px 48px; max-width: 1280px; min-width: 0; display: flex; flex-direction: column; gap: 18px; }
.heading { display: flex; align-items: center; justify-content: space-between; gap: 8px 16px; min-height: 32px; }
.heading h1 { min-width: 0; }
.heading > :not(h1) { flex: none; max-width: 60%; }
.alone { grid-column: 1 / -1; grid-row: 1 / -1; margin: auto; max-width: 56ch; gap: 12px; text-align: center; align-items: center; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow); min-width: 0; }
.card > .head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 4px 12px; padding: 11px 16px; border-bottom: 1px solid var(--line); }
.card > .head:last-child { border-bottom: 0; }
.card > .body { padding: 14px 16px; display: flex; flex-direction: column; gap: 12px; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr)); gap: 18px; align-items: start; }
.split { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 3fr); gap: 18px; align-items: start; }
.stack { display: flex; flex-direction: column; gap: 18px; min-width: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 12px; list-style: none; }
.tiles li { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 11px 16px; box-shadow: var(--shadow); display: flex; flex-direction: column; gap: 2px; }
.tiles strong { font-size: 22px; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums; letter-spacing: -.01em; }
.tiles .name { color: var(--muted); font-size: 13px; }
.tiles a { color: inherit; display: flex; flex-direction: column; align-items: flex-start; gap: 4px; }

.badge { display: inline-flex; align-items: center; gap: 5px; padding: 0 8px; border-radius: 99px; font-size: 12px; line-height: 20px; font-weight: 600; white-space: nowrap; color: var(--wait); background: var(--wait-soft); }
.badge svg { width: 10px; height: 10px; fill: currentColor; flex: none; }
.badge .line { fill: none; stroke: currentColor; stroke-width: 1.9; stroke-linecap: round; stroke-linejoin: round; }
.badge.good { color: var(--ready); background: var(--ready-soft); }
.badge.busy { color: var(--busy); background: var(--busy-soft); }
.badge.bad { color: var(--failed); background: var(--failed-soft); }
.badge.notice { color: var(--on); background: var(--on-soft); }

.scroll { position: relative; overflow-x: auto; border-radius: inherit; }
.scroll:focus-visible { outline-offset: -2px; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 7px 12px; text-align: left; vertical-align: middle; border-bottom: 1px solid var(--line); font-weight: 400; }
tbody tr:last-child > * { border-bottom: 0; }
tbody tr:hover { background: color-mix(in srgb, var(--sunken) 55%, transparent); }
th:first-child, td:first-child { padding-left: 16px; }
th:last-child, td:last-child { padding-right: 16px; }
thead th { color: var(--muted); font-size: 12px; font-weight: 600; white-space: nowrap; padding-block: 6px; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.main { min-width: 150px; max-width: 460px; overflow-wrap: anywhere; }
td form { display: inline-block; }
.title { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; font-weight: 550; }
.under { display: block; color: var(--muted); font-size: 12.5px; overflow: hidden; text-overflow: ellipsis; }
@media (prefers-reduced-motion: no-preference) { tr.fresh > * { animation: fresh 1.6s ease-out; } }
@keyframes fresh { from { background: var(--accent-soft); } }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 150px), 1fr)); gap: 10px 18px; }
.facts > div { min-width: 0; }
.facts dt { color: var(--muted); font-size: 12px; }
.facts dd { overflow-wrap: anywhere; }
.prose { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 14em; overflow: auto; }
.chips { display: flex; flex-wrap: wrap; gap: 4px; }
.chips span { background: var(--sunken); border-radius: 5px; padding: 0 7px; font-size: 12.5px; max-width: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }

.timeline { list-style: none; display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px 0; }
.timeline li { display: flex; flex-direction: column; position: relative; padding: 18px 12px 0 0; }
.timeline li::before { content: ""; position: absolute; top: 5px; left: 0; right: 0; border-top: 2px solid var(--line); }
.timeline li:last-child::before { right: auto; width: 12px; }
.timeline li::after { content: ""; position: absolute; top: 0; left: 0; width: 12px; height: 12px; border-radius: 50%; background: var(--ready); border: 2px solid var(--surface); }
.timeline .later::after { background: var(--surface); border-color: var(--muted); }
.timeline .now::after { background: linear-gradient(90deg, var(--busy) 50%, var(--surface) 50%); border: 2px solid var(--busy); }
.timeline .failed::after { background: var(--failed); border-radius: 2px; transform: rotate(45deg); }
.timeline span { color: var(--muted); font-size: 12.5px; }

.chart { display: flex; flex-direction: column; gap: 4px; }
.plot { display: grid; grid-template: minmax(0, 1fr) / auto minmax(0, 1fr); gap: 8px; height: 150px; }
.plot svg { width: 100%; height: 100%; overflow: visible; }
.plot rect { fill: var(--accent); }
.plot rect.failed { fill: var(--failed); }
.plot rect:hover { fill: var(--ink); }
.plot .grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.scale { display: flex; flex-direction: column; justify-content: space-between; text-align: right; margin-block: -8px; }
.scale, .axis { color: var(--muted); font-size: 12px; font-variant-numeric: tabular-nums; }
.axis { display: flex; justify-content: space-between; padding-left: 30px; }
.small .plot { height: 84px; }

button, .button, input, select, textarea { font: inherit; color: inherit; border: 1px solid var(--line); border-radius: 6px; background: var(--surface); padding: 4px 10px; min-height: 32px; }
input, select, textarea { border-color: color-mix(in srgb, var(--muted) 60%, var(--line)); max-width: 100%; }
input[type="checkbox"] { min-height: 0; width: 16px; height: 16px; margin: 0; accent-color: var(--accent); }
button, .button, summary { cursor: pointer; }
button, .button { font-weight: 550; white-space: nowrap; }
button:hover, .button:hover { background: var(--sunken); text-decoration: none; }
button.main { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
button.main:hover { filter: brightness(1.1); }
button.danger { color: var(--danger); }
button.danger:hover { background: var(--failed-soft); }
td button { min-height: 26px; padding: 1px 9px; font-size: 13px; }
.row { display: flex; flex-wrap: wrap; align-items: end; gap: 10px 12px; }
.row.middle { align-items: center; }
label { display: flex; flex-direction: column; gap: 3px; font-size: 12.5px; color: var(--muted); min-width: 0; }
label > :is(input, select, textarea) { color: var(--ink); font-size: 14px; }
label.check { flex-direction: row; align-items: center; gap: 7px; min-height: 32px; font-size: 14px; color: var(--ink); }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
fieldset > .row { margin-top: 4px; }
legend { padding: 0; font-weight: 600; }
summary { width: fit-content; min-height: 24px; color: var(--accent); }
.confirm { display: inline-block; }
.confirm > summary { list-style: none; border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px; min-height: 32px; color: var(--danger); font-weight: 550; background: var(--surface); white-space: nowrap; }
.confirm > summary::-webkit-details-marker { display: none; }
.confirm > summary:hover { background: var(--failed-soft); }
.confirm > form { margin-top: 8px; display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
:is(.heading, .head) .confirm { position: relative; }
:is(.heading, .head) .confirm > form {
  position: absolute; right: 0; z-index: 5; width: max-content; max-width: min(300px, 80vw); justify-content: flex-end;
  padding: 12px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 6px 20px rgb(0 0 0 / .18);
}
td .confirm > summary { min-height: 26px; padding: 1px 9px; font-size: 13px; }
td.picture { width: 1%; padding-right: 0; }
.thumb { display: block; width: 80px; height: 45px; object-fit: cover; border-radius: 5px; background: var(--sunken); border: 1px solid var(--line); }
.thumb.none { display: grid; place-items: center; color: var(--muted); }
.thumb.none svg { width: 18px; height: 18px; fill: none; stroke: currentColor; stroke-width: 1.5; }
.findings { list-style: none; display: flex; flex-direction: column; gap: 6px; }
.findings li { overflow-wrap: anywhere; }
progress { width: 100%; height: 8px; accent-color: var(--accent); }

.empty { padding: 22px 16px; display: flex; flex-direction: column; gap: 10px; color: var(--muted); }
.command { background: var(--sunken); border-radius: 6px; padding: 9px 12px; overflow-x: auto; color: var(--ink); white-space: pre; }
.pages { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; justify-content: center; padding: 10px; }
.pages span:not(.here) { color: var(--muted); opacity: .75; }
.tabs { display: inline-flex; border: 1px solid var(--line); border-radius: 7px; overflow: hidden; background: var(--surface); }
.tabs a { padding: 4px 12px; color: var(--ink); border-left: 1px solid var(--line); }
.tabs a:first-child { border-left: 0; }
.tabs a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }

@media (max-width: 1080px) { .split { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 860px) {
  body { grid-template: auto auto 1fr / minmax(0, 1fr); }
  .top { padding: 8px 14px; }
  .sections { border-right: 0; border-bottom: 1px solid var(--line); padding: 6px 8px; background: var(--surface); gap: 0; }
  .sections ul { flex-direction: row; flex-wrap: wrap; position: static; }
  .sections :is(a, button) { padding: 3px 9px; }
  .base { display: none; }
  main { padding: 14px 14px 40px; }
}
@media (max-width: 640px) {
  .heading { flex-wrap: wrap; }
  .heading > :not(h1) { max-width: 100%; }
  :is(.heading, .head) .confirm > form { position: static; width: auto; max-width: 100%; justify-content: flex-start; }
  .minor { display: none; }
  .clock { display: none; }
  th, td { padding-inline: 8px; }
  .thumb { width: 64px; height: 36px; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  th.main { min-width: 120px; }
}
@media (forced-colors: active) { .badge, .card, .timeline li::after { border: 1px solid; } .plot rect { fill: CanvasText; } }
`;

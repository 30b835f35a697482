/** Fills whatever frame the page stands in. Nothing is loaded from elsewhere. */
export const PAGE_STYLE = `
:root { --accent: #4f8cff; color-scheme: dark; }
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; background: #0b0d10; color: #f4f6f8; }
body { font: 400 15px/1.4 system-ui, sans-serif; display: flex; }
.player { position: relative; flex: 1; min-width: 0; display: flex; flex-direction: column; overflow: hidden; }
video { flex: 1; width: 100%; min-height: 0; object-fit: contain; background: #000; accent-color: var(--accent); }
audio { width: 100%; flex: none; accent-color: var(--accent); }
img { flex: 1; width: 100%; min-height: 0; object-fit: contain; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: -3px; }
.player h1 {
  position: absolute; inset: 0 0 auto; z-index: 1; margin: 0; padding: 12px 16px 28px; pointer-events: none;
  font-size: 15px; font-weight: 600; background: linear-gradient(rgb(0 0 0 / .82), rgb(0 0 0 / .6) 60%, transparent);
  transition: opacity .2s;
}
.player h1 span {
  display: block; padding-inline-start: 10px; border-inline-start: 3px solid var(--accent);
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate;
}
[data-state="playing"] .player:not(:hover):not(:focus-within) h1 { opacity: 0; }
.note { position: absolute; inset: auto 0 0; z-index: 2; margin: 0; padding: 10px 16px; background: #20242b; text-align: center; }
.note[hidden] { display: none; }
a { color: #9cc0ff; }
.notice { margin: auto; padding: 24px; max-width: 40ch; text-align: center; }
.notice h1 { margin: 0 0 8px; font-size: 20px; font-weight: 600; }
.notice p { margin: 0; color: #b6bec9; }
@media (prefers-reduced-motion: reduce) { .player h1 { transition: none; } }
`;

/** The header above the API reference, in the style of the guides. */
export const pageStyle = `
:root { color-scheme: light dark; --scalar-custom-header-height: 56px; }
body { margin: 0; }
.top {
  position: sticky; top: 0; z-index: 100; box-sizing: border-box; height: 56px; padding: 0 20px;
  display: flex; align-items: center; gap: 20px;
  background: light-dark(#ffffff, #141a22); border-bottom: 1px solid light-dark(#e2e8ef, #303a48);
  font: 15px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
}
.top a { color: light-dark(#1f5fa3, #7ab0e6); text-decoration: none; white-space: nowrap; }
.top a:hover { text-decoration: underline; text-underline-offset: 3px; }
.top .brand { display: flex; align-items: center; gap: 10px; font-weight: 650; color: light-dark(#18202c, #d3dae3); }
.top .brand span { font-weight: 400; color: light-dark(#566377, #9fabbb); }
.top nav { margin-left: auto; display: flex; gap: 20px; }
@media (max-width: 480px) { .top { padding: 0 14px; gap: 12px; } .top nav { gap: 14px; } .top .brand span { display: none; } }
`.trim()

/** The colours of the web app, for the variables of the library. */
export const referenceStyle = `
:root {
  --scalar-font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  --scalar-font-code: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
.markdown th, .markdown td { word-break: normal; overflow-wrap: break-word; }
.light-mode {
  --scalar-color-1: #18202c; --scalar-color-2: #566377; --scalar-color-3: #5c697c; --scalar-color-accent: #1f5fa3;
  --scalar-background-1: #ffffff; --scalar-background-2: #f7f9fb; --scalar-background-3: #eff3f7;
  --scalar-background-accent: #e4eef9; --scalar-border-color: #e2e8ef;
  --scalar-color-blue: #0a62a0; --scalar-color-orange: #a84300; --scalar-color-green: #14663b; --scalar-color-red: #b3241f;
  --scalar-color-purple: #6b3fa0; --scalar-color-yellow: #7a5a00;
}
.dark-mode {
  --scalar-color-1: #e4e9f0; --scalar-color-2: #b4bfcc; --scalar-color-3: #9fabbb; --scalar-color-accent: #7ab0e6;
  --scalar-background-1: #141a22; --scalar-background-2: #1a212b; --scalar-background-3: #222a36;
  --scalar-background-accent: #1b2f45; --scalar-border-color: #303a48; --scalar-color-red: #ff8f87;
}
.light-mode .sidebar, .dark-mode .sidebar {
  --scalar-sidebar-background-1: var(--scalar-background-1); --scalar-sidebar-border-color: var(--scalar-border-color);
  --scalar-sidebar-item-active-background: var(--scalar-background-accent); --scalar-sidebar-color-active: var(--scalar-color-accent);
}
`.trim()

/** The content security policy contains its hash, so pages must include it unchanged. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --ground: #f4f1ec; --card: #fff; --line: #e4dfd6; --edge: #8d867b; --ink: #23201c; --soft: #6a645b;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --accent: #8a3a1e; --on-accent: #fff; --shadow: 0 1px 2px #0000000d, 0 12px 32px #00000014;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #171513; --card: #221f1c; --line: #3a352f; --edge: #857c70; --ink: #f3eee6; --soft: #b3aa9d;
    --accent: #e9a27f; --on-accent: #2a140a; --shadow: none;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; padding: 24px 16px;
  display: grid; place-items: center;
  background: var(--ground); color: var(--ink);
  font: 17px/1.55 var(--font);
}
main {
  width: 100%; max-width: 30rem; padding: 40px 36px;
  background: var(--card); border: 1px solid var(--line); border-radius: 16px; box-shadow: var(--shadow);
  overflow-wrap: anywhere;
}
.logo { display: block; max-width: 200px; max-height: 64px; margin: 0 0 24px; }
.address { margin: 28px 0 0; font-size: 0.8rem; }
h1 { margin: 0 0 16px; font-size: 1.6rem; line-height: 1.25; letter-spacing: -0.015em; text-wrap: balance; }
p { margin: 0 0 12px; color: var(--soft); }
strong { color: var(--ink); font-weight: 600; }
form { margin: 24px 0 0; }
button {
  width: 100%; min-height: 52px; padding: 12px 20px;
  border: 1px solid transparent; border-radius: 10px; font: inherit; font-weight: 600; cursor: pointer;
}
button:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.primary { background: var(--accent); color: var(--on-accent); }
.primary:hover { filter: brightness(1.08); }
.secondary { background: transparent; color: var(--ink); border-color: var(--edge); }
.secondary:hover { border-color: var(--ink); }
.second { margin-top: 28px; padding-top: 24px; border-top: 1px solid var(--line); }
.second p { margin: 0; }
.second form { margin-top: 12px; }
@media (max-width: 30rem) { main { padding: 32px 24px; } }
`

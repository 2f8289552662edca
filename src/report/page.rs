//! A self-contained HTML page: no script, no font, nothing that is loaded; readable on a phone,
//! light and dark.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--soft:#5a6470;--line:#d8dde3;--card:#f6f8fa;
--bad:#b42318;--warn:#8a5a00;--good:#1a7f37;--calm:#0b62b8;--add:#e6f6ea;--del:#fdeceb}
@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e6e9ec;--soft:#9aa4af;--line:#333a42;
--card:#1c2126;--bad:#ff8a80;--warn:#f0c05a;--good:#6fd08c;--calm:#7cc0ff;--add:#12331d;--del:#3d1b1a}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--bg);color:var(--fg);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem}h2{font-size:1.2rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
h3{font-size:1.05rem;margin:1.2rem 0 .4rem}small,.sides{color:var(--soft)}
nav a{margin-right:1rem;color:var(--calm)}
code,pre{font:13px/1.45 ui-monospace,monospace}
article{border:1px solid var(--line);border-radius:8px;padding:.2rem 1rem 1rem;margin:1rem 0}
details.object{background:var(--card);border-radius:6px;margin:.4rem 0;padding:.4rem .7rem}
summary{cursor:pointer}ul{padding-left:1.2rem}
.bad,.error{color:var(--bad)}.warn,.warning{color:var(--warn)}.good{color:var(--good)}
.calm,.info{color:var(--calm)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}
th,td{border-bottom:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}
pre.diff{overflow-x:auto;margin:.6rem 0 0}pre.diff span{display:block;white-space:pre}
pre.diff .add{background:var(--add)}pre.diff .del{background:var(--del)}
.totals{font-weight:600}
";

/// A page of sections, each with its anchor and title.
pub(super) fn page(title: &str, sections: &[(&str, &str, Markup)]) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                @if sections.len() > 1 {
                    nav { @for (anchor, name, _) in sections { a href={ "#" (anchor) } { (name) } } }
                }
                @for (anchor, name, content) in sections {
                    section id=(anchor) { h2 { (name) } (content) }
                }
            }
        }
    }
    .into_string()
}

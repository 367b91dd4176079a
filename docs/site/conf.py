# How Sphinx makes the site; scripts/site runs it in a folder with a copy of the documents.
import pathlib
import re

from docutils import nodes

project = "Waymark"
copyright = "The authors of Waymark"  # noqa: A001, the name is Sphinx's
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
include_patterns = ["*.md", "docs/*.md", "docs/howto/*.md", "docs/spec/*.md", "commands/*.md"]

myst_enable_extensions = ["deflist"]
# Headings get the anchors that GitHub gives them, because the documents link to these.
myst_heading_anchors = 6

html_theme = "furo"
html_title = "Waymark"
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
# Colours of code come from Pygments, which knows neither listings of trace nor plans.
highlight_language = "none"


def _plain_folders(app, doctree):
    """A link to a folder of the repository becomes its name: the site has no such page."""
    for node in list(doctree.findall(nodes.Element)):
        target = node.get("reftarget", "") or node.get("refuri", "")
        if not isinstance(target, str) or re.match(r"[a-z]+:|#", target):
            continue
        path = pathlib.Path(app.srcdir, app.env.docname).parent / target.split("#")[0]
        if target and path.is_dir():
            node.replace_self(nodes.inline("", "", *node.children))


def setup(app):
    app.connect("doctree-read", _plain_folders)
    return {"parallel_read_safe": True}
